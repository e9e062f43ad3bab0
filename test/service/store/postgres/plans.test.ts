/** How PostgreSQL goes about the statements of a write: by an index, though it has no statistics of the map yet. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { Database, type Transaction } from "../../../../src/service/store/postgres/database.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { createWriteTransaction } from "../../../../src/service/store/postgres/write-transaction.js";
import { write } from "../../../../src/service/store/write.js";
import { testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, numberedFeatures } from "../store-fixture.js";

const database = await testDatabase();

/** A step of a plan (PostgreSQL, 14.1). */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Step[];
}
interface Explained {
  readonly sql: string;
  /** Those that read a table. */
  readonly scans: readonly Step[];
}

/** What a map may have millions of: its number alone leads to too many. */
const ofMaps: ReadonlySet<string> = new Set(["features", "feature_keys"]);

const stepsIn = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(stepsIn)];

describe.skipIf(!database)("the plans of a write", () => {
  const explained: Explained[] = [];

  /** The same transaction, which asks how each statement would be carried out before it is. */
  function explaining(tx: Transaction): Transaction {
    const explain = async (sql: string, values: readonly unknown[]) => {
      if (!/^\s*(SELECT|INSERT|UPDATE|DELETE)\b/.test(sql)) return;
      const [row] = await tx.rows<{ "QUERY PLAN": readonly { Plan: Step }[] }>(
        `EXPLAIN (FORMAT JSON) ${sql}`,
        ...values,
      );
      const steps = stepsIn(row!["QUERY PLAN"][0]!.Plan);
      explained.push({ sql, scans: steps.filter((step) => step["Relation Name"] && /Scan$/.test(step["Node Type"])) });
    };
    return {
      rows: async (sql, ...values) => {
        await explain(sql, values);
        return tx.rows(sql, ...values);
      },
      run: async (sql, ...values) => {
        await explain(sql, values);
        return tx.run(sql, ...values);
      },
      expectLongStatements: () => tx.expectLongStatements(),
    };
  }

  beforeAll(async () => {
    const url = await database!.emptySchema();
    await using store = await openPostgresStore(url);
    const map = await insertMap(store);
    const db = new Database(url);
    type Asked = Parameters<typeof makeWriteRequest> extends [string, ...infer Rest] ? Rest : never;
    const ask = (...request: Asked) =>
      db.transaction(map, (tx) =>
        write(
          createWriteTransaction(explaining(tx), { batchSize: 2500, removed: 0 }),
          makeWriteRequest(map, ...request),
        ),
      );
    const byRef = { remoteField: "ref" };
    try {
      // Enough that it matters: of a table of two pages any index is as good as the other.
      for (let i = 0; i < 5; i++) await ask("create", numberedFeatures(1000, 1000 * i));
      while ((await ask("upsert", numberedFeatures(150, 200), byRef)).kind === "reading-keys");
      const idempotency = { scope: "a", key: "b", fingerprint: new Uint8Array(32) };
      await ask("update", [{ properties: { ref: 7, more: true } }], { ...byRef, idempotency });
      await ask("update", [{ id: randomUUID(), properties: {} }]);
      await ask("delete", [{ properties: { ref: 8 } }], byRef);
      await ask("synchronize", numberedFeatures(150, 100), byRef);
    } finally {
      await db.close();
    }
  });

  test("look keys up by the index of their digests, and what they lead to by its place", () => {
    const lookUps = explained.filter(({ sql }) => sql.includes("FROM feature_keys WHERE"));
    expect(lookUps.length).toBeGreaterThan(0);
    for (const { scans } of lookUps) {
      const used = scans.map((step) => [step["Relation Name"], step["Index Name"], step["Index Cond"]]);
      expect(used).toEqual([
        ["feature_keys", "feature_keys_by_digest", expect.stringMatching(/map = .*digest = n\.digest.*field = /)],
        ["features", "features_pkey", expect.stringMatching(/map = .*seq = /)],
      ]);
    }
  });

  test("go through no table", () => {
    const statements = new Map(explained.map((one) => [one.sql, one]));
    // Of every kind that a write has, at least.
    expect(statements.size).toBeGreaterThan(20);
    for (const { sql, scans } of statements.values()) {
      for (const step of scans) {
        expect(step, sql).toMatchObject({
          "Node Type": expect.stringMatching(/^Index( Only)? Scan$/),
          "Index Cond": expect.stringMatching(ofMaps.has(step["Relation Name"]!) ? /map.*(seq|id|digest)/ : /./),
        });
      }
    }
  });
});
