import type { Connection } from "./connection.js";

/** Rows per statement; more do not reduce the overhead further. */
const rowsPerStatement = 50;

/**
 * Runs a statement with many rows of VALUES, in half the time of one statement per row. `row` is the placeholder of one
 * row, such as "(?, ?)"; `values` returns its parameters. Returns the number of changed rows.
 */
export function runInBulk<Row>(
  db: Connection,
  sql: (values: string) => string,
  row: string,
  rows: readonly Row[],
  values: (row: Row) => readonly unknown[],
): number {
  if (rows.length === 0) return 0;
  let changed = 0;
  const run = (from: number, count: number) => {
    const bound: unknown[] = [];
    for (let i = from; i < from + count; i++) bound.push(...values(rows[i]!));
    changed += db.run(sql(new Array(count).fill(row).join(",")), bound);
  };
  const whole = rows.length - (rows.length % rowsPerStatement);
  for (let i = 0; i < whole; i += rowsPerStatement) run(i, rowsPerStatement);
  for (let i = whole; i < rows.length; i++) run(i, 1);
  return changed;
}
