import { setImmediate as others } from "node:timers/promises";

/** Milliseconds of work after which others have their turn in this thread. */
const sliceMs = 10;

/** So many pieces between two looks at the clock: a look takes a tenth of the time of a small feature. */
const piecesPerClockCheck = 8;

/** Long work on one request, in pieces: `if (turn.isOverAfter(i)) await turn.pass();` behind the `i`th. */
export class TimeSlice {
  private end = performance.now() + sliceMs;

  isOverAfter(piece: number): boolean {
    return piece % piecesPerClockCheck === 0 && performance.now() > this.end;
  }

  async pass(): Promise<void> {
    await others();
    this.end = performance.now() + sliceMs;
  }
}
