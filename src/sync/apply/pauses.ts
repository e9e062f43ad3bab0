import type { ApplyRun } from "./apply-run.js";

/** In settle times, before readings of the map; several, since it may be a copy that lags behind. */
export const pausesBeforeReading = [1, 2, 4];

/**
 * Reads something of the map, and again after pauses until it is as expected.
 * @param discard releases what was read, before the next reading
 * @returns the last reading @throws sync-interrupted; errors of the callbacks
 */
export async function readPatiently<T>(
  run: ApplyRun,
  read: () => Promise<T>,
  isExpected: (value: T) => boolean | Promise<boolean>,
  discard: (value: T) => Promise<void> = async () => {},
): Promise<T> {
  let value = await read();
  for (const pause of pausesBeforeReading) {
    if (await isExpected(value)) break;
    await discard(value);
    await run.waitSettleTime(pause);
    value = await read();
  }
  return value;
}
