import { expect, test, vi } from "vitest";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, writeOrFail } from "../store-fixture.js";

const database = await testDatabase();
vi.setConfig({ testTimeout: 300_000 });

test.skipIf(!database)("many names of remote fields do not grow the key table without bound", async () => {
  const url = await database!.emptySchema();
  const store = await openPostgresStore(url);
  const map = await insertMap(store);
  const names = Array.from({ length: 60 }, (_, i) => `field ${i}`);
  const features = Array.from({ length: 1000 }, (_, i) => ({
    geometry: null,
    properties: Object.fromEntries(names.map((name) => [name, i])),
  }));
  for (let i = 0; i < 4; i++) await writeOrFail(store, makeWriteRequest(map, "create", features));
  const bytes = async () => {
    const [row] = await execute<{ bytes: string }>(url, "SELECT pg_total_relation_size('feature_keys') AS bytes");
    return Number(row!.bytes);
  };
  const sizes: number[] = [];
  for (const name of names) {
    await writeOrFail(
      store,
      makeWriteRequest(map, "upsert", [{ geometry: null, properties: { [name]: -1 } }], { remoteField: name }),
    );
    sizes.push(await bytes());
  }
  await store[Symbol.asyncDispose]();
  // Without vacuuming, sixty fields would take 7.5 times the space of eight.
  expect(sizes[59]! / sizes[7]!).toBeLessThan(4);
});
