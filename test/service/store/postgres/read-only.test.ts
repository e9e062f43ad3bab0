/** A database that cannot be written: a standby, such as the former primary after a failover, or a full disk. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Store } from "../../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, numberedFeatures, testTime } from "../store-fixture.js";

const database = await testDatabase();

/** Remembers the end of a page, and looks it up. */
async function rememberPage(store: Store, map: string): Promise<number> {
  const session = { map, size: 2, credential: randomUUID(), token: testTime };
  const end = { token: testTime, after: 2, version: "1-0", isExact: true, at: testTime };
  await store.saveCursor({ session, page: 1, end, now: testTime });
  return (await store.findCursors({ session, page: 1, since: testTime - 1 })).length;
}

describe.runIf(database !== null)("a database that cannot be written", () => {
  test("a read-only database is not ready, but answers reads", async () => {
    const url = await database!.emptySchema();
    await using writable = await openPostgresStore(url);
    const map = await insertMap(writable);
    await writable.write(makeWriteRequest(map, "create", numberedFeatures(3)));
    await writable.ping();
    expect(await rememberPage(writable, map)).toBe(1);

    await using store = await openPostgresStore(`${url}${encodeURIComponent(" -c default_transaction_read_only=on")}`);
    await expect(store.ping()).rejects.toMatchObject({ code: "store-read-only" });
    expect((await store.page({ map, size: 2, page: 1 }))!.count).toBe(2);
    expect(await rememberPage(store, map)).toBe(0);
    const refused = store.write(makeWriteRequest(map, "create", numberedFeatures(1)));
    await expect(refused).rejects.toMatchObject({ code: "store-read-only" });
  });

  test("a full disk does not prevent reading page by page", async () => {
    const url = await database!.emptySchema();
    await using store = await openPostgresStore(url);
    const map = await insertMap(store);
    // The server's error when a file cannot grow (PostgreSQL, appendix A).
    const refuse = `BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END`;
    await execute(url, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ ${refuse} $$`);
    await execute(url, "CREATE TRIGGER full_disk BEFORE INSERT ON page_ends EXECUTE FUNCTION refuse()");
    expect(await rememberPage(store, map)).toBe(0);
  });
});
