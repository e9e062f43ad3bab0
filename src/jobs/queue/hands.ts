/**
 * The processes in which a worker does its work, each one job at a time: what keeps one busy, or ends it, holds up neither
 * the worker, which must tell Redis that it lives, nor the other jobs.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fault } from "../../errors.js";
import type { Begun, Done, FromHand, Order, ToHand } from "./hand-messages.js";
import { failureOf } from "./handed.js";

/** Whom a hand asks and tells while it works. */
export interface Overseer {
  /** @returns whether outputs may get their names */
  commit(begun: Begun): Promise<boolean>;
  progress(features: number): void;
  notice(sentence: string): void;
}

/** Milliseconds that a hand has to stop what it is told to stop. */
const stopping = 10_000;

export class Hand {
  private constructor(
    private readonly child: ChildProcess,
    /** How the marks of its temporary files begin. */
    readonly marks: string,
  ) {}

  static async begin(child: ChildProcess): Promise<Hand> {
    const [first] = (await Promise.race([once(child, "message"), once(child, "exit").then(() => [null])])) as [
      FromHand | null,
    ];
    if (first?.kind === "ready") return new Hand(child, first.marks);
    throw fault("internal", { reason: "a process for the work of a worker did not begin" });
  }

  get isAlive(): boolean {
    return this.child.connected && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Does a job; never throws. @param signal stops it */
  async work(order: Order, overseer: Overseer, signal: AbortSignal): Promise<Done> {
    const { child } = this;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.tell({ kind: "stop" });
      timer = setTimeout(() => child.kill("SIGKILL"), stopping);
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

  private listen(overseer: Overseer, worker: string) {
    let settle: (done: Done) => void = () => {};
    const heard = new Promise<Done>((resolve) => {
      settle = resolve;
    });
    const exited = (code: number | null, killed: NodeJS.Signals | null) => {
      const error = fault("worker-unfit", { worker, reason: `its process for the job ended with ${killed ?? code}` });
      settle({ kind: "failed", failure: failureOf(error, worker), again: true });
    };
    this.child.once("exit", exited);
    void heard.then(() => this.child.off("exit", exited));
    const listen = (message: FromHand) => {
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

  private tell(message: ToHand): void {
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
export class Hands implements AsyncDisposable {
  private readonly resting: Hand[] = [];

  /** @param fork begins a process @param kept so many are kept while there is nothing to do */
  constructor(
    private readonly fork: () => ChildProcess,
    private readonly kept: number,
  ) {}

  async take(): Promise<Hand> {
    for (let hand = this.resting.pop(); hand; hand = this.resting.pop()) if (hand.isAlive) return hand;
    return Hand.begin(this.fork());
  }

  async giveBack(hand: Hand): Promise<void> {
    if (hand.isAlive && this.resting.length < this.kept) this.resting.push(hand);
    else await hand.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.resting.splice(0).map((hand) => hand.end()));
  }
}
