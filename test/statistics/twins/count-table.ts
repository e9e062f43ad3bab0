/** The table of counts of `src/statistics/kernels` in TypeScript. */

export interface Counted {
  tag: number;
  bytes: Uint8Array;
  low: number;
  high: number;
  count: number;
}

export class CountTableTwin {
  /** In the order of their first occurrence. */
  entries: Counted[] = [];
  error = 0;

  constructor(
    private readonly maxSize: number,
    private readonly maxBytes: number,
  ) {}

  get isFull(): boolean {
    const bytes = this.entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
    return this.entries.length > this.maxSize || bytes > this.maxBytes;
  }

  add(value: Counted): void {
    const known = this.entries.find(({ tag, bytes }) => tag === value.tag && Buffer.compare(bytes, value.bytes) === 0);
    if (known) known.count += value.count;
    else this.entries.push({ ...value });
  }

  /** Reduces the counts by the one in the middle, and drops the values that are used up or long. */
  purge(): void {
    const cut = this.entries.map(({ count }) => count).sort((a, b) => a - b)[this.entries.length >> 1]!;
    this.error += cut;
    this.entries = this.entries
      .map((entry) => ({ ...entry, count: entry.count - cut }))
      .filter(({ count, bytes }) => count > 0 && bytes.length <= 1024);
  }
}
