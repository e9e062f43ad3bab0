import { setImmediate } from "node:timers/promises";
import { fault } from "../errors.js";
import type { FeatureSide, KeyedRow } from "../remote/feature-side.js";

const most = 1000;

/** All rows of a side, in batches as `selectedBatches` gives them. @throws interrupted */
export const rowBatches = (side: FeatureSide, signal: AbortSignal | undefined): AsyncGenerator<KeyedRow[]> =>
  selectedBatches(side, `SELECT * FROM ${side.name} WHERE seq > ?`, signal);

/**
 * Rows of a side in the order of reading, a thousand at once: as many as are well written in one transaction. In
 * between, the event loop sees signals, and rows may be changed.
 * @param sql with one parameter: the last `seq` that was seen
 * @throws interrupted
 */
export async function* selectedBatches(
  { database, name }: FeatureSide,
  sql: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<KeyedRow[]> {
  const next = database.prepare<[number], KeyedRow>(`${sql} ORDER BY ${name}.seq LIMIT ${most}`);
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.seq)) {
    yield rows;
    if (rows.length < most) return;
    await setImmediate();
    if (signal?.aborted) throw fault("interrupted", {});
  }
}
