import { setImmediate as others } from "node:timers/promises";

/** Milliseconds of work before other requests run in this thread. */
const sliceMs = 10;

/** Steps between clock checks: a check takes a tenth of the time of a small feature. */
const stepsPerClockCheck = 8;

/** Splits long work on one request into slices: `if (slice.isOverAfter(i)) await slice.pass();` after step `i`. */
export class TimeSlice {
  private end = performance.now() + sliceMs;

  isOverAfter(step: number): boolean {
    return step % stepsPerClockCheck === 0 && performance.now() > this.end;
  }

  async yield(): Promise<void> {
    await others();
    this.end = performance.now() + sliceMs;
  }
}
