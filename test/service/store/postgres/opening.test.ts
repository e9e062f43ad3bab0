import { describe, expect, test, vi } from "vitest";
import { GeoferryError } from "../../../../src/errors.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, testDatabase } from "../../../support/postgres.js";
import { aMap, carriedOut, numbered, scan, writing } from "../subject.js";

const database = await testDatabase();
// Each commit waits for a disk that others use, too.
vi.setConfig({ testTimeout: 300_000 });

/** The error that an opening ends with. */
async function refused(url: string): Promise<GeoferryError> {
  const store = await openPostgresStore(url).catch((error: unknown) => error);
  if (store instanceof GeoferryError) return store;
  throw new Error("it was opened, or failed otherwise", { cause: store });
}

describe("a PostgreSQL store that cannot be opened", () => {
  test("where no server answers is unavailable, and its password is not told", async () => {
    const error = await refused("postgres://ann:s3cret@127.0.0.1:1/maps?sslmode=disable");
    expect(error).toMatchObject({ code: "store-unavailable", kind: "unavailable" });
    expect(error.message).toContain("PostgreSQL at 127.0.0.1:1/maps: ");
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.message).not.toContain("s3cret");
    expect(error.message).not.toContain("ann");
  });

  test("at an address that is none is told as such", async () => {
    expect(await refused("postgres://ann:s3c/ret@host:port/maps")).toMatchObject({ code: "store-unavailable" });
  });
});

describe.skipIf(!database)("opening a PostgreSQL store", () => {
  test("makes its tables once, by whichever process comes first", async () => {
    const url = await database!.emptySchema();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore(url)));
    const map = await aMap(stores[0]!);
    await carriedOut(stores[1]!, writing(map, "create", numbered(3)));
    expect(await scan(stores[2]!, map)).toHaveLength(3);
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect(await execute(url, "SELECT version::int FROM geoferry_schema")).toEqual([{ version: 1 }]);
  });

  test("finds again what was stored", async () => {
    const url = await database!.emptySchema();
    const first = await openPostgresStore(url);
    const map = await aMap(first);
    await carriedOut(first, writing(map, "create", numbered(5)));
    const stored = await scan(first, map);
    await first[Symbol.asyncDispose]();
    const second = await openPostgresStore(url);
    expect(await scan(second, map)).toEqual(stored);
    await second[Symbol.asyncDispose]();
  });

  test("refuses a database that a later version has changed, and leaves it as it is", async () => {
    const url = await database!.emptySchema();
    await (await openPostgresStore(url))[Symbol.asyncDispose]();
    await execute(url, "UPDATE geoferry_schema SET version = 1000");
    const error = await refused(url);
    expect(error).toMatchObject({ code: "store-newer" });
    expect(error.message).toContain("version 1000");
    expect(await execute(url, "SELECT version::int FROM geoferry_schema")).toEqual([{ version: 1000 }]);
  });

  test("refuses tables of another program, and adds none to them", async () => {
    const url = await database!.emptySchema();
    await execute(url, "CREATE TABLE features (name text)");
    expect(await refused(url)).toMatchObject({ code: "store-foreign" });
    const tables = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    expect(await execute(url, tables)).toEqual([{ relname: "features" }]);
  });

  test("refuses a database whose encoding does not hold every text", async () => {
    const url = database!.url.replace(/(?=$|\?)/, "_latin");
    const name = /\/([^/?]*)(?:$|\?)/.exec(url)![1]!;
    await execute(database!.url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
    try {
      const error = await refused(url);
      expect(error).toMatchObject({ code: "store-encoding" });
      expect(error.message).toContain("LATIN1");
    } finally {
      await execute(database!.url, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test("waits for what was asked when it is closed, and takes nothing more", async () => {
    const store = await openPostgresStore(await database!.emptySchema());
    const map = await aMap(store);
    const writes = Array.from({ length: 30 }, () => carriedOut(store, writing(map, "create", numbered(10))));
    const closed = store[Symbol.asyncDispose]();
    expect(
      (await Promise.all(writes))
        .map(({ revision }) => revision)
        .sort((a, b) => a - b)
        .at(-1),
    ).toBe(30);
    await closed;
    await expect(store.ping()).rejects.toMatchObject({ code: "store-unavailable" });
  });
});
