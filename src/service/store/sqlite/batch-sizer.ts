/** Target duration of a batch with its commit, in milliseconds; other writes wait for it. */
const targetMs = 150;
/**
 * Features in the first batch, and minimum on a slow disk: smaller batches of a large map would rewrite the index many
 * times.
 */
const minBatchSize = 8000;

/**
 * Chooses how many features are indexed per batch. A batch rewrites most index pages of its range, so larger batches
 * write less in total: each is as large as the target duration allows.
 */
export class BatchSizer {
  private next: number;

  constructor(private readonly max: number) {
    this.next = Math.min(minBatchSize, max);
  }

  get features(): number {
    return this.next;
  }

  /**
   * Adapts to the duration of a batch, at most by a factor of two, so that a single slow or fast batch does not distort
   * the next.
   */
  record(milliseconds: number): void {
    const change = Math.min(2, Math.max(0.5, targetMs / milliseconds));
    this.next = Math.min(this.max, Math.max(minBatchSize, Math.round(this.next * change)));
  }
}
