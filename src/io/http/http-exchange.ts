/**
 * One request with node:http and its response, with timeouts. The global agents of node:http reuse connections, and use
 * proxies if NODE_USE_ENV_PROXY is set.
 */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { setImmediate as turn } from "node:timers/promises";
import { type NetworkSettings, networkSettings } from "../../network-settings.js";
import { classifyNetworkError, type NetworkFailure } from "./network-failure.js";
import { type TransferLimits, TransferTimeout } from "./transfer-timeout.js";

export interface HttpRequest {
  readonly method: string;
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The request got no complete response. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";
  constructor(
    readonly failure: NetworkFailure,
    /** Whether no byte of the request can have reached the server, since there was no connection. */
    readonly isUnsent: boolean,
    /** Whether a timeout ended the request. */
    readonly isTimeout: boolean,
    cause?: unknown,
  ) {
    super(failure.reason, { cause });
  }
}

export const isTimeoutError = (error: unknown): boolean => error instanceof NoResponseError && error.isTimeout;

/** Bytes of a request body written in one call. */
const chunkBytes = 128 * 1024;

/** One request and its response. The caller must close it in every case. */
export class HttpExchange {
  private readonly sent: ClientRequest;
  readonly timeout: TransferTimeout;
  private readonly removeListeners = () => this.sent.destroy();

  private constructor(
    private readonly request: HttpRequest,
    private readonly signal: AbortSignal,
    limits: TransferLimits,
  ) {
    const { method, url, headers, body } = request;
    const { request: send } = new URL(url).protocol === "https:" ? https : http;
    // Without a length, Node.js sends the body of a DELETE without any framing.
    const length = body && { "content-length": body.length };
    this.sent = send(url, { method, headers: { "user-agent": "geoferry", ...headers, ...length } });
    this.timeout = new TransferTimeout(this.sent, limits, body !== undefined);
    signal.addEventListener("abort", this.removeListeners, { once: true });
  }

  /** @throws the reason of `signal` */
  static async start(
    request: HttpRequest,
    signal: AbortSignal,
    limits: Partial<NetworkSettings> = {},
  ): Promise<HttpExchange> {
    // After long synchronous work, many kept connections may be closed. Node.js notices this in a complete turn of the
    // event loop, which begins after the next immediate, and does not use them.
    await turn();
    await turn();
    signal.throwIfAborted();
    return new HttpExchange(request, signal, { ...networkSettings(), ...limits });
  }

  /** Sends the request. @returns the response when its headers have arrived @throws what `toFailure` takes */
  waitForResponse(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.sent.on("error", reject);
      this.sent.on("close", () => reject(connectionClosedError()));
      this.sent.on("response", (response) => {
        this.timeout.onResponse();
        response.once("close", () => this.close());
        resolve(response);
      });
      this.sendBody();
    });
  }

  private sendBody(): void {
    const { body } = this.request;
    this.sent.once("finish", () => this.timeout.onRequestSent());
    if (!body || body.length <= chunkBytes) {
      this.sent.end(body);
      return;
    }
    for (let start = 0; start < body.length; start += chunkBytes) {
      const bytes = body.subarray(start, start + chunkBytes);
      this.sent.write(bytes, () => this.timeout.onBytes(bytes.length));
    }
    this.sent.end();
  }

  /** Closes the exchange. @throws NoResponseError with the classified error; the reason of `signal` */
  toFailure(error: unknown): never {
    this.close();
    this.signal.throwIfAborted();
    const { failure, isConnected } = this.timeout;
    throw new NoResponseError(failure ?? classifyNetworkError(error), !isConnected, failure !== null, error);
  }

  /** The body with its content encodings. @throws as `toFailure` does */
  async *readBody(response: IncomingMessage): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        this.timeout.onBytes(chunk.length);
        this.timeout.pause();
        yield chunk;
        this.timeout.resume();
      }
    } catch (error) {
      this.toFailure(error);
    } finally {
      this.close();
    }
  }

  /** Discards the rest of the body, so that the connection can be reused. */
  drain(response: IncomingMessage): void {
    response.on("error", () => {}).resume();
    this.close();
  }

  close(): void {
    this.signal.removeEventListener("abort", this.removeListeners);
    // A server that has already responded may never read the rest of the request, which would keep the connection open.
    if (!this.sent.writableFinished) this.sent.destroy();
    this.timeout.stop();
  }

  /** Ends the exchange and its connection at once. */
  destroy(): void {
    this.sent.destroy();
    this.close();
  }
}

export const connectionClosedError = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
