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
  commit(begun: CommitRequest): Promise<boolean>;
  progress(features: number): void;
  notice(sentence: string): void;
}

/** Milliseconds that a hand has to stop what it is told to stop. */
const stopTimeoutMs = 10_000;

export class WorkerProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** How the marks of its temporary files begin. */
    readonly marks: string,
  ) {}

  static async begin(child: ChildProcess): Promise<WorkerProcess> {
    const [first] = (await Promise.race([once(child, "message"), once(child, "exit").then(() => [null])])) as [
      FromWorkerProcess | null,
    ];
    if (first?.kind === "ready") return new WorkerProcess(child, first.marks);
    throw createError("internal", { reason: "a process for the work of a worker did not begin" });
  }

  get isAlive(): boolean {
    return this.child.connected && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Does a job; never throws. @param signal stops it */
  async work(order: JobRequest, overseer: JobCallbacks, signal: AbortSignal): Promise<JobResult> {
    const { child } = this;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.tell({ kind: "stop" });
      timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    };
    const { listen, heard } = this.listen(overseer, order.worker);
    child.on("message", listen);
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.tell({ kind: "order", order });
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
      settle({ kind: "failed", failure: toJobFailure(error, worker), again: true });
    };
    this.child.once("exit", exited);
    void heard.then(() => this.child.off("exit", exited));
    const listen = (message: FromWorkerProcess) => {
      if (message.kind === "done") settle(message.done);
      else if (message.kind === "progress") overseer.progress(message.features);
      else if (message.kind === "notice") overseer.notice(message.sentence);
      else if (message.kind === "commit")
        overseer.commit(message.begun).then(
          (may) => this.tell({ kind: "answer", may }),
          () => this.tell({ kind: "answer", may: false }),
        );
    };
    return { listen, heard };
  }

  private tell(message: ToWorkerProcess): void {
    // One that has ended says so itself.
    if (this.isAlive) this.child.send(message, () => {});
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}

/** Hands at work and at rest. */
export class WorkerPool implements AsyncDisposable {
  private readonly resting: WorkerProcess[] = [];

  /** @param fork begins a process @param kept so many are kept while there is nothing to do */
  constructor(
    private readonly fork: () => ChildProcess,
    private readonly kept: number,
  ) {}

  async take(): Promise<WorkerProcess> {
    for (let hand = this.resting.pop(); hand; hand = this.resting.pop()) if (hand.isAlive) return hand;
    return WorkerProcess.begin(this.fork());
  }

  async giveBack(hand: WorkerProcess): Promise<void> {
    if (hand.isAlive && this.resting.length < this.kept) this.resting.push(hand);
    else await hand.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.resting.splice(0).map((hand) => hand.end()));
  }
}
