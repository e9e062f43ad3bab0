import pg from "pg";
import { Problem } from "../../http/problems.js";
import { idempotencyLifetimeMs, type Store } from "../contract.js";
import { InFlightRequests } from "../in-flight-requests.js";
import { indexKeysOfField } from "../key-fields.js";
import {
  defaultKeyIndexWaitMs,
  KeyIndexBuilder,
  type KeyIndexEvent,
  type KeyIndexSettings,
} from "../key-index-builder.js";
import { write } from "../write.js";
import type { WriteTransaction } from "../write-transaction.js";
import { createAccountStore } from "./accounts.js";
import { Database } from "./database.js";
import { KeyVacuum } from "./key-vacuum.js";
import { mapStore } from "./maps.js";
import { migrate } from "./migrations.js";
import { toOpenError } from "./opening-fault.js";
import { readPage } from "./pages.js";
import { paginationCursorStore } from "./pagination-cursors.js";
import { spoolPage } from "./spool.js";
import { createWriteTransaction } from "./write-transaction.js";

/** Other writes to the map wait for a step; those to other maps do not. */
const defaultKeyIndexSettings: KeyIndexSettings = {
  batchSize: 100_000,
  maxWaitMs: defaultKeyIndexWaitMs,
  isExclusive: true,
};

/**
 * A store in a PostgreSQL database, whose tables are made where there are none. Many processes may share it.
 * @param url `postgres://user:password@host:port/database`
 * @throws store-unavailable, store-forbidden, store-database-missing, store-tls, store-newer, store-foreign, store-encoding
 */
export async function openPostgresStore(
  url: string,
  reading: KeyIndexSettings = defaultKeyIndexSettings,
  keysRead?: (news: KeyIndexEvent) => void,
): Promise<Store> {
  const db = new Database(url);
  try {
    await migrate(db, describeUrl(url));
  } catch (error) {
    await db.close();
    if (!(error instanceof Problem)) throw error;
    throw toOpenError({ store: describeUrl(url), database: new pg.Client(url).database ?? "" }, error.cause);
  }
  const inFlight = new InFlightRequests();
  const reclaim = new KeyVacuum(db);
  const inTransaction = async <T>(map: string, work: (tx: WriteTransaction) => Promise<T>): Promise<T> => {
    const keys = { batchSize: reading.batchSize, removed: 0 };
    const answer = await db.transaction(map, (tx) => {
      keys.removed = 0;
      return work(createWriteTransaction(tx, keys));
    });
    reclaim.add(keys.removed);
    return answer;
  };
  const keys = new KeyIndexBuilder(
    reading,
    (map, field) => inTransaction(map, (tx) => indexKeysOfField(tx, map, field)),
    keysRead,
  );
  return {
    name: "postgresql",
    ...createAccountStore(db),
    ...mapStore(db),
    ...paginationCursorStore(db),
    page: (question) => readPage(db, question),
    spool: (question, file) => spoolPage(db, question, file),
    write: (request) =>
      inFlight.runExclusive(request, () =>
        keys.write(request, () => inTransaction(request.map, (tx) => write(tx, request))),
      ),
    ping: async () => {
      await db.rows("SELECT 1");
      if (db.isFull) await db.run("UPDATE geoferry_schema SET version = version");
    },
    purge: (now) => purge(db, now),
    purgeAudit: async (before) =>
      (await db.run(
        `DELETE FROM audit WHERE number IN (
          SELECT number FROM (SELECT number, at FROM audit ORDER BY number LIMIT $1) AS oldest WHERE at < $2
        )`,
        auditPurgeBatch,
        before,
      )) === auditPurgeBatch,
    async [Symbol.asyncDispose]() {
      await keys.close();
      await db.close();
    },
  };
}

/** Without user and password: it goes into messages. */
function describeUrl(url: string): string {
  const [, host = "", path = ""] = /^\w+:(?:\/\/)?(?:[^@/?]*@)?([^/?]*)([^?]*)/.exec(url) ?? [];
  return `PostgreSQL at ${host}${path}`;
}

/** Entries of the audit log that are removed by one statement. */
const auditPurgeBatch = 2000;

/** Milliseconds; longer than any process counts them for. */
const cursorLifetimeMs = 600_000;

/** By one process at a time: the others have nothing left to do. */
async function purge(db: Database, now: number): Promise<void> {
  await db.transaction("purge", async (tx) => {
    const [lock] = await tx.rows<{ taken: boolean }>(
      "SELECT pg_try_advisory_xact_lock(hashtextextended('geoferry purge ' || current_schema(), 0)) AS taken",
    );
    if (!lock!.taken) return;
    await tx.expectLongStatements();
    await tx.run("DELETE FROM tokens WHERE expires <= $1", now);
    await tx.run("DELETE FROM sessions WHERE expires <= $1", now);
    await tx.run("DELETE FROM setup_token WHERE expires <= $1", now);
    await tx.run("DELETE FROM attempts WHERE until <= $1", now);
    await tx.run("DELETE FROM outcomes WHERE at <= $1", now - idempotencyLifetimeMs);
    await tx.run("DELETE FROM page_ends WHERE at <= $1", now - cursorLifetimeMs);
  });
}
