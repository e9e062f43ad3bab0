/** Query plans of the statements of a write: PostgreSQL uses an index, even without statistics of the map. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { Database, type Transaction } from "../../../../src/service/store/postgres/database.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { createWriteTransaction } from "../../../../src/service/store/postgres/write-transaction.js";
import { write } from "../../../../src/service/store/write.js";
import { testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, numberedFeatures } from "../store-fixture.js";

const database = await testDatabase();

/** A node of a plan (PostgreSQL, 14.1). */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Step[];
}
interface Explained {
  readonly sql: string;
  /** Nodes that read a table. */
  readonly scans: readonly Step[];
}

/** Tables of which a map may have millions of rows, so that the map number alone is not selective. */
const ofMaps: ReadonlySet<string> = new Set(["features", "feature_keys"]);

const stepsIn = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(stepsIn)];

describe.skipIf(!database)("the plans of a write", () => {
  const explained: Explained[] = [];

  /** A transaction that explains each statement before it runs. */
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
    type WriteArguments = Parameters<typeof makeWriteRequest> extends [string, ...infer Rest] ? Rest : never;
    const ask = (...request: WriteArguments) =>
      db.transaction(map, (tx) =>
        write(
          createWriteTransaction(explaining(tx), { batchSize: 2500, removed: 0 }),
          makeWriteRequest(map, ...request),
        ),
      );
    const byRef = { remoteField: "ref" };
    try {
      // Enough rows to matter: on a table of two pages, all indexes are equal.
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

  test("look up keys by the index of their digests, and features by their position", () => {
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

  test("scan no table", () => {
    const statements = new Map(explained.map((one) => [one.sql, one]));
    // At least the kinds of statements of a write.
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
