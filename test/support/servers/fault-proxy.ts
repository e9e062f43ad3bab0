/**
 * An HTTP proxy in front of a service that injects faults of networks, balancers and other services into exchanges. A
 * fault is a `ProxyFault`; those of proxy-faults.ts are applied by rules or at random.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

export interface ProxiedRequest {
  /** The HTTP method; "token" for the token endpoint. */
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Uncompressed. */
  readonly body: Buffer;
}

export interface ProxiedResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Thrown by a fault: closes the client's connection, after half of the response if there is one. */
export class ConnectionCut extends Error {
  constructor(readonly answer: ProxiedResponse | null = null) {
    super("the connection is cut");
  }
}

/** The service, as seen by a fault. */
export interface Upstream {
  /** @returns the complete response of the service */
  send(request: ProxiedRequest): Promise<ProxiedResponse>;
  /** Sends the request after the map is read the next time, or when nothing else follows (`quiet`). */
  sendLater(request: ProxiedRequest): void;
  /** Sends the headers and half of the body, and closes the connection to the service. */
  sendHalf(request: ProxiedRequest): Promise<void>;
  /** Responds to later requests with this header as if the token had expired. */
  expire(authorization: string | undefined): void;
}

/** A fault of one exchange. */
export interface ProxyFault {
  readonly name: string;
  /** @throws ConnectionCut */
  around(request: ProxiedRequest, upstream: Upstream): Promise<ProxiedResponse>;
}

/** Chooses the fault of a request; `nth` counts the requests of its method from 1 since the last `calm`. */
export type FaultChooser = (request: ProxiedRequest, nth: number) => ProxyFault | null;

/** An exchange that passed the proxy. */
export interface ProxiedExchange {
  readonly method: string;
  readonly path: string;
  /** Null while there is no response, and if there was none. */
  status: number | null;
  readonly faults: readonly string[];
}

/** Headers of the connection (RFC 9110, 7.6.1), and those that the proxy sets itself. */
const hopByHopHeaders = ["connection", "keep-alive", "transfer-encoding", "content-length", "host", "expect"];

function omitHeaders(headers: http.IncomingHttpHeaders, names: readonly string[]): http.IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

export class FaultProxy implements AsyncDisposable {
  /** Since the last `calm`. */
  readonly passed: ProxiedExchange[] = [];
  private readonly standing: ProxyFault[] = [];
  private readonly choices: FaultChooser[] = [];
  private readonly expired = new Set<string>();
  private readonly late: ProxiedRequest[] = [];
  private readonly agent = new http.Agent({ keepAlive: true });
  private readonly server = http.createServer((request, response) => void this.pass(request, response));

  private constructor(private readonly service: string) {}

