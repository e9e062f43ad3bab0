/**
 * The child processes of a worker, each of which runs one job at a time. A job that blocks or crashes its process affects
 * neither the worker, which must renew its locks in Redis, nor other jobs.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createError } from "../../../errors.js";
import { toJobFailure } from "../job-payload.js";
import type { CommitRequest, FromWorkerProcess, JobRequest, JobResult, ToWorkerProcess } from "./process-messages.js";

export interface JobCallbacks {
  /** @returns whether outputs may get their final names */
  onCommit(commit: CommitRequest): Promise<boolean>;
  onProgress(features: number): void;
  onNotice(sentence: string): void;
}

/** A process that has not stopped after this time is killed. */
const stopTimeoutMs = 10_000;

export class WorkerProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** Prefix of the marks in the names of its temporary files. */
    readonly mark: string,
  ) {}

  /** @throws worker-incompatible */
  static async start(child: ChildProcess, worker: string): Promise<WorkerProcess> {
    const [first] = (await Promise.race([once(child, "message"), once(child, "exit").then(() => [null])])) as [
      FromWorkerProcess | null,
    ];
    if (first?.kind === "ready") return new WorkerProcess(child, first.processMark);
    throw processEndedError(worker, `${child.signalCode ?? child.exitCode} before it started a job`);
  }

  get isAlive(): boolean {
    return this.child.connected && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Runs a job; never throws. @param signal stops it */
  async run(request: JobRequest, callbacks: JobCallbacks, signal: AbortSignal): Promise<JobResult> {
    const { child } = this;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.send({ kind: "stop" });
      timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    };
    const { listen, result } = this.listen(callbacks, request.worker);
    child.on("message", listen);
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.send({ kind: "run", request });
      if (signal.aborted) stop();
      return await result;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      child.off("message", listen);
    }
  }

  private listen(callbacks: JobCallbacks, worker: string) {
    let settle: (done: JobResult) => void = () => {};
    const result = new Promise<JobResult>((resolve) => {
      settle = resolve;
    });
    const exited = (code: number | null, killed: NodeJS.Signals | null) => {
      const error = processEndedError(worker, `${killed ?? code} during the job`);
      settle({ kind: "failed", failure: toJobFailure(error, worker), mayRetry: true });
    };
    this.child.once("exit", exited);
    void result.then(() => this.child.off("exit", exited));
    const listen = (message: FromWorkerProcess) => {
      if (message.kind === "done") settle(message.result);
      else if (message.kind === "progress") callbacks.onProgress(message.features);
      else if (message.kind === "notice") callbacks.onNotice(message.sentence);
      else if (message.kind === "commit")
        callbacks.onCommit(message.pendingCommit).then(
          (mayCommit) => this.send({ kind: "commit-reply", mayCommit }),
          () => this.send({ kind: "commit-reply", mayCommit: false }),
        );
    };
    return { listen, result };
  }

  private send(message: ToWorkerProcess): void {
    // The exit listener reports a process that has ended.
    if (this.isAlive) this.child.send(message, () => {});
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}

const processEndedError = (worker: string, how: string) =>
  createError("worker-incompatible", { worker, reason: `its process ended with ${how}` });

/** Starts worker processes on demand and keeps idle ones. */
export class WorkerPool implements AsyncDisposable {
  private readonly idle: WorkerProcess[] = [];

  /** @param fork starts a process @param maxIdle number of idle processes to keep */
  constructor(
    private readonly fork: () => ChildProcess,
    private readonly maxIdle: number,
  ) {}

  /** @param worker for messages @throws worker-incompatible */
  async acquire(worker: string): Promise<WorkerProcess> {
    for (let workerProcess = this.idle.pop(); workerProcess; workerProcess = this.idle.pop())
      if (workerProcess.isAlive) return workerProcess;
    return WorkerProcess.start(this.fork(), worker);
  }

  async release(workerProcess: WorkerProcess): Promise<void> {
    if (workerProcess.isAlive && this.idle.length < this.maxIdle) this.idle.push(workerProcess);
    else await workerProcess.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.idle.splice(0).map((workerProcess) => workerProcess.stop()));
  }
}
