import { canonicalFeature, digestText } from "../../canonical/canonical-feature.js";
import type { KeyedRow } from "../../compare/feature-side.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { RemoteKey } from "../../remote/wire.js";
import { shortDigest } from "../journal/backup.js";
import { fillMapKeys } from "../keys/fill-keys.js";
import { isInvalidKey, parseKey } from "../keys/key-value.js";
import type { MapFeature, PlanAction, SyncKey } from "../plan/plan.js";
import type { RestorePlan, RestoreRequest } from "../plan/plan-restore.js";
import { clearKeysOutOfScope } from "../source/scope.js";
import { ChangedContents } from "./changed-contents.js";
import { CurrentRows } from "./current-rows.js";
import { mergeFeature } from "./merge-feature.js";
import { readMapFeature } from "./read-rows.js";
import { RecreatedFeatures } from "./recreated-features.js";
import { roundingForPrecision } from "./rounding.js";
import { insertInBatches, RunCreations } from "./run-creations.js";

type MatchRequest = Pick<RestoreRequest, "backup" | "workspace" | "settings" | "signal" | "findNewId" | "wasUndone">;

/** How a backup compares with the map. */
export interface BackupMatchCounts {
  /** Number of features missing from the map. */
  readonly missing: number;
  /** Number of missing features that no property identifies. */
  readonly unidentified: number;
  /** Bytes of all features that the map will have. */
  readonly bytes: number;
  readonly created: RunCreations;
  /** `Restoration.edited` */
  readonly edited: number | null;
  /** `RestorePlan.doubtful` */
  readonly doubtful: number;
  /** `RestorePlan.lost` */
  readonly lost: RestorePlan["lost"];
  /** `RestorePlan.newIds` */
  readonly newIds: ReadonlyMap<string, string>;
}

/** How a restore sends its changes. */
export interface RestoreForm {
  /** The plan includes the content of kept features. */
  readonly isOnePut: boolean;
  /** The plan matches features by id. */
  readonly byId: boolean;
}

/** The key that matches the features of a backup; ids of the service if the run did not match features. */
export const backupKey = ({ header }: RestoreRequest["backup"]): SyncKey => header.key ?? { by: "id" };

/** The key of a feature; null if it has none, or is matched by its id. */
export function propertyKeyOf({ properties }: MapFeature, key: SyncKey): RemoteKey | null {
  if (key.by !== "property") return null;
  const found = parseKey(Object.hasOwn(properties, key.name) ? properties[key.name] : null);
  return isInvalidKey(found) ? null : found;
}

/** Finds the features of a backup on the map. */
export class BackupMatcher {
  private readonly currentRows;
  private readonly byKey;
  private readonly bySeq;
  private readonly recreated;
  private readonly changedContents;

  private constructor(private readonly request: MatchRequest) {
    const { database } = request.workspace;
    this.currentRows = new CurrentRows(request.workspace, request.findNewId ?? (() => null));
    this.recreated = new RecreatedFeatures(request.workspace, this.currentRows);
    this.changedContents = new ChangedContents(request.workspace, backupKey(request.backup));
    this.bySeq = database.prepare<[number], KeyedRow>("SELECT * FROM map WHERE seq = ?");
    this.byKey = database.prepare<[string], KeyedRow>("SELECT * FROM map WHERE key = ?");
  }

  static async prepare(request: MatchRequest): Promise<BackupMatcher> {
    const { workspace, backup, signal } = request;
    const { scope } = backup.header;
    const key = backupKey(backup);
    await fillMapKeys(workspace, key, signal);
    if (key.by === "property") await clearKeysOutOfScope(workspace, scope, signal);
    workspace.database.exec("CREATE TABLE matched (seq INTEGER PRIMARY KEY)");
    return new BackupMatcher(request);
  }

