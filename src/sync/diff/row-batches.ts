import { setImmediate } from "node:timers/promises";
import type { FeatureSide, KeyedRow } from "../../compare/feature-side.js";
import { createError } from "../../errors.js";

const batchSize = 1000;

/** All rows of a side, in batches as in `selectRowBatches`. @throws interrupted */
export const readRowBatches = (side: FeatureSide, signal: AbortSignal | undefined): AsyncGenerator<KeyedRow[]> =>
  selectRowBatches(side, `SELECT * FROM ${side.name} WHERE seq > ?`, signal);

/**
 * Rows of a side in reading order, in batches of a thousand, a good size for one transaction. Between batches, the
 * event loop can process signals, and rows may be changed.
 * @param sql has one parameter: the last `seq` seen
 * @throws interrupted
 */
export async function* selectRowBatches(
  { database, name }: FeatureSide,
  sql: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<KeyedRow[]> {
  const next = database.prepare<[number], KeyedRow>(`${sql} ORDER BY ${name}.seq LIMIT ${batchSize}`);
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.seq)) {
    yield rows;
    if (rows.length < batchSize) return;
    await setImmediate();
    if (signal?.aborted) throw createError("interrupted", {});
  }
}
