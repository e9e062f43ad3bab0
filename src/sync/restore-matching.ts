import { canonicalFeature, digestOf } from "../remote/canonical.js";
import type { KeyedRow } from "../remote/feature-side.js";
import type { RemoteKey } from "../remote/wire.js";
import { shortDigest } from "./backup.js";
import { roundingOf } from "./classify-rounding.js";
import { readHeld } from "./classify-rows.js";
import { wantedOf } from "./classify-wanted.js";
import { fillMapKeys } from "./key-fill.js";
import { isUnfit, keyIn } from "./key-value.js";
import type { HeldFeature, PlanAction, SyncKey } from "./plan.js";
import type { RestoreRequest } from "./restore.js";
import { CreatedByRun, inGroups } from "./restore-created.js";
import { limitKeys } from "./scope.js";

type Matched = Pick<RestoreRequest, "backup" | "workspace" | "settings" | "signal">;

/** What the map has and lacks of a backup. */
export interface Survey {
  /** Features that the map lacks. */
  readonly missing: number;
  /** Of all that the map will have. */
  readonly bytes: number;
  readonly created: CreatedByRun;
  /** `Restoration.edited` */
  readonly edited: number | null;
}

/** What a backup's features are matched by: where nothing was, by the ids of the service. */
export const restorationKey = ({ header }: RestoreRequest["backup"]): SyncKey => header.key ?? { by: "id" };

/** Finds the features of a backup on the map. */
export class BackupMatching {
  private readonly byId;
  private readonly byKey;

  private constructor(private readonly request: Matched) {
    const { database } = request.workspace;
    this.byId = database.prepare<[string], KeyedRow>("SELECT * FROM map WHERE id = ?");
    this.byKey = database.prepare<[string], KeyedRow>("SELECT * FROM map WHERE key = ?");
  }

  static async of(request: Matched): Promise<BackupMatching> {
    const { workspace, backup, signal } = request;
    const { scope } = backup.header;
    const key = restorationKey(backup);
    await fillMapKeys(workspace, key, signal);
    if (key.by === "property") await limitKeys(workspace, scope, signal);
    workspace.database.exec("CREATE TABLE met (seq INTEGER PRIMARY KEY)");
    return new BackupMatching(request);
  }

  async survey(): Promise<Survey> {
    const { workspace, backup } = this.request;
    const note = workspace.database.prepare("INSERT OR IGNORE INTO met VALUES (?)");
    let missing = 0;
    let bytes = workspace.database.prepare("SELECT coalesce(sum(length + 1), 0) FROM map").pluck().get() as number;
    for await (const feature of backup.all()) {
      const row = this.rowOf(feature);
      if (row) note.run(row.seq);
      else missing += 1;
      bytes += Buffer.byteLength(JSON.stringify(feature)) + 1;
    }
    const created = await CreatedByRun.find(backup, workspace);
    return { missing, bytes, created, edited: backup.header.backup < 3 ? null : await this.edited() };
  }

  /** How many would be reverted that are not as the run left them. What it deleted, and is there, others have made. */
  private async edited(): Promise<number> {
    const { workspace, backup } = this.request;
    const { database } = workspace;
    database.exec("CREATE TABLE written (id TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID");
    const write = database.prepare("INSERT OR REPLACE INTO written VALUES (?, ?)");
    await inGroups(backup.updates(), workspace, ({ id, digest }) => write.run(id, digest));
    const isAsLeft = database.prepare<[string, string, string, string]>(
      "SELECT 1 FROM written WHERE id = ? AND digest = ? UNION ALL SELECT 1 FROM shown WHERE id = ? AND digest = ?",
    );
    let edited = 0;
    for await (const feature of backup.all()) {
      const row = this.rowOf(feature);
      if (!row || this.isSame(row, feature)) continue;
      const digest = shortDigest(row.digest);
      if (!isAsLeft.get(feature.id, digest, row.id!, digest)) edited += 1;
    }
    return edited;
  }

  /** In the order of a plan. @param isOnePut ids match, and what stays is named with its contents */
  async *actions(isOnePut: boolean, created: CreatedByRun): AsyncGenerator<PlanAction> {
    const { workspace, backup } = this.request;
    for await (const feature of backup.all()) if (!this.rowOf(feature)) yield this.create(feature, isOnePut);
    for await (const feature of backup.all()) {
      const row = this.rowOf(feature);
      if (row && !this.isSame(row, feature)) yield this.revert(row, feature, isOnePut);
    }
    for (const row of created.rows()) yield this.remove(row, isOnePut);
    for await (const feature of backup.all()) {
      const row = this.rowOf(feature);
      if (row && this.isSame(row, feature)) yield this.keep(row, "same", isOnePut);
    }
    const isMet = workspace.database.prepare("SELECT 1 FROM met WHERE seq = ?");
    for (const row of workspace.map.rows())
      if (!isMet.get(row.seq) && !created.has(row)) yield this.keep(row, "only-on-map", isOnePut);
  }

  private create({ id, geometry, properties }: HeldFeature, isOnePut: boolean): PlanAction {
    const feature = { type: "Feature", ...(isOnePut && { id }), geometry, properties } as const;
    const key = isOnePut ? id.toLowerCase() : this.keyOf({ id, type: "Feature", geometry, properties });
    return { action: "create", key, feature, agreement: null };
  }

  private revert(row: KeyedRow, { geometry, properties }: HeldFeature, isOnePut: boolean): PlanAction {
    const before = readHeld(this.request.workspace.map, row);
    const feature = { type: "Feature", geometry, properties } as const;
    const key = isOnePut ? before.id.toLowerCase() : this.keyOf(before);
    const sent = this.digest(feature);
    const agreement = { name: String(key ?? before.id), sent };
    const rounding = roundingOf(this.request.settings.precision);
    const { changed } = wantedOf(feature, before, { rounding, replaceProperties: true });
    return { action: "update", id: before.id, key, page: row.page, changed, before, feature, agreement };
  }

  private remove(row: KeyedRow, isOnePut: boolean): PlanAction {
    const before = readHeld(this.request.workspace.map, row);
    const key = isOnePut ? before.id.toLowerCase() : this.keyOf(before);
    return { action: "delete", id: before.id, key, before };
  }

  private keep(row: KeyedRow, why: "same" | "only-on-map", isOnePut: boolean): PlanAction {
    const held = readHeld(this.request.workspace.map, row);
    const { geometry, properties } = held;
    const key = isOnePut ? held.id.toLowerCase() : this.keyOf(held);
    const contents = isOnePut ? { feature: { type: "Feature", geometry, properties } as const } : {};
    return { action: "keep", why, id: held.id, key, ...contents };
  }

  /** By its id; or by its key, where it was created anew since. */
  private rowOf(feature: HeldFeature): KeyedRow | undefined {
    const byId = this.byId.get(feature.id);
    if (byId || restorationKey(this.request.backup).by !== "property") return byId;
    const key = this.keyOf(feature);
    return key === null ? undefined : this.byKey.get(String(key));
  }

  private keyOf(feature: HeldFeature): RemoteKey | null {
    const key = restorationKey(this.request.backup);
    if (key.by !== "property") return feature.id.toLowerCase();
    const found = keyIn(Object.hasOwn(feature.properties, key.name) ? feature.properties[key.name] : null);
    return isUnfit(found) ? null : found;
  }

  private isSame(row: KeyedRow, feature: HeldFeature): boolean {
    return row.digest === this.digest(feature);
  }

  private digest(feature: Pick<HeldFeature, "geometry" | "properties">): string {
    return digestOf(canonicalFeature(feature, roundingOf(this.request.settings.precision)));
  }
}