  /** @param wasRestored whether the backup is known to have been restored before */
  async countMatches(wasRestored: boolean): Promise<BackupMatchCounts> {
    const { workspace, backup } = this.request;
    const insertMatched = workspace.database.prepare("INSERT OR IGNORE INTO matched VALUES (?)");
    let missing = 0;
    let bytes = workspace.database.prepare("SELECT coalesce(sum(length + 1), 0) FROM map").pluck().get() as number;
    for await (const feature of backup.readFeatures()) {
      const row = this.findRow(feature);
      if (row) insertMatched.run(row.seq);
      else {
        missing += 1;
        if (this.getPropertyKey(feature) === null)
          this.recreated.addMissing({ id: feature.id, digest: this.digest(feature) });
      }
      bytes += Buffer.byteLength(stringifyExactly(feature)) + 1;
    }
    const created = await RunCreations.find(backup, workspace, this.currentRows);
    const recreated = await this.recreated.pair(backup);
    await this.loadWritten();
    const updated = this.recreated.countUpdated();
    const { untouched } = backup.header;
    const count = (table: string) =>
      workspace.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    if (untouched === undefined) {
      // The features with the same content may also be others that the run left.
      workspace.database.exec("DELETE FROM recreated");
      const edited = backup.header.backup < 3 ? null : await this.countEdited();
      const doubtful = recreated + updated;
      const lost = { count: 0, isPresent: false };
      return { missing, unidentified: count("missing"), bytes, created, edited, doubtful, lost, newIds: new Map() };
    }
    workspace.database.exec("INSERT OR IGNORE INTO matched SELECT seq FROM recreated");
    missing -= recreated;
    const unexplained = Math.max(0, workspace.map.count - count("matched") - count("undo") - untouched);
    const unidentified = count("missing") - recreated;
    const doubtful = Math.max(recreated > 0 || wasRestored ? Math.min(unidentified, unexplained) : 0, updated);
    const lost = this.findLost(created, unexplained - doubtful);
    const newIds = await this.findNewIds();
    return { missing, unidentified, bytes, created, edited: await this.countEdited(), doubtful, lost, newIds };
  }

  /**
   * Finds out whether features that the run created may be on the map with other ids.
   * @param unexplained number of map features that neither the run nor a restore explains
   */
  private findLost(created: RunCreations, unexplained: number): RestorePlan["lost"] {
    const count = Math.min(created.gone - created.renewed - created.changed, unexplained);
    if (count <= 0 || this.request.wasUndone) return { count: 0, isPresent: false };
    const equal = backupKey(this.request.backup).by === "property" ? 0 : Math.min(count, created.countEqual());
    return equal > 0 ? { count: equal, isPresent: true } : { count, isPresent: false };
  }

