/** The sample of digests, with a look at each one when it comes. */
export class DigestSampleTwin {
  /** Occurrences by digest. */
  counts = new Map<string, { high: number; count: number }>();
  level = 0;

  constructor(private readonly maxDigests: number) {}

  get repetitions(): number {
    let repeated = 0;
    for (const { count } of this.counts.values()) repeated += count - 1;
    return repeated * 2 ** this.level;
  }

  add(low: number, high: number): void {
    if (!this.isSampled(high)) return;
    const key = `${low} ${high}`;
    const known = this.counts.get(key);
    if (known) known.count++;
    else this.counts.set(key, { high, count: 1 });
    while (this.counts.size > this.maxDigests) {
      this.level++;
      this.counts = new Map([...this.counts].filter(([, one]) => this.isSampled(one.high)));
    }
  }

  private isSampled(high: number): boolean {
    return Math.clz32(high) >= this.level;
  }
}
