/** Servers for tests: one that answers as its test says, and a proxy that changes answers of another. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request to an ArcGIS service, with the parameters of its query or form. */
export interface ArcgisRequest {
  readonly method: string;
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
}

/** An answer: JSON with status 200, or as given. */
export interface GivenAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

type Answer = object | GivenAnswer;
const isGiven = (answer: Answer): answer is GivenAnswer =>
  "body" in answer && (typeof answer.body === "string" || Buffer.isBuffer(answer.body));

async function readRequest(
  incoming: IncomingMessage,
): Promise<{ readonly asked: ArcgisRequest; readonly body: Buffer }> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const url = new URL(incoming.url ?? "/", "http://localhost");
  const parameters = new URLSearchParams([...url.searchParams, ...new URLSearchParams(body.toString("utf8"))]);
  const { method = "GET", headers } = incoming;
  return { asked: { method, path: url.pathname, parameters, headers }, body };
}

function send(response: ServerResponse, answer: Answer): void {
  const { status = 200, headers = {}, body } = isGiven(answer) ? answer : { body: JSON.stringify(answer) };
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

export class AnsweringServer {
  readonly requests: ArcgisRequest[] = [];

  private constructor(private readonly server: Server) {}

  private static async listen(serve: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>) {
    const server = createServer((incoming, response) => {
      serve(incoming, response).catch(() => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new AnsweringServer(server);
  }

  /** A server that answers as `answer` says; null closes the connection. */
  static async start(
    answer: (asked: ArcgisRequest) => Answer | null | Promise<Answer | null>,
  ): Promise<AnsweringServer> {
    const own: AnsweringServer = await AnsweringServer.listen(async (incoming, response) => {
      const { asked } = await readRequest(incoming);
      own.requests.push(asked);
      const found = await answer(asked);
      if (found === null) response.destroy();
      else send(response, found);
    });
    return own;
  }

  /**
   * A proxy of another server. `change` gets the JSON of each answer; it returns that or another answer, or null to close
   * the connection.
   */
  static async proxy(
    origin: string,
    change: (asked: ArcgisRequest, answer: Record<string, unknown>) => Answer | null | Promise<Answer | null>,
  ): Promise<AnsweringServer> {
    const own: AnsweringServer = await AnsweringServer.listen(async (incoming, response) => {
      const { asked, body } = await readRequest(incoming);
      own.requests.push(asked);
      const { host: _, "accept-encoding": __, ...headers } = incoming.headers;
      const forwarded = request(origin + incoming.url!, { method: asked.method, headers });
      forwarded.end(body);
      const [answer] = (await once(forwarded, "response")) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      const json = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      const found = await change(asked, json);
      if (found === null) response.destroy();
      else send(response, found);
    });
    return own;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
