/** One request and its answer, or what came between them. Nothing is repeated here. */
import { type NetworkFailure, networkFailure } from "../io/network-failure.js";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer that arrived whole. */
export class Answer {
  private parsed: { readonly json: unknown } | null = null;

  constructor(
    readonly status: number,
    readonly headers: Headers,
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
    cause?: unknown,
  ) {
    super(failure.reason, { cause });
  }
}

/** Bytes a second that a connection carries at least: what is sent and received is given time on top, accordingly. */
const slowest = 64 * 1024;

/** Bytes of an answer; a text of Node.js can have no more than 2^29 characters. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Redirects come back as answers.
 * @param timeout milliseconds until the whole answer is there, and what its bytes need on a slow connection
 * @throws Unanswered; the reason of `signal`
 */
export async function exchange(request: Request, timeout: number, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  const { method, url, headers, body } = request;
  const clock = new Clock(timeout, body === undefined ? 0 : Buffer.byteLength(body));
  const stop = () => clock.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: clock.signal,
      ...(body !== undefined && { body }),
    });
    const text = await readText(response, clock);
    return new Answer(response.status, response.headers, text);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Unanswered) throw error;
    throw new Unanswered(clock.isOver ? tooLate(timeout) : networkFailure(error), error);
  } finally {
    signal.removeEventListener("abort", stop);
    clock.stop();
  }
}

async function readText({ body }: Response, clock: Clock): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    clock.carried(chunk.length);
    if (size > mostBytes) throw new Unanswered(failureOf(`the answer has more than ${mostBytes} bytes`, false));
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks, size));
}

const failureOf = (reason: string, passes: boolean): NetworkFailure => ({
  reason,
  passes,
  unsent: false,
  untrusted: false,
});

const tooLate = (timeout: number) => failureOf(`no whole answer within ${timeout / 1000} s`, true);

/** Ends a request whose time is over; every byte that was carried gives it some more. */
class Clock {
  private readonly controller = new AbortController();
  private readonly started = performance.now();
  private timer: NodeJS.Timeout;
  isOver = false;

  constructor(
    private readonly timeout: number,
    private bytes: number,
  ) {
    this.timer = setTimeout(() => this.look(), this.left);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  carried(bytes: number): void {
    this.bytes += bytes;
  }

  abort(reason: unknown): void {
    this.controller.abort(reason);
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
    this.controller.abort();
  }
}
