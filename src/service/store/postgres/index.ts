import pg from "pg";
import { Problem, problem } from "../../http/problems.js";
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
import { expectFreeSpace } from "./free-space.js";
import { hostUrls } from "./host-urls.js";
import { KeyVacuum } from "./key-vacuum.js";
import { mapStore } from "./maps.js";
import { migrate } from "./migrations.js";
import { toOpenError } from "./open-error.js";
import { readPage } from "./pages.js";
import { paginationCursorStore } from "./pagination-cursors.js";
import { spoolPage } from "./spool.js";
import { createWriteTransaction } from "./write-transaction.js";

/** A batch delays other writes to the same map, but not to other maps. */
const defaultKeyIndexSettings: KeyIndexSettings = {
  batchSize: 100_000,
  maxWaitMs: defaultKeyIndexWaitMs,
  isExclusive: true,
};

/**
 * Opens a store in a PostgreSQL database and creates its tables if necessary. Several processes may share it.
 * @param url `postgres://user:password@host:port/database`, or with several hosts, of which the primary server is used
 * @throws store-unavailable, store-forbidden, store-database-missing, store-tls, store-newer, store-foreign,
 * store-encoding
 */
export async function openPostgresStore(
  url: string,
  keyIndex: KeyIndexSettings = defaultKeyIndexSettings,
  onKeyIndex?: (event: KeyIndexEvent) => void,
): Promise<Store> {
  const db = new Database(url);
  try {
    await migrate(db, describeUrl(url));
  } catch (error) {
    await db.close();
    if (!(error instanceof Problem)) throw error;
    throw toOpenError(
      { store: describeUrl(url), database: new pg.Client(hostUrls(url)[0]).database ?? "" },
      error.cause,
    );
  }
  const inFlight = new InFlightRequests();
  const vacuum = new KeyVacuum(db);
  const inTransaction = async <T>(map: string, work: (tx: WriteTransaction) => Promise<T>): Promise<T> => {
    const keys = { batchSize: keyIndex.batchSize, removed: 0 };
    const answer = await db.transaction(map, (tx) => {
      keys.removed = 0;
      return work(createWriteTransaction(tx, keys));
    });
    vacuum.add(keys.removed);
    return answer;
  };
  const keys = new KeyIndexBuilder(
    keyIndex,
    (map, field) => inTransaction(map, (tx) => indexKeysOfField(tx, map, field)),
    onKeyIndex,
  );
  return {
    name: "postgresql",
    ...createAccountStore(db),
    ...mapStore(db),
    ...paginationCursorStore(db),
    page: (request) => readPage(db, request),
    spool: (request, file) => spoolPage(db, request, file),
    write: (request) =>
      inFlight.runExclusive(request, () =>
        keys.write(request, () => inTransaction(request.map, (tx) => write(tx, request))),
      ),
    ping: async () => {
      const [state] = await db.rows<{ isReadOnly: boolean }>(
        `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
      );
      // A standby, such as the former primary after a failover, answers reads.
      if (state!.isReadOnly) throw problem("store-read-only", {});
      if (!db.isFull) return;
      await expectFreeSpace(db);
      db.isFull = false;
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

/** The location for messages, without user and password. */
function describeUrl(url: string): string {
  const [, host = "", path = ""] = /^\w+:(?:\/\/)?(?:[^@/?]*@)?([^/?]*)([^?]*)/.exec(url) ?? [];
  return `PostgreSQL at ${host}${path}`;
}

/** Audit log entries deleted by one statement. */
const auditPurgeBatch = 2000;

/** Milliseconds; longer than the maximum of `loopSeconds`. */
const cursorLifetimeMs = 600_000;

/** Runs in one process at a time; the others skip it. */
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
