/** Milliseconds that a step is to take, with its commit: other writes wait for it. */
const targetMs = 150;
/** Features in the first step, and in one on a disk however slow: of a large map, smaller ones would write the index again and again. */
const minBatchSize = 8000;

/**
 * Of how many features the keys are read in one step. A step writes most pages of the part of the index that its keys lie
 * in, so that the same features in smaller steps are more to write: it is as large as its time allows.
 */
export class BatchSizer {
  private next: number;

  constructor(private readonly max: number) {
    this.next = Math.min(minBatchSize, max);
  }

  get features(): number {
    return this.next;
  }

  /** Told of every step: one that a busy disk held up does not make the next one tiny, nor a lucky one huge. */
  record(milliseconds: number): void {
    const change = Math.min(2, Math.max(0.5, targetMs / milliseconds));
    this.next = Math.min(this.max, Math.max(minBatchSize, Math.round(this.next * change)));
  }
}
