import { randomBytes } from "node:crypto";
import type { Database } from "./database.js";

/** As the other store reserves: more than the free rest of the pages of a table. */
const reservedBytes = 2 << 20;

/** A table that exists only within the transaction; other processes wait for its name. */
const table = "geoferry_space";

/**
 * Checks that a full disk has space again by writing 2 MB: a row would fit into the pages that a table has already.
 * A role that may not create tables writes a row. @throws disk-full
 */
export async function expectFreeSpace(db: Pick<Database, "transaction" | "run">): Promise<void> {
  const isAllowed = await db.transaction(table, async ({ rows, run }) => {
    const [role] = await rows<{ isAllowed: boolean }>(
      `SELECT has_schema_privilege(current_schema(), 'CREATE') AS "isAllowed"`,
    );
    if (!role!.isAllowed) return false;
    await run(`CREATE TABLE ${table} (bytes bytea)`);
    await run(`INSERT INTO ${table} VALUES ($1)`, randomBytes(reservedBytes));
    await run(`DROP TABLE ${table}`);
    return true;
  });
  if (!isAllowed) await db.run("UPDATE geoferry_schema SET version = version");
}
