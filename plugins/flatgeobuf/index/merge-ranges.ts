/**
 * Merges ranges that are close to each other, since one larger request is faster than many small ones. All gaps together
 * are at most half of what is wanted, so that a remote file costs little more than that.
 */
export class RangeMerger {
  private current: [from: number, to: number] | null = null;
  private wanted = 0;
  private gaps = 0;

  /** @param most greatest size of a merged range */
  constructor(private readonly most: number) {}

  /** Adds a range, which begins after the last one. @returns a range to which nothing can be added any more */
  add(from: number, to: number): readonly [number, number] | null {
    const { current } = this;
    this.wanted += to - from;
    if (current) {
      const gap = from - current[1];
      if (to - current[0] <= this.most && 2 * (this.gaps + gap) <= this.wanted) {
        this.gaps += gap;
        current[1] = to;
        return null;
      }
    }
    this.current = [from, to];
    return current;
  }

  finish(): readonly [number, number] | null {
    const { current } = this;
    this.current = null;
    return current;
  }
}
