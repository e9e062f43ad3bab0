import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import type { QueryReply, QueryRequest } from "./query-protocol.js";

/** Why a view has no rows to give. */
export class QueryFailure extends Error {}

// Always the built file: another process cannot run TypeScript.
const processPath = createRequire(import.meta.url).resolve("#geopackage-query");

/** Megabytes of JavaScript's heap that a process for queries may have: rows come in small numbers. */
const heap = 256;

type ReplyOf<K extends QueryRequest["kind"]> = QueryReply & { readonly kind: K };

/** One view or table that SQLite is asked for, in a process of its own. */
export class Query {
  private readonly child: ChildProcess;
  private waiting: { resolve(reply: QueryReply): void; reject(error: unknown): void } | null = null;
  private ended: string | null = null;

  constructor(
    private readonly seconds: number,
    private readonly signal: AbortSignal,
  ) {
    this.child = fork(processPath, [], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      execArgv: [`--max-old-space-size=${heap}`],
    });
    this.child.on("message", (reply: QueryReply) => this.waiting?.resolve(reply));
    this.child.on("error", (error) => this.end(error.message));
    this.child.on("exit", (code, killed) => this.end(`SQLite ended with ${killed ?? code}`));
    this.child.unref();
    this.child.channel?.unref();
  }

  private end(reason: string): void {
    this.ended ??= reason;
    this.waiting?.reject(new QueryFailure(this.ended));
  }

  /** @throws QueryFailure where SQLite refuses, dies, or takes too long; the process is gone then */
  async ask<K extends QueryRequest["kind"]>(request: QueryRequest & { readonly kind: K }): Promise<ReplyOf<K>> {
    this.signal.throwIfAborted();
    if (this.ended !== null) throw new QueryFailure(this.ended);
    const aborted = () => this.waiting?.reject(this.signal.reason);
    const late = setTimeout(() => this.end(`there was no answer in ${this.seconds} seconds`), this.seconds * 1000);
    this.signal.addEventListener("abort", aborted, { once: true });
    this.child.channel?.ref();
    try {
      const reply = await new Promise<QueryReply>((resolve, reject) => {
        this.waiting = { resolve, reject };
        this.child.send(request, (error) => error && this.end(error.message));
      });
      if (reply.kind === "error") throw new QueryFailure(reply.message);
      return reply as ReplyOf<K>;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(late);
      this.signal.removeEventListener("abort", aborted);
      this.child.channel?.unref();
      this.waiting = null;
    }
  }

  close(): void {
    this.child.kill("SIGKILL");
  }
}
