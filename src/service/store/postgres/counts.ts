import { type BucketCount, bucketBits } from "../buckets.js";

/**
 * Bits of a feature's `seq` that the buckets of each level leave away. There is one level more than writes tell of: no
 * bucket has more than 32 in the next, and running sums over those cost nothing beside the features of a page.
 */
export const levels = { ...bucketBits, middle: (bucketBits.fine + bucketBits.coarse) / 2 } as const;

interface LevelCount {
  readonly bits: number;
  readonly bucket: number;
  readonly count: number;
}

export function countsOnAllLevels(counts: readonly BucketCount[]): LevelCount[] {
  const middle = new Map<number, number>();
  for (const { level, bucket, count } of counts) {
    if (level !== "fine") continue;
    const above = Math.floor(bucket / 2 ** (levels.middle - levels.fine));
    middle.set(above, (middle.get(above) ?? 0) + count);
  }
  return [
    ...counts.map(({ level, bucket, count }) => ({ bits: levels[level], bucket, count })),
    ...[...middle].map(([bucket, count]) => ({ bits: levels.middle, bucket, count })),
  ];
}
