import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { PlanAction, SyncKey } from "../plan/plan.js";

type Keep = Extract<PlanAction, { readonly action: "keep" }>;

/**
 * Contents of the map features that a plan updates or deletes and that only their ids identify. Map features with the
 * same content that stay are marked in the plan (`equalsChanged`).
 */
export class ChangedContents {
  private readonly insert;
  private readonly select;
  private isEmpty = true;

  /** @param key that a restore matches; null if features are not matched */
  constructor(
    { database }: Workspace,
    private readonly key: SyncKey | null,
  ) {
    database.exec(`
      DROP TABLE IF EXISTS temp.changed_content;
      CREATE TEMP TABLE changed_content (digest TEXT PRIMARY KEY) WITHOUT ROWID`);
    this.insert = database.prepare("INSERT OR IGNORE INTO changed_content VALUES (?)");
    this.select = database.prepare("SELECT 1 FROM changed_content WHERE digest = ?");
  }

  /** Adds a feature that the plan updates or deletes. */
  add(row: Pick<KeyedRow, "digest" | "key">): void {
    if (this.key?.by === "property" && row.key !== null) return;
    this.insert.run(row.digest);
    this.isEmpty = false;
  }

  /** The mark of a feature that stays, after all others were added. */
  markOf({ digest }: Pick<KeyedRow, "digest">): Pick<Keep, "equalsChanged"> {
    return !this.isEmpty && this.select.get(digest) !== undefined ? { equalsChanged: true } : {};
  }
}
