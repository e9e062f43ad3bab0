/** A server with scripted responses that records the requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** By `performance.now`. */
  readonly at: number;
}

export type Reply = (response: ServerResponse, received: Received) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

export const plain =
  (status: number, body = "", headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end(body);

export const reset: Reply = (response) => response.destroy();

/** Sends half of the announced body. */
export const torn: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write('{"features":[', () => response.destroy());
};

export const silent: Reply = () => {};

export const page = (...features: readonly object[]): Reply => json(200, { type: "FeatureCollection", features });

const usualToken = json(200, { token_type: "Bearer", expires_in: 3600, access_token: "a-token" });

export class ScriptedServer {
  readonly received: Received[] = [];
  /** Responses to API requests, in order; the last one repeats. */
  script: Reply[] = [page()];
  token: Reply = usualToken;
  private server: Server | null = null;
  private port = 0;

  static async start(): Promise<ScriptedServer> {
    const scripted = new ScriptedServer();
    await scripted.listen();
    afterAll(() => scripted.close());
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Requests to the API. */
  get requests(): readonly Received[] {
    return this.received.filter(({ path }) => path !== "/token");
  }

  /** Resets the server with these responses and a token for all clients. */
  answer(...script: readonly Reply[]): void {
    this.script = [...script];
    this.token = usualToken;
    this.received.length = 0;
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => (this.server ? this.server.close(resolve) : resolve(null)));
    this.server = null;
  }

  private async listen(): Promise<void> {
    this.server = createServer((request, response) => {
      void text(request).then(
        (body) => this.take(request, response, body),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => this.server!.listen(0, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  private take({ method, url, headers }: IncomingMessage, response: ServerResponse, body: string): void {
    const received = { method: method!, path: url!, headers, body, at: performance.now() };
    this.received.push(received);
    const isToken = url === "/token";
    const reply = isToken ? this.token : this.script.length > 1 ? this.script.shift()! : this.script[0]!;
    reply(response, received);
  }
}
