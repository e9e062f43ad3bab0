/** A proxy in front of an object store that records requests and injects faults of stores and networks. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request in terms of S3. */
export interface ObjectRequest {
  /** "GetObject", "PutObject", "UploadPart" … */
  readonly operation: string;
  readonly key: string;
  readonly headers: http.IncomingHttpHeaders;
}

export interface ObjectResponse {
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/**
 * The effect on a request: a response, or null for none, after any side effects. `pass` forwards the request, for rules
 * that act between the response and the client.
 */
export type ProxyRule = (
  asked: ObjectRequest,
  pass: () => Promise<ObjectResponse>,
) => Promise<ObjectResponse | "cut" | null>;

const slowDownXml =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
/** The response of a throttling store. */
export const slowDownResponse: ObjectResponse = {
  status: 503,
  headers: { "content-type": "application/xml" },
  body: slowDownXml,
};

/** A truncated response. */
export const truncateResponse = ({ status, headers, body = "" }: ObjectResponse): ObjectResponse => ({
  status,
  headers: { ...headers, "content-length": Buffer.byteLength(body) },
  body: Buffer.from(body).subarray(0, Buffer.byteLength(body) / 2),
});

const operations: readonly (readonly [
  method: string,
  test: (query: URLSearchParams, key: string) => boolean,
  name: string,
])[] = [
  ["GET", (_, key) => key === "", "ListObjects"],
  ["POST", (query) => query.has("uploads"), "CreateMultipartUpload"],
  ["POST", (query) => query.has("uploadId"), "CompleteMultipartUpload"],
  ["PUT", (query) => query.has("partNumber"), "UploadPart"],
  ["DELETE", (query) => query.has("uploadId"), "AbortMultipartUpload"],
  ["GET", () => true, "GetObject"],
  ["HEAD", () => true, "HeadObject"],
  ["DELETE", () => true, "DeleteObject"],
  ["PUT", () => true, "PutObject"],
];

function parseObjectRequest({ method, url, headers }: http.IncomingMessage): ObjectRequest {
  const { pathname, searchParams } = new URL(url!, "http://store");
  const key = decodeURIComponent(pathname).split("/").slice(2).join("/");
  const found = operations.find(([of, test]) => of === method && test(searchParams, key));
  const operation = headers["x-amz-copy-source"] === undefined ? (found?.[2] ?? `${method}`) : "CopyObject";
  return { operation, key, headers };
}

export class ObjectStoreProxy {
  /** Since the last `open`. */
  readonly passed: ObjectRequest[] = [];
  private rule: ProxyRule = async () => null;
  private readonly server: http.Server;
  endpoint = "";

  constructor(private readonly store: string) {
    this.server = http.createServer((request, response) => {
      this.pass(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.endpoint = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  /** Clears the record. @param rule rule for later requests */
  open(rule: ProxyRule = async () => null): void {
    this.passed.length = 0;
    this.rule = rule;
  }

  /** "PutObject a.csv", in order, without reads. */
  get changes(): string[] {
    const looks = ["HeadObject", "ListObjects", "GetObject"];
    return this.passed.flatMap(({ operation, key }) => (looks.includes(operation) ? [] : [`${operation} ${key}`]));
  }

  keysOf(operation: string): string[] {
    return this.passed.filter((asked) => asked.operation === operation).map(({ key }) => key);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async pass(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const asked = parseObjectRequest(request);
    this.passed.push(asked);
    const body = await buffer(request);
    const answered = await this.rule(asked, () => this.forward(request, body));
    if (answered === "cut") return void request.socket.destroy();
    const reply = answered ?? (await this.forward(request, body));
    response.writeHead(reply.status, reply.headers);
    response.write(reply.body ?? "");
    const whole = Number(response.getHeader("content-length") ?? Number.NaN);
    if (request.method !== "HEAD" && whole > Buffer.byteLength(reply.body ?? ""))
      setTimeout(() => response.destroy(), 50);
    else response.end();
  }

  /** Forwards with the host name that was signed. */
  private async forward({ method, url, headers }: http.IncomingMessage, body: Buffer): Promise<ObjectResponse> {
    const upstream = http.request(this.store, { method, path: url, headers, agent: false });
    upstream.end(body);
    const [answer] = (await once(upstream, "response")) as [http.IncomingMessage];
    const { "transfer-encoding": _, connection: __, ...kept } = answer.headers;
    return { status: answer.statusCode!, headers: kept, body: await buffer(answer) };
  }
}
