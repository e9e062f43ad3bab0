/**
 * Counts of features by their place, on two levels, so that page N is found without stepping over all before it: a
 * bucket holds the features whose `seq` shares all but its last 10 or 20 bits.
 */
export const bucketBits = { fine: 10, coarse: 20 } as const;
export type BucketLevel = keyof typeof bucketBits;

export interface BucketCount {
  readonly level: BucketLevel;
  readonly bucket: number;
  readonly count: number;
}

/** Not by `>>`, which knows 32 bits only. */
export const bucketOf = (seq: number, level: BucketLevel): number => Math.floor(seq / 2 ** bucketBits[level]);
/** The lowest `seq` in a bucket. */
export const bucketStart = (bucket: number, level: BucketLevel): number => bucket * 2 ** bucketBits[level];

/** What features that come and features that go are for the counts. */
export function bucketCounts(added: readonly number[], removed: readonly number[]): BucketCount[] {
  return (Object.keys(bucketBits) as BucketLevel[]).flatMap((level) => {
    const counts = new Map<number, number>();
    const count = (seq: number, by: number) => {
      const bucket = bucketOf(seq, level);
      counts.set(bucket, (counts.get(bucket) ?? 0) + by);
    };
    for (const seq of added) count(seq, 1);
    for (const seq of removed) count(seq, -1);
    return [...counts].filter(([, by]) => by !== 0).map(([bucket, by]) => ({ level, bucket, count: by }));
  });
}

/** Which of some buckets, in ascending order, holds the feature behind `skip` others, and how many of it stand before. */
export function bucketBehind(
  counts: Iterable<Pick<BucketCount, "bucket" | "count">>,
  skip: number,
): { readonly bucket: number; readonly skip: number } | null {
  let rest = skip;
  for (const { bucket, count } of counts) {
    if (rest < count) return { bucket, skip: rest };
    rest -= count;
  }
  return null;
}
