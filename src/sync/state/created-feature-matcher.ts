/** Finds the map features that a plan created if neither an id nor a key identifies them. */
import { createHash } from "node:crypto";
import type { Rounding } from "../../canonical/canonical-feature.js";
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Statement } from "../../sqlite/index.js";
import { isLooselyEqual, normalizeLoosely } from "../diff/loose-equality.js";
import { readMapFeature } from "../diff/read-rows.js";
import type { OpenPlan, PlannedFeature } from "../plan/plan.js";

const propertiesHash = ({ properties }: PlannedFeature): Buffer =>
  createHash("sha256").update(normalizeLoosely(properties)).digest().subarray(0, 16);

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

  static async create(plan: OpenPlan, after: Workspace, rounding: Rounding): Promise<CreatedFeatureMatcher> {
    const { database, map } = after;
    database.exec(`
      DROP TABLE IF EXISTS temp.planned;
      DROP TABLE IF EXISTS temp.created;
      CREATE TEMP TABLE planned (id TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TEMP TABLE created (seq INTEGER PRIMARY KEY, bucket BLOB NOT NULL);
      CREATE INDEX temp.created_bucket ON created (bucket);`);
    const insertPlanned = database.prepare("INSERT OR IGNORE INTO planned VALUES (?)");
    for await (const action of plan.actions(["update", "delete", "keep"]))
      if (action.action !== "create") insertPlanned.run(action.id);
    const isPlanned = database.prepare("SELECT 1 FROM planned WHERE id = ?");
    const add = database.prepare("INSERT INTO created VALUES (?, ?)");
    for (const row of map.rows())
      if (!isPlanned.get(row.id)) add.run(row.seq, propertiesHash(readMapFeature(map, row)));
    return new CreatedFeatureMatcher(after, rounding);
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
