/** Query plans of the statements of a write and of a page: SQLite uses an index for maps of any size. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../../../src/service/store/sqlite/connection.js";
import { readPage } from "../../../../src/service/store/sqlite/pages.js";
import { createWriteTransaction } from "../../../../src/service/store/sqlite/write-transaction.js";
import { write } from "../../../../src/service/store/write.js";
import { makeWriteRequest, numberedFeatures } from "../store-fixture.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
const map = randomUUID();
let db: Connection;
const statements = new Set<string>();

/** The query plan of a statement, one line per step (sqlite.org/eqp.html). */
function planOf(sql: string): string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  const values = [...sql.matchAll(/\?/g)].map(() => null);
  const explain = db.database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  return explain.all(...(names.length > 0 ? [Object.fromEntries(names)] : values)).map(({ detail }) => detail);
}

type WriteArguments = Parameters<typeof makeWriteRequest> extends [string, ...infer Rest] ? Rest : never;

beforeAll(async () => {
  db = connect(join(folder, "plans.db"), "writer");
  const account = randomUUID();
  db.run("INSERT INTO accounts (id, email, email_key, password_hash, created) VALUES (?, 'a', 'a', '', 0)", account);
  db.run("INSERT INTO maps (id, owner, name, private, created) VALUES (?, ?, 'a', 0, 0)", map, account);
  const prepare = db.database.prepare.bind(db.database);
  db.database.prepare = (sql: string) => {
    statements.add(sql);
    return prepare(sql);
  };
  const tx = createWriteTransaction(db, () => 100);
  const ask = (...request: WriteArguments) => write(tx, makeWriteRequest(map, ...request));
  const byRef = { remoteField: "ref" };
  await ask("create", numberedFeatures(300));
  while ((await ask("upsert", numberedFeatures(150, 200), byRef)).kind === "reading-keys");
  const idempotency = { scope: "a", key: "b", fingerprint: new Uint8Array(32) };
  await ask("update", [{ properties: { ref: 7, more: true } }], { ...byRef, idempotency });
  await ask("update", [{ id: randomUUID(), properties: {} }]);
  await ask("delete", [{ properties: { ref: 8 } }], byRef);
  await ask("synchronize", numberedFeatures(150, 100), byRef);
  readPage(db, { map, size: 10, page: 2 });
  readPage(db, { map, size: 10, after: 3 });
  db.database.prepare = prepare;
});
afterAll(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test("keys are looked up by the index of their first bytes, and features by their position", () => {
  const [lookUp] = [...statements].filter((sql) => sql.includes("feature_keys_by_block"));
  expect(planOf(lookUp!)).toEqual([
    expect.stringMatching(/^SCAN b VIRTUAL TABLE/),
    expect.stringMatching(/^SCAN n VIRTUAL TABLE/),
    "SEARCH k USING INDEX feature_keys_by_block (field=? AND <expr>=? AND <expr>=?)",
    "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)",
    expect.stringMatching(/^SCALAR SUBQUERY/),
    "SEARCH key_fields USING INTEGER PRIMARY KEY (rowid=?)",
  ]);
});

/** Scans of the rows of a request or of a result are allowed; scans of a table are not. */
const beyond = /^SCAN (?![bn] VIRTUAL TABLE|\d+-ROW VALUES CLAUSE|CONSTANT ROW|\(subquery)/;

test("no statement scans a table", () => {
  const plans = [...statements].map((sql) => [sql, planOf(sql)] as const);
  // At least the kinds of statements of a write and a page.
  expect(plans.length).toBeGreaterThan(25);
  for (const [sql, plan] of plans) {
    for (const step of plan) expect(step, sql.slice(0, 300)).not.toMatch(beyond);
  }
});
