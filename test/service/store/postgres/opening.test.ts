import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { GeoferryError } from "../../../../src/errors.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, startServer, testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, numberedFeatures, readAllByCursor, writeOrFail } from "../store-fixture.js";

const database = await testDatabase();
// Each commit waits for a shared disk.
vi.setConfig({ testTimeout: 300_000 });

/** The error of a failed open. */
async function refused(url: string): Promise<GeoferryError> {
  const store = await openPostgresStore(url).catch((error: unknown) => error);
  if (store instanceof GeoferryError) return store;
  throw new Error("it was opened, or failed otherwise", { cause: store });
}

describe("a PostgreSQL store that cannot be opened", () => {
  test("without a server is unavailable, and its password is not revealed", async () => {
    const error = await refused("postgres://ann:s3cret@127.0.0.1:1/maps?sslmode=disable");
    expect(error).toMatchObject({ code: "store-unavailable", kind: "unavailable" });
    expect(error.message).toContain("PostgreSQL at 127.0.0.1:1/maps: ");
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.message).not.toContain("s3cret");
    expect(error.message).not.toContain("ann");
  });

  test("on a server without TLS, required by its URL, reports what to change", async () => {
    // The server's response to an SSLRequest (PostgreSQL, 55.2.11).
    const server = createServer((socket) => socket.once("data", () => socket.end("N"))).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const error = await refused(`postgres://ann@127.0.0.1:${port}/maps?sslmode=require`);
    server.close();
    expect(error).toMatchObject({ code: "store-tls", kind: "usage" });
    expect(error.message).toContain("does not support SSL");
  });

  test("on a server that requires a password does not reveal ours", async () => {
    const server = await startServer(["local all ann scram-sha-256"]);
    if (!server) return console.warn("NOT TESTED: there are no binaries of PostgreSQL");
    await execute(server.url, "CREATE ROLE ann LOGIN PASSWORD 'right'");
    const as = (user: string) => server.url.replace("postgres@", `${user}@`);
    for (const user of ["ann:wrong", "ann"]) {
      const error = await refused(as(user));
      expect(error, user).toMatchObject({ code: "store-forbidden", kind: "authentication" });
      expect(error.message).toMatch(/password authentication failed|asks for a password/);
      expect(error.message).toContain("PGPASSWORD");
      expect(error.message).not.toContain("wrong");
    }
    // The user may connect, but not create tables: since PostgreSQL 15, the public schema is restricted.
    await execute(server.url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const error = await refused(as("ann:right"));
    expect(error).toMatchObject({ code: "store-forbidden" });
    expect(error.message).toContain("permission denied for schema public");
    await server.stop();
  });
});

describe.skipIf(!database)("opening a PostgreSQL store", () => {
  test("reports a missing database or user", async () => {
    const away = database!.url.replace(/\/[^/?]*(?=$|\?)/, "/not_there");
    const error = await refused(away);
    expect(error).toMatchObject({ code: "store-database-missing", kind: "input" });
    expect(error.message).toContain('CREATE DATABASE "not_there"');
    expect(await refused(database!.url.replace("postgres@", "nobody_of_this_name@"))).toMatchObject({
      code: "store-forbidden",
      kind: "authentication",
    });
  });

  test("creates its tables once, by whichever process is first", async () => {
    const url = await database!.emptySchema();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore(url)));
    const map = await insertMap(stores[0]!);
    await writeOrFail(stores[1]!, makeWriteRequest(map, "create", numberedFeatures(3)));
    expect(await readAllByCursor(stores[2]!, map)).toHaveLength(3);
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect(await execute(url, "SELECT version::int FROM geoferry_schema")).toEqual([{ version: 7 }]);
  });

  test("migrates version 6 to the table of pagination cursors, which processes share", async () => {
    const url = await database!.emptySchema();
    const before = await openPostgresStore(url);
    const map = await insertMap(before);
    await writeOrFail(before, makeWriteRequest(map, "create", numberedFeatures(3)));
    await before[Symbol.asyncDispose]();
    await execute(url, "DROP TABLE page_ends; UPDATE geoferry_schema SET version = 6");
    await using one = await openPostgresStore(url);
    await using other = await openPostgresStore(url);
    expect(await readAllByCursor(one, map)).toHaveLength(3);
    const session = { map, size: 2, credential: randomUUID(), token: 1 };
    const end = { token: 1, after: 2, version: `1-${"a".repeat(16)}`, isExact: true, at: 1000 };
    await one.saveCursor({ session, page: 1, end, now: 1000 });
    expect(await other.findCursors({ session, page: 1, since: 0 })).toEqual([end]);
    await other.purge(10_000_000);
    expect(await one.findCursors({ session, page: 1, since: 0 })).toEqual([]);
  });

  test("finds the stored data again", async () => {
    const url = await database!.emptySchema();
    const first = await openPostgresStore(url);
    const map = await insertMap(first);
    await writeOrFail(first, makeWriteRequest(map, "create", numberedFeatures(5)));
    const stored = await readAllByCursor(first, map);
    await first[Symbol.asyncDispose]();
    const second = await openPostgresStore(url);
    expect(await readAllByCursor(second, map)).toEqual(stored);
    await second[Symbol.asyncDispose]();
  });

  test("rejects a database of a later version, and leaves it unchanged", async () => {
    const url = await database!.emptySchema();
    await (await openPostgresStore(url))[Symbol.asyncDispose]();
    await execute(url, "UPDATE geoferry_schema SET version = 1000");
    const error = await refused(url);
    expect(error).toMatchObject({ code: "store-newer" });
    expect(error.message).toContain("version 1000");
    expect(await execute(url, "SELECT version::int FROM geoferry_schema")).toEqual([{ version: 1000 }]);
  });

  test("rejects tables of another program, and adds none", async () => {
    const url = await database!.emptySchema();
    await execute(url, "CREATE TABLE features (name text)");
    expect(await refused(url)).toMatchObject({ code: "store-foreign" });
    const tables = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    expect(await execute(url, tables)).toEqual([{ relname: "features" }]);
  });

  test("rejects a database whose encoding cannot store all texts", async () => {
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

  test("waits for pending calls on close, and rejects later ones", async () => {
    const store = await openPostgresStore(await database!.emptySchema());
    const map = await insertMap(store);
    const writes = Array.from({ length: 30 }, () =>
      writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(10))),
    );
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
