import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { missingMark } from "./library.js";
import { gdalProcessPath } from "./process-path.js";
import type { GdalReply, GdalRequest } from "./protocol.js";

/** Why GDAL has nothing to give. */
export class GdalFailure extends Error {
  /** @param missing the library is not there, or cannot be loaded */
  constructor(
    message: string,
    readonly missing: boolean = false,
  ) {
    super(message);
  }
}

type ReplyOf<K extends GdalRequest["kind"]> = GdalReply & { readonly kind: K };

export interface ConnectionOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Mebibytes that the process may take. */
  readonly memory: number;
  readonly signal: AbortSignal;
  /** Told once each. */
  readonly onWarning: (warning: string) => void;
}

/** Milliseconds between two looks at the memory of the process. */
const watchEvery = 250;
const pageBytes = 4096;
/** Megabytes of JavaScript's heap: what is read stays outside of it. */
const heap = 512;

/** One dataset that GDAL reads or makes, in a process of its own. Asked one thing after the other. */
export class GdalConnection {
  private readonly child: ChildProcess;
  private readonly watch: NodeJS.Timeout;
  private waiting: { resolve(reply: GdalReply): void; reject(error: unknown): void } | null = null;
  private ended: GdalFailure | null = null;
  private said = "";
  private readonly told = new Set<string>();

  constructor(private readonly options: ConnectionOptions) {
    this.child = fork(gdalProcessPath(), [], {
      serialization: "advanced",
      env: options.environment,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      execArgv: [`--max-old-space-size=${heap}`],
    });
    this.child.on("message", (reply: GdalReply) => this.waiting?.resolve(reply));
    this.child.on("error", (error) => this.end(error.message));
    this.child.stderr?.on("data", (text: Buffer) => {
      this.said = (this.said + text.toString("utf8")).slice(-4096);
    });
    // Once its pipes are closed: what it said last is there then.
    this.child.on("close", (code, killed) => this.closed(code, killed));
    this.watch = setInterval(() => this.watchMemory(), watchEvery);
    this.watch.unref();
    this.child.unref();
    this.child.channel?.unref();
    (this.child.stderr as { unref?(): void } | null)?.unref?.();
  }

  private closed(code: number | null, killed: NodeJS.Signals | null): void {
    clearInterval(this.watch);
    const at = this.said.indexOf(missingMark);
    if (at >= 0) this.end(this.said.slice(at + missingMark.length).trim(), true);
    else this.end(killed ? `it ended with ${killed}` : `it ended with status ${code}`);
  }

  private end(reason: string, missing = false): void {
    this.ended ??= new GdalFailure(reason, missing);
    this.waiting?.reject(this.ended);
  }

  /** Where the system says how much a process has (Linux); elsewhere its own limits hold. */
  private watchMemory(): void {
    let pages: number;
    try {
      pages = Number(readFileSync(`/proc/${this.child.pid}/statm`, "latin1").split(" ")[1]);
    } catch {
      return;
    }
    if (pages * pageBytes <= this.options.memory * 1024 * 1024) return;
    this.end(`it took more than ${this.options.memory} MiB of memory; allow more with the option memory`);
    this.close();
  }

  /** @throws GdalFailure where GDAL refuses, dies or takes too much memory; the process is gone then */
  async ask<K extends GdalRequest["kind"]>(request: GdalRequest & { readonly kind: K }): Promise<ReplyOf<K>> {
    const { signal, onWarning } = this.options;
    signal.throwIfAborted();
    if (this.ended !== null) throw this.ended;
    const aborted = () => this.waiting?.reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    this.child.channel?.ref();
    this.child.ref();
    try {
      const reply = await new Promise<GdalReply>((resolve, reject) => {
        this.waiting = { resolve, reject };
        // Where the channel is gone, why it is gone is told when the process is closed.
        this.child.send(request, () => {});
      });
      for (const warning of reply.warnings) {
        if (!this.told.has(warning)) onWarning(warning);
        this.told.add(warning);
      }
      if (reply.kind === "error") throw new GdalFailure(reply.message);
      return reply as ReplyOf<K>;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", aborted);
      this.child.channel?.unref();
      this.child.unref();
      this.waiting = null;
    }
  }

  close(): void {
    clearInterval(this.watch);
    this.child.kill("SIGKILL");
  }
}
