import { describe, expect, test, vi } from "vitest";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { textOf } from "../../../support/sources.js";
import {
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  readAllByCursor,
  readAllByNumber,
  writeOrFail,
} from "../store-fixture.js";

const database = await testDatabase();
vi.setConfig({ testTimeout: 300_000 });

/** The statements of docs/scaling.md that this test runs. */
const partitioning = /scaling\.test\.ts\. -->\n```sql\n([^`]*)```/.exec(textOf("docs/scaling.md"))![1]!;

describe.skipIf(!database)("partitions by the hash of the map", () => {
  test("are created under a running store with all its data", async () => {
    const url = await database!.emptySchema();
    const store = await openPostgresStore(url);
    const put = (map: string, from: number) =>
      writeOrFail(
        store,
        makeWriteRequest(
          map,
          "synchronize",
          Array.from({ length: 20 }, (_, i) => ({ geometry: null, properties: { ref: from + i } })),
          { remoteField: "ref" },
        ),
      );
    const maps: string[] = [];
    for (let i = 0; i < 12; i++) {
      maps.push(await insertMap(store));
      await put(maps[i]!, 0);
    }
    const before = await Promise.all(maps.map((map) => readAllByCursor(store, map)));
    await execute(url, partitioning);

    expect(await Promise.all(maps.map((map) => readAllByCursor(store, map)))).toEqual(before);
    for (const map of maps) {
      // Half of the features stay, half are deleted, half are new.
      expect(await put(map, 10)).toMatchObject({ revision: 2, deleted: 10 });
      await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(5)));
      await writeOrFail(store, makeWriteRequest(map, "delete", [{ properties: { ref: 29 } }], { remoteField: "ref" }));
      const refs = (await readAllByNumber(store, map, 7)).map(({ properties }) => properties.ref);
      expect(refs).toEqual([...Array.from({ length: 19 }, (_, i) => 10 + i), 0, 1, 2, 3, 4]);
    }
    expect(await store.deleteMap(maps[0]!)).toBe(true);
    const used = await execute<{ count: number }>(
      url,
      "SELECT count(DISTINCT tableoid)::int FROM features WHERE tableoid <> 'features'::regclass",
    );
    expect(used[0]!.count).toBeGreaterThan(3);
    await store[Symbol.asyncDispose]();
  });
});
