/**
 * An HTTP proxy in front of a service, which does to requests and answers what networks, balancers and other services
 * do. What it does is a `Fault`; those that proxy-faults.ts has are put around requests by rules or by chance.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

export interface ProxiedRequest {
  /** Of HTTP; "token" for the token endpoint. */
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Not compressed. */
  readonly body: Buffer;
}

export interface ProxiedResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Thrown by a fault: the client's connection ends, after half of an answer where there is one. */
export class ConnectionCut extends Error {
  constructor(readonly answer: ProxiedResponse | null = null) {
    super("the connection is cut");
  }
}

/** The service, as a fault sees it. */
export interface Upstream {
  /** @returns the whole answer, once the service has done what was asked */
  send(request: ProxiedRequest): Promise<ProxiedResponse>;
  /** Sends it once the map has been read the next time, or nothing else is to come (`quiet`). */
  sendLater(request: ProxiedRequest): void;
  /** Sends the headers and half of the body, and cuts the connection to the service. */
  sendHalf(request: ProxiedRequest): Promise<void>;
  /** From now on requests with this header are answered as if the token had expired. */
  expire(authorization: string | undefined): void;
}

/** Something that happens to one exchange. */
export interface ProxyFault {
  readonly name: string;
  /** @throws Cut */
  around(request: ProxiedRequest, upstream: Upstream): Promise<ProxiedResponse>;
}

/** Chooses what happens to a request; `nth` of its method counts from 1 since the last `calm`. */
export type FaultChooser = (request: ProxiedRequest, nth: number) => ProxyFault | null;

/** What came by. */
export interface ProxiedExchange {
  readonly method: string;
  readonly path: string;
  /** Null while there is no answer, and where there was none. */
  status: number | null;
  readonly faults: readonly string[];
}

/** Of one connection, not of the message (RFC 9110, 7.6.1), and what the proxy sets itself. */
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

  /** @param service its base address */
  static async start(service: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(service);
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Happens to every exchange, until the proxy ends: a way that the service behind it has. */
  always(...faults: readonly ProxyFault[]): this {
    this.standing.push(...faults);
    return this;
  }

  /** Happens to the nth request of a method from now, and to as many that follow it. */
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

  /** Nothing happens any more but what always does, and requests are counted from the beginning. */
  calm(): this {
    this.choices.length = 0;
    this.passed.length = 0;
    return this;
  }

  /** Requests of a method, or all but those for tokens, since the last `calm`. */
  count(method?: string): number {
    return this.passed.filter((one) => (method ? one.method === method : one.method !== "token")).length;
  }

  /** Requests that may change a map. */
  get writes(): number {
    return ["POST", "PUT", "PATCH", "DELETE"].reduce((sum, method) => sum + this.count(method), 0);
  }

  /** Lets requests of which the client knows no end come to the service. */
  async quiet(): Promise<void> {
    // Should the service be gone by then, they are not done at all.
    for (const request of this.late.splice(0)) await this.send(request).catch(() => {});
  }

  /** No one listens at the address any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
    if (this.server.listening) await once(this.server, "close");
  }

  private async pass(incoming: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => null);
    // The client has gone.
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
    // What always happens is nearest to the service.
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
    // Answers come as they are, so that a fault can change them.
    headers: omitHeaders(incoming.headers, [...hopByHopHeaders, "accept-encoding", "content-encoding"]),
    body: isGzip ? gunzipSync(body) : body,
  };
}

/** The beginning of an answer; whoever reads it expects all of its body. */
function startResponse(response: http.ServerResponse, { status, headers, body }: ProxiedResponse): http.ServerResponse {
  const length = status === 304 ? {} : { "content-length": body.length };
  return response.writeHead(status, { ...headers, ...length });
}

function cutConnection(response: http.ServerResponse, { answer }: ConnectionCut): void {
  if (answer === null) response.destroy();
  else
    startResponse(response, answer).write(answer.body.subarray(0, answer.body.length >> 1), () => response.destroy());
}
