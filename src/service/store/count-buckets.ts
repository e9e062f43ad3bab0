/**
 * Feature counts by position, so that page N is found without scanning the pages before. A bucket contains the features
 * whose `seq` is equal except for its last bits. The levels drop these numbers of bits, the finest first: a bucket has
 * 64 buckets of the level below, and the finest has 256 features, few enough that the cost of a page does not depend on
 * its position.
 */
export const bucketBits = [8, 14, 20] as const;

export interface BucketCount {
  /** One of `bucketBits`. */
  readonly bits: number;
  readonly bucket: number;
  readonly count: number;
}

/** `>>` is limited to 32 bits. */
export const bucketOf = (seq: number, bits: number): number => Math.floor(seq / 2 ** bits);
/** The lowest `seq` in a bucket. */
export const bucketStart = (bucket: number, bits: number): number => bucket * 2 ** bits;

/** Changes of bucket counts for added and removed features. */
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

/**
 * Finds, in ascending buckets, the one with the feature after `skip` others, and how many features precede it in the
 * bucket.
 */
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