  /** @param service base URL of the service */
  static async start(service: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(service);
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Applies faults to all exchanges until the proxy ends, to simulate a behavior of the service. */
  always(...faults: readonly ProxyFault[]): this {
    this.standing.push(...faults);
    return this;
  }

  /** Applies a fault to the nth request of a method from now on, and to as many that follow. */
  on(method: string, nth: number, fault: ProxyFault, times = 1): this {
    const first = this.count(method) + nth;
    return this.choose((request, at) =>
      request.method === method && at >= first && at < first + times ? fault : null,
    );
  }

  choose(choice: FaultChooser): this {
    this.choices.push(choice);
    return this;
  }

  /** Removes all faults except permanent ones, and restarts the counts. */
  calm(): this {
    this.choices.length = 0;
    this.passed.length = 0;
    return this;
  }

  /** Number of requests of a method, or of all except token requests, since the last `calm`. */
  count(method?: string): number {
    return this.passed.filter((one) => (method ? one.method === method : one.method !== "token")).length;
  }

  /** Number of requests that may change a map. */
  get writes(): number {
    return ["POST", "PUT", "PATCH", "DELETE"].reduce((sum, method) => sum + this.count(method), 0);
  }

  /** Sends delayed requests whose end the client does not see. */
  async quiet(): Promise<void> {
    // If the service is gone, they are dropped.
    for (const request of this.late.splice(0)) await this.send(request).catch(() => {});
  }

  /** Stops listening. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
    if (this.server.listening) await once(this.server, "close");
  }

  private async pass(incoming: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => null);
    // The client has disconnected.
    if (body === null) return;
    const request = asRequest(incoming, body);
    const nth = this.count(request.method) + 1;
    const faults = this.choices.flatMap((choice) => choice(request, nth) ?? []);
    const { method, path } = request;
    const record: ProxiedExchange = { method, path, status: null, faults: faults.map(({ name }) => name) };
    this.passed.push(record);
    const base: Upstream = {
      send: (one) => this.send(one),
      sendHalf: (one) => this.sendHalf(one),
      sendLater: (one) => this.late.push(one),
      expire: (authorization) => this.expired.add(authorization ?? ""),
    };
    // Permanent faults are closest to the service.
    const upstream = [...this.standing, ...faults].reduce(
      (inner, fault) => ({ ...base, send: (one) => fault.around(one, inner) }),
      base,
    );
    const answer = await upstream.send(request).catch((error: unknown) => {
      if (error instanceof ConnectionCut) return error;
      throw error;
    });
    if (answer instanceof ConnectionCut) return cutConnection(response, answer);
    record.status = answer.status;
    startResponse(response, answer).end(answer.body);
  }

  private open(request: ProxiedRequest): http.ClientRequest {
    const headers = { ...request.headers, "content-length": request.body.length };
    const method = request.method === "token" ? "POST" : request.method;
    return http.request(this.service + request.path, { method, headers, agent: this.agent });
  }

  private async send(request: ProxiedRequest): Promise<ProxiedResponse> {
    const { authorization } = request.headers;
    if (authorization !== undefined && this.expired.has(authorization)) return expiredToken;
    const outgoing = this.open(request);
    outgoing.end(request.body);
    const gone = () => {
      throw new ConnectionCut();
    };
    const [response] = (await once(outgoing, "response").catch(gone)) as [http.IncomingMessage];
    const body = await buffer(response).catch(gone);
    if (request.method === "GET") await this.quiet();
    return { status: response.statusCode!, headers: omitHeaders(response.headers, hopByHopHeaders), body };
  }

  private async sendHalf(request: ProxiedRequest): Promise<void> {
    const outgoing = this.open(request);
    outgoing.on("error", () => {});
    const half = request.body.subarray(0, request.body.length >> 1);
    await new Promise<void>((resolve) => outgoing.write(half, () => resolve()));
    await new Promise((resolve) => outgoing.once("close", resolve).destroy());
  }
}

/** RFC 6750, 3.1 */
const expiredToken: ProxiedResponse = {
  status: 401,
  headers: { "www-authenticate": 'Bearer error="invalid_token"', "content-type": "application/json" },
  body: Buffer.from("{}"),
};

function asRequest(incoming: http.IncomingMessage, body: Buffer): ProxiedRequest {
  const isGzip = incoming.headers["content-encoding"] === "gzip";
  const path = incoming.url!;
  return {
    method: path === "/token" ? "token" : incoming.method!,
    path,
    // Responses are uncompressed, so that faults can change them.
    headers: omitHeaders(incoming.headers, [...hopByHopHeaders, "accept-encoding", "content-encoding"]),
    body: isGzip ? gunzipSync(body) : body,
  };
}

/** Starts a response whose client expects the whole body. */
function startResponse(response: http.ServerResponse, { status, headers, body }: ProxiedResponse): http.ServerResponse {
  const length = status === 304 ? {} : { "content-length": body.length };
  return response.writeHead(status, { ...headers, ...length });
}

function cutConnection(response: http.ServerResponse, { answer }: ConnectionCut): void {
  if (answer === null) response.destroy();
  else
    startResponse(response, answer).write(answer.body.subarray(0, answer.body.length >> 1), () => response.destroy());
}
