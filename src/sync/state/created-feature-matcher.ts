/** Finds the map features that a plan created if neither an id nor a key identifies them. */
import { createHash } from "node:crypto";
import type { Rounding } from "../../canonical/canonical-feature.js";
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Statement } from "../../sqlite/index.js";
import { isLooselyEqual, normalizeLoosely } from "../diff/loose-equality.js";
import { readMapFeature, readPlanned } from "../diff/read-rows.js";
import type { OpenPlan, PlannedFeature } from "../plan/plan.js";
import type { NewBaselineEntry } from "./map-state.js";

const propertiesHash = ({ properties }: PlannedFeature): Buffer =>
  createHash("sha256").update(normalizeLoosely(properties)).digest().subarray(0, 16);

const rowsAtOnce = 1000;

/** All rows of a statement that selects those behind a sequence number; the table may change meanwhile. */
function* inPortions<T extends { readonly seq: number }>(select: Statement<[number], T>): Generator<T> {
  for (let last = -1; ; ) {
    const rows = select.all(last);
    yield* rows;
    if (rows.length < rowsAtOnce) return;
    last = rows.at(-1)!.seq;
  }
}

/** Map features unknown to the plan, found by their properties; each is returned once. */
export class CreatedFeatureMatcher {
  private readonly candidates: Statement;
  private readonly removeCandidate: Statement;

  private constructor(
    private readonly workspace: Workspace,
    private readonly rounding: Rounding,
  ) {
    const { database } = workspace;
    this.candidates = database.prepare(
      "SELECT map.* FROM created JOIN map ON map.seq = created.seq WHERE bucket = ? ORDER BY created.seq",
    );
    this.removeCandidate = database.prepare("DELETE FROM created WHERE seq = ?");
  }

  /** Finds features of the map that a plan neither updates, deletes nor keeps. */
  static async create(plan: OpenPlan, after: Workspace, rounding: Rounding): Promise<CreatedFeatureMatcher> {
    const { database } = after;
    database.exec(`
      DROP TABLE IF EXISTS temp.planned;
      CREATE TEMP TABLE planned (id TEXT PRIMARY KEY) WITHOUT ROWID;`);
    const insertPlanned = database.prepare("INSERT OR IGNORE INTO planned VALUES (?)");
    for await (const action of plan.actions(["update", "delete", "keep"]))
      if (action.action !== "create") insertPlanned.run(action.id);
    return CreatedFeatureMatcher.among("id NOT IN (SELECT id FROM planned)", after, rounding);
  }

  /** @param condition for features of the map, in SQL */
  static among(condition: string, workspace: Workspace, rounding: Rounding): CreatedFeatureMatcher {
    const { database, map } = workspace;
    database.exec(`
      DROP TABLE IF EXISTS temp.created;
      CREATE TEMP TABLE created (seq INTEGER PRIMARY KEY, bucket BLOB NOT NULL);
      CREATE INDEX temp.created_bucket ON created (bucket);`);
    const select = database.prepare<[number], KeyedRow>(
      `SELECT * FROM map WHERE seq > ? AND ${condition} ORDER BY seq LIMIT ${rowsAtOnce}`,
    );
    const add = database.prepare("INSERT INTO created VALUES (?, ?)");
    for (const row of inPortions(select)) add.run(row.seq, propertiesHash(readMapFeature(map, row)));
    return new CreatedFeatureMatcher(workspace, rounding);
  }

  find(feature: PlannedFeature): KeyedRow | null {
    for (const row of this.candidates.all(propertiesHash(feature)) as KeyedRow[]) {
      if (!isLooselyEqual(feature, readMapFeature(this.workspace.map, row), this.rounding)) continue;
      this.removeCandidate.run(row.seq);
      return row;
    }
    return null;
  }
}

/**
 * Matches source features with features of the map that an earlier run created (`confirmCreates`) before it could remember
 * which one got which id: it was interrupted, or the map did not show them.
 * @param onFound receives the ids, for later runs
 */
export function matchConfirmedCreates(
  workspace: Workspace,
  rounding: Rounding,
  onFound: (entries: readonly NewBaselineEntry[]) => void = () => {},
): void {
  const { database, source } = workspace;
  if (!hasConfirmedCreates(workspace)) return;
  const isUnmatched =
    "id IN (SELECT id FROM confirmed) AND NOT EXISTS (SELECT 1 FROM source WHERE source.key = map.key)";
  const matcher = CreatedFeatureMatcher.among(isUnmatched, workspace, rounding);
  const select = database.prepare<[number], KeyedRow & { readonly name: string }>(
    `SELECT source.*, coalesce(key, name) AS name FROM source LEFT JOIN named ON named.source = seq
     WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key) ORDER BY seq LIMIT ${rowsAtOnce}`,
  );
  let entries: NewBaselineEntry[] = [];
  for (const { seq, name, digest, ...location } of inPortions(select)) {
    const row = matcher.find(readPlanned(source, location));
    if (!row) continue;
    source.setKey(seq, row.key!);
    entries.push({ name, sent: digest, held: row.digest, isWhole: true, assignedId: row.key, isConfirmed: true });
    if (entries.length < rowsAtOnce) continue;
    onFound(entries);
    entries = [];
  }
  if (entries.length > 0) onFound(entries);
}

function hasConfirmedCreates({ database }: Workspace): boolean {
  const hasTable = database.prepare("SELECT 1 FROM temp.sqlite_master WHERE name = 'confirmed'").get() !== undefined;
  return hasTable && database.prepare("SELECT 1 FROM temp.confirmed LIMIT 1").get() !== undefined;
}
