/** Empty stores of each kind, separate for each test file, so that files can run in parallel. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/service/store/contract.js";
import { openPostgresStore } from "../../src/service/store/postgres/index.js";
import { openSqliteStore } from "../../src/service/store/sqlite/index.js";
import { testDatabase } from "../support/servers/postgres.js";

interface OpenedStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}
export interface StoreKind {
  readonly name: string;
  readonly open: () => Promise<OpenedStore>;
}

async function openSqlite(): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), "geoferry-service-"));
  const store = await openSqliteStore(join(folder, "service.db"));
  const close = async () => {
    await store[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  };
  return { store, close };
}

/** Call it at the top of a test file. Skips PostgreSQL, with a message, if it is not available. */
export async function findStoreKinds(): Promise<readonly StoreKind[]> {
  const database = await testDatabase();
  const sqlite = { name: "SQLite", open: openSqlite };
  if (!database) return [sqlite];
  const openPostgres = async (): Promise<OpenedStore> => {
    const store = await openPostgresStore(await database.emptySchema());
    return { store, close: async () => store[Symbol.asyncDispose]() };
  };
  return [sqlite, { name: "PostgreSQL", open: openPostgres }];
}
