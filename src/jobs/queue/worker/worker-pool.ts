/**
 * The processes in which a worker does its work, each one job at a time: what keeps one busy, or ends it, holds up neither
 * the worker, which must tell Redis that it lives, nor the other jobs.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createError } from "../../../errors.js";
import { toJobFailure } from "../job-payload.js";
import type { CommitRequest, FromWorkerProcess, JobRequest, JobResult, ToWorkerProcess } from "./process-messages.js";

/** Whom a hand asks and tells while it works. */
export interface JobCallbacks {
  /** @returns whether outputs may get their names */
  onCommit(begun: CommitRequest): Promise<boolean>;
  onProgress(features: number): void;
  onNotice(sentence: string): void;
}

/** Milliseconds that a hand has to stop what it is told to stop. */
const stopTimeoutMs = 10_000;

export class WorkerProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** How the marks of its temporary files begin. */
    readonly mark: string,
  ) {}

  static async start(child: ChildProcess): Promise<WorkerProcess> {
    const [first] = (await Promise.race([once(child, "message"), once(child, "exit").then(() => [null])])) as [
      FromWorkerProcess | null,
    ];
    if (first?.kind === "ready") return new WorkerProcess(child, first.processMark);
    throw createError("internal", { reason: "a process for the work of a worker did not begin" });
  }

  get isAlive(): boolean {
    return this.child.connected && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Does a job; never throws. @param signal stops it */
  async run(request: JobRequest, overseer: JobCallbacks, signal: AbortSignal): Promise<JobResult> {
    const { child } = this;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.send({ kind: "stop" });
      timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    };
    const { listen, heard } = this.listen(overseer, request.worker);
    child.on("message", listen);
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.send({ kind: "order", request });
      if (signal.aborted) stop();
      return await heard;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      child.off("message", listen);
    }
  }

  private listen(overseer: JobCallbacks, worker: string) {
    let settle: (done: JobResult) => void = () => {};
    const heard = new Promise<JobResult>((resolve) => {
      settle = resolve;
    });
    const exited = (code: number | null, killed: NodeJS.Signals | null) => {
      const error = createError("worker-incompatible", {
        worker,
        reason: `its process for the job ended with ${killed ?? code}`,
      });
      settle({ kind: "failed", failure: toJobFailure(error, worker), mayRetry: true });
    };
    this.child.once("exit", exited);
    void heard.then(() => this.child.off("exit", exited));
    const listen = (message: FromWorkerProcess) => {
      if (message.kind === "done") settle(message.result);
      else if (message.kind === "progress") overseer.onProgress(message.features);
      else if (message.kind === "notice") overseer.onNotice(message.sentence);
      else if (message.kind === "commit")
        overseer.onCommit(message.pendingCommit).then(
          (mayCommit) => this.send({ kind: "answer", mayCommit }),
          () => this.send({ kind: "answer", mayCommit: false }),
        );
    };
    return { listen, heard };
  }

  private send(message: ToWorkerProcess): void {
    // One that has ended says so itself.
    if (this.isAlive) this.child.send(message, () => {});
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}

/** Hands at work and at rest. */
export class WorkerPool implements AsyncDisposable {
  private readonly idle: WorkerProcess[] = [];

  /** @param fork begins a process @param maxIdle so many are kept while there is nothing to do */
  constructor(
    private readonly fork: () => ChildProcess,
    private readonly maxIdle: number,
  ) {}

  async acquire(): Promise<WorkerProcess> {
    for (let hand = this.idle.pop(); hand; hand = this.idle.pop()) if (hand.isAlive) return hand;
    return WorkerProcess.start(this.fork());
  }

  async release(hand: WorkerProcess): Promise<void> {
    if (hand.isAlive && this.idle.length < this.maxIdle) this.idle.push(hand);
    else await hand.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.idle.splice(0).map((hand) => hand.stop()));
  }
}
