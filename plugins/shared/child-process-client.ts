/**
 * A process of its own for native code over the files of strangers, which may crash, hang, or take all memory, and which
 * no thread can be kept from taking the others along: it is asked one thing after the other, and can be ended.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Why the process has no answer: it refused, died, or went beyond its limits. */
export class ChildProcessError extends Error {
  /** @param said what its standard error ends with, where it is gone */
  constructor(
    message: string,
    readonly said: string = "",
  ) {
    super(message);
  }
}

export interface ChildProcessOptions<Reply> {
  /** The built file: another process cannot run TypeScript. */
  readonly path: string;
  /** What runs in it, for messages: `SQLite`. */
  readonly label: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Mebibytes of JavaScript's heap. */
  readonly heap: number;
  /** Mebibytes that the process may take in all, where the system tells it (Linux). */
  readonly memory: number;
  /** The option that allows more. */
  readonly memoryOption: string;
  /** Seconds that an answer may take; absent: as long as it takes. */
  readonly seconds?: number;
  readonly signal: AbortSignal;
  /** Sees every reply, refusals too, before it is answered. */
  readonly onReply?: (reply: Reply) => void;
}

/** Milliseconds between two looks at the memory of the process. */
const memoryPollIntervalMs = 250;
/** Milliseconds for which the end of a killed process is waited for: where its disk hangs, it stays for longer. */
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
    // Loaded here: hardly a file needs a process.
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
    // Once its pipes are closed: what it said last is there then.
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

  /** @throws ChildProcessError; the process is gone then */
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
        // Where the channel is gone, why it is gone is told when the process is closed.
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

  /** Ends the process, and waits until it has: then its files are its own no more. At most five seconds. */
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
