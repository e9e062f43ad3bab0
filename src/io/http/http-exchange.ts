/**
 * One request by node:http and the answer to it, watched. Its global agents keep connections, and go through proxies
 * where Node.js is told to (NODE_USE_ENV_PROXY).
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

/** There is no whole answer. */
export class NoResponseError extends Error {
  override readonly name = "Unanswered";
  constructor(
    readonly failure: NetworkFailure,
    /** Whether no byte of the request can have reached the server: there was no connection to it. */
    readonly isUnsent: boolean,
    /** Whether the time that the server was given is over. */
    readonly isTimeout: boolean,
    cause?: unknown,
  ) {
    super(failure.reason, { cause });
  }
}

/** Whether a server was given all the time that it may take. */
export const isTimeoutError = (error: unknown): boolean => error instanceof NoResponseError && error.isTimeout;

/** Bytes of a request that are handed to the operating system at once. */
const chunkBytes = 128 * 1024;

/** A request on its way. To be closed whatever becomes of it. */
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
    // Without a length Node.js gives the body of a DELETE no frame at all.
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
    // After long work many connections may be closed by now: in a whole turn of the loop, which begins after the next
    // immediate, Node.js learns which, and sends nothing there.
    await turn();
    await turn();
    signal.throwIfAborted();
    return new HttpExchange(request, signal, { ...networkSettings(), ...limits });
  }

  /** Sends the request. @returns the answer when its head has come @throws what `failed` is given */
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

  /** Closes it. @throws Unanswered with what is known of an error; the reason of `signal` */
  toFailure(error: unknown): never {
    this.close();
    this.signal.throwIfAborted();
    const { failure, isConnected } = this.timeout;
    throw new NoResponseError(failure ?? classifyNetworkError(error), !isConnected, failure !== null, error);
  }

  /** The body as it comes, still in its encodings. @throws as `failed` */
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

  /** Reads what is left, so that the connection can be used again. */
  drain(response: IncomingMessage): void {
    response.on("error", () => {}).resume();
    this.close();
  }

  close(): void {
    this.signal.removeEventListener("abort", this.removeListeners);
    // Who has answered may never read the rest, and the connection would stay, with all that waits to be sent.
    if (!this.sent.writableFinished) this.sent.destroy();
    this.timeout.stop();
  }

  /** Ends it, and the connection, whatever is still to come. */
  destroy(): void {
    this.sent.destroy();
    this.close();
  }
}

export const connectionClosedError = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
