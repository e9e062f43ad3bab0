/**
 * Runs native code on untrusted files in a child process. Such code may crash, hang, or exhaust memory, and a thread
 * would take the whole process down with it. The process handles one request at a time and can be killed.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Thrown if the process refuses a request, dies, or exceeds its limits. */
export class ChildProcessError extends Error {
  /** @param lastOutput the last output on stderr, if the process has ended */
  constructor(
    message: string,
    readonly lastOutput: string = "",
  ) {
    super(message);
  }
}

export interface ChildProcessOptions<Reply> {
  /** The built file, because a child process cannot run TypeScript. */
  readonly path: string;
  /** The name of the native code in messages: `SQLite`. */
  readonly label: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Limit of the JavaScript heap in MiB. */
  readonly heap: number;
  /** Limit of the memory of the process in MiB, where the system reports it (Linux). */
  readonly memory: number;
  /** The option that raises the memory limit. */
  readonly memoryOption: string;
  /** Timeout of a reply in seconds; absent: none. */
  readonly seconds?: number;
  readonly signal: AbortSignal;
  /** Called with every reply, including refusals, before the request settles. */
  readonly onReply?: (reply: Reply) => void;
}

/** Interval of the memory checks in milliseconds. */
const memoryPollIntervalMs = 250;
/** Maximum wait for the end of a killed process in milliseconds; a hanging disk can delay it further. */
const killTimeoutMs = 5000;
const pageBytes = 4096;
const maxStderrBytes = 4096;

type BaseReply = { readonly kind: string; readonly message?: string };

/** `Request` and `Reply` are plain data; a reply has the kind of its request, or is an `error` with a message. */
export class ChildProcessClient<Request extends { readonly kind: string }, Reply extends BaseReply> {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;
  private readonly watch: NodeJS.Timeout;
  private waiting: { resolve(reply: Reply): void; reject(error: unknown): void } | null = null;
  private ended: ChildProcessError | null = null;
  private said = "";

  constructor(private readonly options: ChildProcessOptions<Reply>) {
    const { path, environment, heap } = options;
    // Loaded lazily, because few files need a process.
    const { fork } = process.getBuiltinModule("node:child_process");
    this.child = fork(path, [], {
      serialization: "advanced",
      ...(environment ? { env: environment } : {}),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      execArgv: [`--max-old-space-size=${heap}`],
    });
    this.child.on("message", (reply: Reply) => this.waiting?.resolve(reply));
    this.child.on("error", (error) => this.end(error.message));
    this.child.stderr?.on("data", (text: Buffer) => {
      this.said = (this.said + text.toString("utf8")).slice(-maxStderrBytes);
    });
    // Waits until the pipes are closed, so that the last output is available.
    this.child.on("close", (code, killed) => {
      clearInterval(this.watch);
      this.end(`${options.label} ended with ${killed ?? `status ${code}`}`);
    });
    this.gone = new Promise((resolve) => {
      if (this.child.pid === undefined) resolve();
      else this.child.once("exit", () => resolve());
    });
    this.watch = setInterval(() => this.watchMemory(), memoryPollIntervalMs);
    this.watch.unref();
    this.child.unref();
    this.child.channel?.unref();
    (this.child.stderr as { unref?(): void } | null)?.unref?.();
  }

  private end(reason: string): void {
    this.ended ??= new ChildProcessError(reason, this.said);
    this.waiting?.reject(this.ended);
  }

  private watchMemory(): void {
    const { memory, memoryOption, label } = this.options;
    let pages: number;
    try {
      pages = Number(readFileSync(`/proc/${this.child.pid}/statm`, "latin1").split(" ")[1]);
    } catch {
      return;
    }
    if (pages * pageBytes <= memory * 1024 * 1024) return;
    this.end(`${label} took more than ${memory} MiB of memory; allow more with the option ${memoryOption}`);
    void this.close();
  }

  /** @throws ChildProcessError after the process has ended */
  async ask<K extends Request["kind"]>(request: Request & { readonly kind: K }): Promise<Reply & { readonly kind: K }> {
    const { signal, seconds, onReply } = this.options;
    signal.throwIfAborted();
    if (this.ended !== null) throw this.ended;
    const aborted = () => this.waiting?.reject(signal.reason);
    const late =
      seconds === undefined
        ? undefined
        : setTimeout(() => this.end(`there was no answer in ${seconds} seconds`), seconds * 1000);
    signal.addEventListener("abort", aborted, { once: true });
    this.child.channel?.ref();
    this.child.ref();
    try {
      const reply = await new Promise<Reply>((resolve, reject) => {
        this.waiting = { resolve, reject };
        // If the channel is closed, the `close` event reports the cause.
        this.child.send(request, () => {});
      });
      onReply?.(reply);
      if (reply.kind === "error") throw new ChildProcessError(reply.message ?? "");
      return reply as Reply & { readonly kind: K };
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", aborted);
      this.child.channel?.unref();
      this.child.unref();
      this.waiting = null;
    }
  }

  /** Kills the process and waits until it has released its files, at most five seconds. */
  async close(): Promise<void> {
    clearInterval(this.watch);
    this.child.kill("SIGKILL");
    let late: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      late = setTimeout(resolve, killTimeoutMs);
    });
    await Promise.race([this.gone, limit]).finally(() => clearTimeout(late));
  }
}
