import type { Batch } from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import type { Connection } from "../connection/connection.js";
import { CopyOut } from "../connection/copy-out.js";
import { BatchBuilder } from "./batch-builder.js";
import type { LayerPlan } from "./layer-plan.js";

/** Maximum number of decoded batches that are not yet consumed. */
const maxWaitingBatches = 2;

export type PageRange = readonly [first: number, end: number];

function selectSql({ from, id, geometry, columns }: LayerPlan, range: PageRange | null): string {
  const expressions = [id, geometry, ...columns].flatMap((one) => (one ? [one.expression] : []));
  const where = range === null ? "" : ` WHERE ctid >= '(${range[0]},0)' AND ctid < '(${range[1]},0)'`;
  return `SELECT ${expressions.join(", ")} FROM ${from}${where}`;
}

/**
 * Detects tables that were truncated, rewritten or recreated since the snapshot: these appear empty or with other page
 * numbers (PostgreSQL, concurrency control, "Caveats"). Compares the table's file in the snapshot with the current one,
 * while the read lock is still held. @throws database-changed
 */
async function checkUnchanged(connection: Connection, database: string): Promise<void> {
  const [changed] = await connection.rows<{ table: string }>(
    `SELECT l.relation::regclass::text AS table FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation
     WHERE l.locktype = 'relation' AND l.pid = pg_backend_pid()
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (c.oid IS NULL
         OR c.relkind IN ('r', 'm') AND c.relfilenode <> 0 AND c.relfilenode <> pg_relation_filenode(c.oid))
     LIMIT 1`,
  );
  if (changed) throw createError("database-changed", { database, table: changed.table });
}

/**
 * Reads the rows of a layer, or of a range of its pages. Releases its locks at the end, so that replacing the table in the
 * same run does not deadlock.
 */
export async function* readBatches(
  connection: Connection,
  plan: LayerPlan,
  range: PageRange | null,
  { name, context }: { readonly name: string; readonly context: ReadContext },
): AsyncGenerator<Batch> {
  const builder = new BatchBuilder(plan, context);
  const waiting: Batch[] = [];
  const take = () => {
    const batch = builder.take();
    if (batch) waiting.push(batch);
  };
  const copy = new CopyOut(
    `COPY (${selectSql(plan, range)}) TO STDOUT (FORMAT binary)`,
    (bytes, from, to) => {
      builder.add(bytes, from, to);
      if (builder.isFull) take();
    },
    () => waiting.length >= maxWaitingBatches,
  );
  await connection.run("SAVEPOINT reading");
  connection.client.query(copy);
  try {
    while (await copy.more()) {
      for (let batch = waiting.shift(); batch; batch = waiting.shift()) yield batch;
    }
    await checkUnchanged(connection, name);
    take();
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) yield batch;
    if (range !== null) builder.endSplit();
  } finally {
    await copy.drain(connection);
    await connection.run("ROLLBACK TO SAVEPOINT reading; RELEASE SAVEPOINT reading").catch(() => undefined);
  }
}
