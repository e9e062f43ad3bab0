/**
 * One request and its answer, or what came between them. Nothing is repeated here. By node:http, which takes a third of
 * what fetch takes to send a thousand features; its global agents keep connections, and go through proxies where Node.js
 * is told to (NODE_USE_ENV_PROXY).
 */
import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { setImmediate as turn } from "node:timers/promises";
import { type NetworkFailure, networkFailure } from "../io/network-failure.js";
import { decoded, mostBytes, TooLarge } from "./answer-body.js";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Headers of an answer: names in lower case; one that came several times is joined by commas. */
export type AnswerHeaders = Readonly<IncomingHttpHeaders>;

/** An answer that arrived whole. */
export class Answer {
  private parsed: { readonly json: unknown } | null = null;

  constructor(
    readonly status: number,
    readonly headers: AnswerHeaders,
    /** Its body, without a mark of byte order. */
    readonly text: string,
  ) {}

  /** Its JSON; undefined where it is none, or torn. */
  get json(): unknown {
    this.parsed ??= { json: parse(this.text) };
    return this.parsed.json;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** There is no whole answer. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  constructor(
    readonly failure: NetworkFailure,
    /** Whether no byte of the request can have reached the server: there was no connection to it. */
    readonly unsent: boolean,
    cause?: unknown,
  ) {
    super(failure.reason, { cause });
  }
}

/** Bytes a second that a connection carries at least: what is sent and received is given time on top, accordingly. */
const slowest = 64 * 1024;

/** Milliseconds until there is a connection, at most. */
const mostConnecting = 10_000;

/**
 * Redirects come back as answers.
 * @param timeout milliseconds until the whole answer is there, and what its bytes need on a slow connection
 * @throws Unanswered; the reason of `signal`
 */
export async function exchange(request: Request, timeout: number, signal: AbortSignal): Promise<Answer> {
  // After long work many connections may be closed by now: in a whole turn of the loop, which begins after the next
  // immediate, Node.js learns which, and sends nothing there.
  await turn();
  await turn();
  signal.throwIfAborted();
  const { method, url, headers, body } = request;
  const bytes = body === undefined ? null : Buffer.from(body);
  const { request: send } = url.startsWith("https:") ? https : http;
  // Without a length Node.js gives the body of a DELETE no frame at all.
  const length = bytes && { "content-length": bytes.length };
  const sent = send(url, { method, headers: { "user-agent": "geoferry", ...headers, ...length } });
  const connecting = new Connecting(sent, Math.min(timeout, mostConnecting));
  const clock = new Clock(timeout, bytes?.length ?? 0, () => sent.destroy());
  const stop = () => sent.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answering = answerTo(sent, clock);
    sent.end(bytes ?? undefined);
    const { statusCode, headers, body } = await answering;
    return new Answer(statusCode, headers, new TextDecoder().decode(await decoded(body, headers)));
  } catch (error) {
    signal.throwIfAborted();
    throw new Unanswered(failureOf(error, timeout, clock, connecting), !connecting.isConnected, error);
  } finally {
    signal.removeEventListener("abort", stop);
    // Who has answered may never read the rest, and the connection would stay, with all that waits to be sent.
    if (!sent.writableFinished) sent.destroy();
    connecting.stop();
    clock.stop();
  }
}

function failureOf(error: unknown, timeout: number, clock: Clock, connecting: Connecting): NetworkFailure {
  const passing = (reason: string) => ({ reason, passes: true, untrusted: false });
  if (connecting.isOver) return passing("the server does not answer");
  if (clock.isOver) return passing(`no whole answer within ${timeout / 1000} s`);
  if (error instanceof TooLarge) return { ...passing(error.message), passes: false };
  return networkFailure(error);
}

interface Received {
  readonly statusCode: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/** The answer with all its bytes. */
function answerTo(sent: ClientRequest, clock: Clock): Promise<Received> {
  return new Promise((resolve, reject) => {
    let answered = false;
    // Behind the head of an answer, the answer says how it ended: some servers refuse what is not wholly sent yet.
    sent.on("error", (error) => answered || reject(error));
    sent.on("close", () => answered || reject(brokenOff()));
    sent.on("response", (response: IncomingMessage) => {
      answered = true;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        clock.carried(chunk.length);
        chunks.push(chunk);
        if (size > mostBytes) response.destroy(new TooLarge());
      });
      response.on("end", () => {
        const { statusCode = 0, headers } = response;
        resolve({ statusCode, headers, body: Buffer.concat(chunks, size) });
      });
      response.on("error", reject);
      response.on("close", () => reject(brokenOff()));
    });
  });
}

const brokenOff = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** Whether a request has a connection, and an end to waiting for one. */
class Connecting {
  isConnected = false;
  isOver = false;
  private readonly timer: NodeJS.Timeout;

  /** @param most milliseconds */
  constructor(sent: ClientRequest, most: number) {
    this.timer = setTimeout(() => {
      this.isOver = true;
      sent.destroy();
    }, most);
    sent.once("socket", (socket) => {
      // Before certificates are agreed on, nothing is sent.
      if (socket.connecting) socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.connected());
      else this.connected();
    });
  }

  private connected(): void {
    this.isConnected = true;
    this.stop();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** Ends a request whose time is over; every byte that was carried gives it some more. */
class Clock {
  private readonly started = performance.now();
  private timer: NodeJS.Timeout;
  isOver = false;

  constructor(
    private readonly timeout: number,
    private bytes: number,
    private readonly over: () => void,
  ) {
    this.timer = setTimeout(() => this.look(), this.left);
  }

  carried(bytes: number): void {
    this.bytes += bytes;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /** Milliseconds. */
  private get left(): number {
    return this.started + this.timeout + (this.bytes / slowest) * 1000 - performance.now();
  }

  private look(): void {
    if (this.left > 0) {
      this.timer = setTimeout(() => this.look(), this.left);
      return;
    }
    this.isOver = true;
    this.over();
  }
}
