import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Store } from "../../../../src/service/store/contract.js";
import { openSqliteStore } from "../../../../src/service/store/sqlite/index.js";
import { describeStoreContract } from "../contract.js";
import {
  hashOf,
  insertAccount,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  readAllByCursor,
  writeOrFail,
} from "../store-fixture.js";
import { expectConsistent } from "./consistency.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let paths = 0;
const newPath = () => join(folder, `${paths++}.db`);

describe("the database after the contract tests", () => {
  const used: string[] = [];
  afterAll(() => {
    for (const path of used) expectConsistent(path);
  });
  describeStoreContract("SQLite", (reading) => {
    const path = newPath();
    used.push(path);
    return openSqliteStore(path, undefined, reading);
  });
});

describe("a SQLite database of the service", () => {
  const opened: { close(): unknown }[] = [];
  const open = async (path: string): Promise<Store> => {
    const store = await openSqliteStore(path);
    opened.push({ close: () => store[Symbol.asyncDispose]() });
    return store;
  };
  /** Another program with the same file open. */
  const beside = (path: string): Sqlite.Database => {
    const database = new Sqlite(path);
    opened.push(database);
    return database;
  };
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  test("is private, including its journals", async () => {
    const path = newPath();
    const store = await open(path);
    await insertAccount(store);
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is a single file once closed, and complete when opened again", async () => {
    const path = newPath();
    const store = await openSqliteStore(path);
    const map = await insertMap(store);
    await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(40)));
    await store[Symbol.asyncDispose]();
    expect(() => statSync(`${path}-wal`)).toThrow();
    const again = await open(path);
    expect(await readAllByCursor(again, map)).toHaveLength(40);
    expect(await again.map(map)).toMatchObject({ features: 40, revision: 1 });
  });

  test("restored from a copy reaches no version that it had after the copy", async () => {
    const [path, copy] = [newPath(), newPath()];
    const store = await openSqliteStore(path);
    const map = await insertMap(store);
    const copied = await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1)));
    await store[Symbol.asyncDispose]();
    copyFileSync(path, copy);
    const first = await openSqliteStore(path);
    const lost = await writeOrFail(first, makeWriteRequest(map, "create", numberedFeatures(1)));
    await first[Symbol.asyncDispose]();
    const restored = await open(copy);
    expect((await restored.map(map))!.version).toBe(copied.version);
    const other = await writeOrFail(restored, makeWriteRequest(map, "create", numberedFeatures(2)));
    expect(other.revision).toBe(lost.revision);
    const stale = makeWriteRequest(map, "create", numberedFeatures(1), { versions: [lost.version] });
    expect(await restored.write(stale)).toEqual({ kind: "other-version", version: other.version });
  });

  test("can be created by two processes at once, which see each other's writes", async () => {
    const path = newPath();
    const [one, other] = await Promise.all([open(path), open(path)]);
    const map = await insertMap(one);
    const requests = Array.from({ length: 12 }, (_, i) =>
      makeWriteRequest(map, "create", numberedFeatures(10, 10 * i)),
    );
    const outcomes = await Promise.all(requests.map((request, i) => writeOrFail(i % 2 ? one : other, request)));
    const revisions = outcomes.map(({ revision }) => revision).sort((a, b) => a - b);
    expect(revisions).toEqual(requests.map((_, i) => i + 1));
    expect(await readAllByCursor(one, map)).toEqual(await readAllByCursor(other, map));
    expect(await readAllByCursor(one, map)).toHaveLength(120);
  });

  test("of a later version is rejected and left unchanged", async () => {
    const path = newPath();
    await (await openSqliteStore(path))[Symbol.asyncDispose]();
    const database = beside(path);
    database.pragma("user_version = 99");
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: "store-newer",
      message: expect.stringContaining("version 99"),
    });
    expect(database.pragma("user_version", { simple: true })).toBe(99);
  });

  test("of another program is rejected and left unchanged", async () => {
    const path = newPath();
    const database = beside(path);
    database.exec("CREATE TABLE songs (title TEXT)");
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: "store-foreign" });
    expect(database.prepare("SELECT name FROM sqlite_schema").pluck().all()).toEqual(["songs"]);
  });

  test("that is not a database, or in a missing folder, is reported", async () => {
    const path = newPath();
    writeFileSync(path, "This is a letter, and has been one for longer than a database has a header.".repeat(20));
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: "store-foreign" });
    await expect(openSqliteStore(join(folder, "none", "x.db"))).rejects.toMatchObject({ code: "store-unavailable" });
  });

  test("can be read while another program writes, and written afterwards", async () => {
    const path = newPath();
    const store = await open(path);
    const map = await insertMap(store);
    const database = beside(path);
    database.exec("BEGIN IMMEDIATE");
    let written = false;
    const write = writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(3))).then(() => {
      written = true;
    });
    for (let i = 0; i < 5; i++) expect(await store.page({ map, size: 10, page: 1 })).toMatchObject({ count: 0 });
    expect(written).toBe(false);
    database.exec("COMMIT");
    await write;
    expect(await store.page({ map, size: 10, page: 1 })).toMatchObject({ count: 3 });
  });

  test("has nothing of a write that failed at its last step, and keeps working", async () => {
    const path = newPath();
    const store = await open(path);
    const map = await insertMap(store);
    const key = { scope: "a", key: "k", fingerprint: hashOf("x") };
    await writeOrFail(store, makeWriteRequest(map, "upsert", numberedFeatures(5), { remoteField: "ref" }));
    const before = await readAllByCursor(store, map);
    const database = beside(path);
    database.exec("CREATE TRIGGER full BEFORE INSERT ON outcomes BEGIN SELECT raise(ABORT, 'no space'); END");
    const request = makeWriteRequest(map, "synchronize", numberedFeatures(5, 3), {
      remoteField: "ref",
      idempotency: key,
    });
    await expect(store.write(request)).rejects.toThrow("no space");
    expect(await readAllByCursor(store, map)).toEqual(before);
    expect(await store.map(map)).toMatchObject({ features: 5, revision: 1 });
    database.exec("DROP TRIGGER full");
    expect(await writeOrFail(store, request)).toMatchObject({ deleted: 3, revision: 2, replayed: false });
    expectConsistent(path);
  });

  test("deletes the features of a removed map in batches, also after a restart", async () => {
    const path = newPath();
    const store = await open(path);
    const [gone, kept] = [await insertMap(store), await insertMap(store)];
    for (let i = 0; i < 5; i++) {
      await writeOrFail(
        store,
        makeWriteRequest(gone, "upsert", numberedFeatures(1000, 1000 * i), { remoteField: "ref" }),
      );
    }
    await writeOrFail(store, makeWriteRequest(kept, "upsert", numberedFeatures(10), { remoteField: "ref" }));
    const database = beside(path);
    const rows = () =>
      ["features", "feature_keys", "key_fields", "bucket_counts", "removed_maps"].map((table) =>
        database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      );
    expect(rows()).toEqual([5010, 5010, 2, 25, 0]);
    expect(await store.deleteMap(gone)).toBe(true);
    await store[Symbol.asyncDispose]();
    expect(rows()[0]).toBeGreaterThanOrEqual(10);
    const again = await open(path);
    await expect.poll(rows, { timeout: 60_000 }).toEqual([10, 10, 1, 3, 0]);
    expect(await readAllByCursor(again, kept)).toHaveLength(10);
    expectConsistent(path);
  });

  test("rejects a concurrent request with the same key at once", async () => {
    const path = newPath();
    const store = await open(path);
    const map = await insertMap(store);
    const database = beside(path);
    database.exec("BEGIN IMMEDIATE");
    const idempotency = { scope: "a", key: "k", fingerprint: hashOf("x") };
    const request = makeWriteRequest(map, "create", numberedFeatures(3), { idempotency });
    const first = store.write(request);
    expect(await store.write(request)).toEqual({ kind: "key-in-flight" });
    database.exec("COMMIT");
    expect(await first).toMatchObject({ kind: "done", replayed: false });
    expect(await store.write(request)).toMatchObject({ kind: "done", replayed: true });
  });

  test("finds keys anywhere among many millions of features", async () => {
    const path = newPath();
    const store = await open(path);
    const map = await insertMap(store);
    const ids: string[] = [];
    for (const [i, next] of [1, 2 ** 21, 5 * 2 ** 21 - 1].entries()) {
      beside(path).prepare("UPDATE maps SET next = ?").run(next);
      const sent = numberedFeatures(2, 10 * i);
      ids.push(
        ...(await writeOrFail(store, makeWriteRequest(map, "upsert", sent, { remoteField: "ref" }))).success.map(
          ({ id }) => id,
        ),
      );
      const all = [0, 1, 2].slice(0, i + 1).flatMap((of) => numberedFeatures(2, 10 * of));
      const found = await writeOrFail(store, makeWriteRequest(map, "update", all, { remoteField: "ref" }));
      expect(found.success.map(({ id }) => id)).toEqual(ids);
    }
  });

  test("does not respond after it was closed", async () => {
    const store = await openSqliteStore(newPath());
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await expect(store.ping()).rejects.toMatchObject({ code: "store-unavailable", statusCode: 503 });
    await expect(store.accounts()).rejects.toMatchObject({ code: "store-unavailable" });
  });
});
