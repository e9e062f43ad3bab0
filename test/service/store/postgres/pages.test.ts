import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Store } from "../../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { openSqliteStore } from "../../../../src/service/store/sqlite/index.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { type FeatureInput, insertMap, makeWriteRequest, writeOrFail } from "../store-fixture.js";

const database = await testDatabase();
vi.setConfig({ testTimeout: 300_000 });

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Properties that are difficult to store: JavaScript names, order, escapes, scripts, numbers, sizes. */
const hard: readonly string[] = [
  "{}",
  '{"__proto__":{"a":1},"constructor":2,"toString":null}',
  '{"z":1,"a":2,"10":3,"9":4}',
  JSON.stringify({ text: '\u0001\t\n"\\\\"{}\u007f\u2028\u{10ffff}', "": "" }),
  JSON.stringify({ text: "Übermut 東京 👩‍👩‍👧‍👦 é é \ufeff" }),
  '{"numbers":[1e400,-0.0,1.10,9007199254740991,5e-324,0.1],"array":"{NULL,\\"a\\",b}"}',
  JSON.stringify({ long: "äb,\\".repeat(50_000) }),
];

describe.skipIf(!database)("pages of PostgreSQL", () => {
  test("equal those of SQLite, byte by byte", async () => {
    const stores = [
      await openPostgresStore(await database!.emptySchema()),
      await openSqliteStore(join(folder, "a.db")),
    ];
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const written = async (store: Store): Promise<string> => {
      const map = await insertMap(store);
      const sent: FeatureInput[] = ids.map((id, i) => ({ id, geometry: { type: "Point", coordinates: [i, -0.5] } }));
      const request = makeWriteRequest(map, "synchronize", sent);
      const items = request.items.map((item, i) => ({ ...item, properties: hard[i % hard.length]! }));
      await writeOrFail(store, { ...request, items });
      const change = { items: [{ ...items[3]!, geometry: undefined, properties: '{"text":null,"__proto__":"é"}' }] };
      await writeOrFail(store, { ...makeWriteRequest(map, "update", []), ...change });
      await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: ids[7]! }, { id: ids[8]! }]));
      const pages = [1, 2, 5, 9].map(async (page) => {
        const { text, version, ...rest } = (await store.page({ map, size: 13, page }))!;
        expect(version).toMatch(new RegExp(`^${rest.revision}-`));
        return [Buffer.from(text).toString("latin1"), Object.entries(rest).sort()];
      });
      return JSON.stringify(await Promise.all(pages));
    };
    const [postgres, sqlite] = [await written(stores[0]!), await written(stores[1]!)];
    expect(postgres.length).toBeGreaterThan(1_000_000);
    // Shows only the difference, since the texts are long.
    const at = [...postgres].findIndex((character, i) => character !== sqlite[i]);
    expect(postgres.slice(at - 100, at + 100)).toBe(sqlite.slice(at - 100, at + 100));
    expect(postgres === sqlite).toBe(true);
    for (const store of stores) await store[Symbol.asyncDispose]();
  });

  test("that are too large are rejected before their texts are read", async () => {
    const url = await database!.emptySchema();
    const store = await openPostgresStore(url);
    const map = await insertMap(store);
    // 500 MiB of texts, stored out of line.
    await execute(
      url,
      `ALTER TABLE features SET (autovacuum_enabled = off, toast.autovacuum_enabled = off);
      INSERT INTO features
        SELECT 1, seq, gen_random_uuid(), 'null', '{"text":"' || repeat('x', 1 << 20) || '"}' FROM generate_series(1, 500) AS seq;
      INSERT INTO bucket_counts SELECT 1, bits, seq >> bits, count(*) FROM features, (VALUES (8), (14), (20)) AS l (bits)
        GROUP BY 2, 3`,
    );
    const blocks = async () => {
      const sql = `SELECT (toast_blks_read + toast_blks_hit)::int AS touched FROM pg_statio_user_tables
        WHERE relid = 'features'::regclass`;
      return (await execute<{ touched: number }>(url, sql))[0]!.touched;
    };
    // Connections report their statistics when they end.
    await expect.poll(blocks).toBeGreaterThan(0);
    const before = await blocks();
    await expect(store.page({ map, size: 500, page: 1 })).rejects.toMatchObject({ code: "bad-query", statusCode: 400 });
    await store[Symbol.asyncDispose]();
    const ours = "SELECT FROM pg_stat_activity WHERE application_name = 'geoferry' AND datname = current_database()";
    await expect.poll(async () => (await execute(url, ours)).length).toBe(0);
    expect(await blocks()).toBe(before);
  });

  test("are found at any depth, on a map with gaps of all sizes", async () => {
    const url = await database!.emptySchema();
    const store = await openPostgresStore(url);
    const map = await insertMap(store);
    // Three million positions with few remaining features, inserted by SQL to save time.
    const left = "seq % 40000 < 3 OR seq % 1024 = 5 OR seq BETWEEN 1050000 AND 1051000";
    await execute(
      url,
      `INSERT INTO features SELECT 1, seq, gen_random_uuid(), 'null', '{}' FROM generate_series(1, 3000000) AS seq
        WHERE ${left};
      INSERT INTO bucket_counts SELECT 1, bits, seq >> bits, count(*) FROM features, (VALUES (8), (14), (20)) AS l (bits)
        GROUP BY 2, 3`,
    );
    const seqs = (await execute<{ seq: number }>(url, "SELECT seq::int FROM features ORDER BY seq")).map(
      ({ seq }) => seq,
    );
    for (const size of [1, 7, 100, 500]) {
      for (const page of [1, 2, 3, 10, 90, 500, 2000].filter((number) => number * size <= seqs.length)) {
        const found = (await store.page({ map, size, page }))!;
        expect({ size, page, last: found.last }).toEqual({ size, page, last: seqs[page * size - 1] });
        expect(found.more).toBe(page * size < seqs.length);
      }
    }
    expect(await store.page({ map, size: 500, page: Number.MAX_SAFE_INTEGER })).toMatchObject({
      count: 0,
      more: false,
    });
    await store[Symbol.asyncDispose]();
  });
});
