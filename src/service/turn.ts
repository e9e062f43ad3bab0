import { setImmediate as others } from "node:timers/promises";

/** Milliseconds of work after which others have their turn in this thread. */
const length = 10;

/** Long work on one request, in pieces: `if (turn.isOver) await turn.pass();` between two. */
export class Turn {
  private end = performance.now() + length;

  get isOver(): boolean {
    return performance.now() > this.end;
  }

  async pass(): Promise<void> {
    await others();
    this.end = performance.now() + length;
  }
}
