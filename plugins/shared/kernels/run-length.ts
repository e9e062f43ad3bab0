/**
 * How many records at once are worth a call of a kernel that stops at the first record it leaves to TypeScript. A kernel
 * looks at a column after the other, so that what it did for the records behind that one is lost.
 */
const [minRun, maxRun] = [32, 1024];
/** Shorter runs take longer than without a kernel. */
const minUsefulRun = 8;
const maxPause = 1024;

export class RunLength {
  private run = maxRun;
  /** Records to read without the kernel, now and after the next short run. */
  private left = 0;
  private pause = minUsefulRun;

  /** The number of records for the next call; 0 if the next record is read without the kernel. */
  next(): number {
    if (this.left === 0) return this.run;
    this.left--;
    return 0;
  }

  /** @param stopped whether the run of so many records ended with one that is left to TypeScript */
  ended(records: number, stopped: boolean): void {
    if (!stopped) {
      this.run = Math.min(maxRun, 2 * this.run);
      return;
    }
    this.run = Math.max(minRun, 2 * records);
    if (records >= minUsefulRun) this.pause = minUsefulRun;
    else {
      this.left = this.pause;
      this.pause = Math.min(maxPause, 2 * this.pause);
    }
  }
}
