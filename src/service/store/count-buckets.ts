/**
 * Counts of features by their place, so that page N is found without stepping over all before it: a bucket holds the
 * features whose `seq` shares all but its last bits. These are the bits that the levels leave away, the finest first:
 * a bucket has 64 in the level below, and the finest 256 features, so few that a page costs the same wherever it is.
 */
export const bucketBits = [8, 14, 20] as const;

export interface BucketCount {
  /** One of `bucketBits`. */
  readonly bits: number;
  readonly bucket: number;
  readonly count: number;
}

/** Not by `>>`, which knows 32 bits only. */
export const bucketOf = (seq: number, bits: number): number => Math.floor(seq / 2 ** bits);
/** The lowest `seq` in a bucket. */
export const bucketStart = (bucket: number, bits: number): number => bucket * 2 ** bits;

/** What features that come and features that go are for the counts. */
export function countByBucket(added: readonly number[], removed: readonly number[]): BucketCount[] {
  return bucketBits.flatMap((bits) => {
    const counts = new Map<number, number>();
    const count = (seq: number, by: number) => {
      const bucket = bucketOf(seq, bits);
      counts.set(bucket, (counts.get(bucket) ?? 0) + by);
    };
    for (const seq of added) count(seq, 1);
    for (const seq of removed) count(seq, -1);
    return [...counts].filter(([, by]) => by !== 0).map(([bucket, by]) => ({ bits, bucket, count: by }));
  });
}

/** Which of some buckets, in ascending order, holds the feature behind `skip` others, and how many of it stand before. */
export function findBucket(
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