  /** The current ids of features that their key or content identifies. */
  private async findNewIds(): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    for await (const feature of this.request.backup.readFeatures()) {
      const id = this.currentRows.find(feature.id) ? null : this.findRow(feature)?.id;
      if (id) ids.set(feature.id, id);
    }
    return ids;
  }

  private async loadWritten(): Promise<void> {
    const { workspace, backup } = this.request;
    workspace.database.exec("CREATE TABLE written (id TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID");
    const insertWritten = workspace.database.prepare("INSERT OR REPLACE INTO written VALUES (?, ?)");
    await insertInBatches(backup.readIntendedUpdates(), workspace, ({ id, digest }) => insertWritten.run(id, digest));
  }

  /**
   * Counts features to revert that were changed after the run. Features that the run deleted and that exist again were
   * created by other clients.
   */
  private async countEdited(): Promise<number> {
    const { workspace, backup } = this.request;
    const { database } = workspace;
    const isUnchangedSinceRun = database.prepare<[string, string, string, string, string]>(
      "SELECT 1 FROM written WHERE id = ? AND digest = ? UNION ALL SELECT 1 FROM shown WHERE id IN (?, ?) AND digest = ?",
    );
    let edited = 0;
    for await (const feature of backup.readFeatures()) {
      const row = this.findRow(feature);
      if (!row || this.isSame(row, feature)) continue;
      const digest = shortDigest(row.digest);
      if (!isUnchangedSinceRun.get(feature.id, digest, feature.id, row.id!, digest)) edited += 1;
    }
    return edited;
  }

  /** Yields actions in plan order. */
  async *actions(form: RestoreForm, created: RunCreations): AsyncGenerator<PlanAction> {
    const { workspace, backup } = this.request;
    for await (const feature of backup.readFeatures()) if (!this.findRow(feature)) yield this.planCreate(feature, form);
    for await (const feature of backup.readFeatures()) {
      const row = this.findRow(feature);
      if (row && !this.isSame(row, feature)) yield this.planUpdate(row, feature, form);
    }
    for (const row of created.findRows()) yield this.planDelete(row, form);
    for await (const feature of backup.readFeatures()) {
      const row = this.findRow(feature);
      if (row && this.isSame(row, feature)) yield this.planKeep(row, "same", form);
    }
    const isMatched = workspace.database.prepare("SELECT 1 FROM matched WHERE seq = ?");
    for (const row of workspace.map.rows())
      if (!isMatched.get(row.seq) && !created.has(row)) yield this.planKeep(row, "only-on-map", form);
  }

  private planCreate({ id, geometry, properties }: MapFeature, { isOnePut, byId }: RestoreForm): PlanAction {
    const feature = { type: "Feature", ...(isOnePut && { id }), geometry, properties } as const;
    const key = byId ? id.toLowerCase() : this.getKey({ id, type: "Feature", geometry, properties });
    return { action: "create", key, feature, agreement: null };
  }

  private planUpdate(row: KeyedRow, { geometry, properties }: MapFeature, { byId }: RestoreForm): PlanAction {
    const before = readMapFeature(this.request.workspace.map, row);
    const feature = { type: "Feature", geometry, properties } as const;
    const key = byId ? before.id.toLowerCase() : this.getKey(before);
    const sent = this.digest(feature);
    const agreement = { name: String(key ?? before.id), sent };
    const rounding = roundingForPrecision(this.request.settings.precision);
    const { changed } = mergeFeature(feature, before, { rounding, replaceProperties: true });
    this.changedContents.add(row);
    return { action: "update", id: before.id, key, page: row.page, changed, before, feature, agreement };
  }

  private planDelete(row: KeyedRow, { byId }: RestoreForm): PlanAction {
    const before = readMapFeature(this.request.workspace.map, row);
    const key = byId ? before.id.toLowerCase() : this.getKey(before);
    this.changedContents.add(row);
    return { action: "delete", id: before.id, key, before };
  }

  private planKeep(row: KeyedRow, why: "same" | "only-on-map", { isOnePut, byId }: RestoreForm): PlanAction {
    const mapFeature = readMapFeature(this.request.workspace.map, row);
    const { geometry, properties } = mapFeature;
    const key = byId ? mapFeature.id.toLowerCase() : this.getKey(mapFeature);
    const contents = isOnePut ? { feature: { type: "Feature", geometry, properties } as const } : {};
    return { action: "keep", why, id: mapFeature.id, key, ...contents, ...this.changedContents.markOf(row) };
  }

  /** Finds a feature by id; if it was recreated since, by its new id, by key, or without a key by content. */
  private findRow(feature: MapFeature): KeyedRow | undefined {
    const byId = this.currentRows.find(feature.id);
    if (byId) return byId;
    const key = this.getPropertyKey(feature);
    if (key !== null) return this.byKey.get(String(key));
    const seq = this.recreated.findSeq(feature.id);
    return seq === null ? undefined : this.bySeq.get(seq);
  }

  private getKey(feature: MapFeature): RemoteKey | null {
    const { by } = backupKey(this.request.backup);
    return by === "property" ? this.getPropertyKey(feature) : feature.id.toLowerCase();
  }

  private getPropertyKey(feature: MapFeature): RemoteKey | null {
    return propertyKeyOf(feature, backupKey(this.request.backup));
  }

  private isSame(row: KeyedRow, feature: MapFeature): boolean {
    return row.digest === this.digest(feature);
  }

  private digest(feature: Pick<MapFeature, "geometry" | "properties">): string {
    return digestText(canonicalFeature(feature, roundingForPrecision(this.request.settings.precision)));
  }
}
