/**
 * Undoes a run with its backup. Reverts features that the map still has, by id or key; creates missing ones; deletes
 * features that the run created, if they are unchanged since; keeps all others.
 */
import { join, resolve } from "node:path";
import { Workspace } from "../../compare/workspace.js";
import { formatCount } from "../../format-count.js";
import type { MapClient } from "../../remote/client/map-client.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import { strongEtag } from "../apply/etag-chain.js";
import type { MapReread } from "../apply/map-reread.js";
import { CurrentRows, type FindNewId } from "../diff/current-rows.js";
import { putLimits } from "../diff/diff-to-plan.js";
import { BackupMatcher, backupKey, propertyKeyOf } from "../diff/match-backup.js";
import { roundingForPrecision } from "../diff/rounding.js";
import type { RunCreations } from "../diff/run-creations.js";
import type { OpenBackup } from "../journal/backup-reader.js";
import { readCreatesRecords } from "../journal/unconfirmed-creates.js";
import { waitForEarlierRequests } from "../journal/wait-for-earlier-requests.js";
import { CreatedFeatureMatcher } from "../state/created-feature-matcher.js";
import type { ReadonlySyncRun, SyncRun } from "../sync-run.js";
import type { TrippedGuard } from "./guards.js";
import { type OpenPlan, type PlanFileHeader, type PlanHeader, planVersion, type SyncKey } from "./plan.js";
import { PlanWriter } from "./plan-writer.js";

export interface RestoreRequest {
  readonly backup: OpenBackup;
  readonly client: MapClient;
  /** Receives the snapshot of the map. */
  readonly workspace: Workspace;
  readonly settings: Omit<PlanHeader["settings"], "scope" | "replaceProperties" | "unmanaged">;
  readonly signal?: AbortSignal;
  /** Path of the plan to write. */
  readonly output: string;
  /** Whether an earlier restore of this backup is known to have created features. */
  readonly wasRestored?: boolean;
  /** Whether an earlier restore of this backup is known to have deleted what the run created. */
  readonly wasUndone?: boolean;
  /** Finds the new ids of features that later restores recreated. */
  readonly findNewId?: FindNewId;
}

/** What a restore would do, reported before it runs. */
export interface RestorePlan {
  readonly plan: OpenPlan;
  /**
   * Ids of the created features. "old": one PUT sends the original ids, the only request that can name ids unknown to
   * the map, although a service may still assign new ones. Null if none is created.
   */
  readonly ids: "old" | "new" | null;
  /** Features that the run created, and which of them stay. */
  readonly created: Pick<RunCreations, "count" | "changed" | "unknown" | "renewed">;
  /**
   * Features to revert that match neither the state before nor after the run, so another client edited them since. Null
   * if the backup does not record the state after the run (before version 3).
   */
  readonly edited: number | null;
  /**
   * Features to create that may be on the map already, with a new id and edited since. For backups before version 4:
   * those with the same content as a feature on the map, since the backup does not record whether the run left it.
   */
  readonly doubtful: number;
  /**
   * Features that the run created and that may be on the map with ids that no restore recorded, so that they stay.
   * `isPresent`: the map has as many with the same content; otherwise it has others that nothing explains.
   */
  readonly lost: { readonly count: number; readonly isPresent: boolean };
  /** Current ids of features of the backup that their key or content identifies, by their old ones. */
  readonly newIds: ReadonlyMap<string, string>;
}

/** A restore of a map whose features that earlier runs created are all known. */
export interface PreparedRestore extends RestorePlan {
  /** To be called before the restore is applied. */
  readonly settleRecords: () => void;
}

/** Finds guards of a restore in addition to those of its plan. */
export function findEditGuards(
  { edited, doubtful, created, lost }: Pick<RestorePlan, "edited" | "doubtful" | "created" | "lost">,
  overwriteEdits: boolean,
): TrippedGuard[] {
  if (overwriteEdits) return [];
  const doubts = `${formatCount(doubtful, "feature")} to create may be on the map already, recreated by an earlier restore and possibly edited since; --overwrite-edits creates ${doubtful === 1 ? "it" : "them"}`;
  const renewed = `${formatCount(created.renewed, "feature")} with the key and content of those that the run created ${created.renewed === 1 ? "has another id" : "have other ids"}, so ${created.renewed === 1 ? "it was" : "they were"} deleted and created again after the run; --overwrite-edits deletes ${created.renewed === 1 ? "it" : "them"}`;
  const equal = `${formatCount(lost.count, "feature")} that the run created may be on the map with ${lost.count === 1 ? "a new id" : "new ids"} that the state does not record: the map has as many with the same content; --overwrite-edits undoes the rest of the run, and keeps ${lost.count === 1 ? "it" : "them"}`;
  const doubtGuards = [
    ...(doubtful > 0 ? [doubts] : []),
    ...(created.renewed > 0 ? [renewed] : []),
    ...(lost.isPresent ? [equal] : []),
  ].map((reason) => ({ guard: "later-edits", reason }) as const);
  if (edited === null || edited === 0) return doubtGuards;
  const reason = `${formatCount(edited, "feature")} ${edited === 1 ? "was" : "were"} edited after the run, and the restore would overwrite ${edited === 1 ? "that edit" : "those edits"}; --overwrite-edits allows it`;
  return [{ guard: "later-edits", reason }, ...doubtGuards];
}

/**
 * Creates the plan of a restore.
 * @throws remote-changed-during-read, output-exists, output-failed, backup-invalid; errors of `MapClient.page`
 */
export async function planRestore(request: RestoreRequest): Promise<RestorePlan> {
  const { client, workspace, output, backup } = request;
  const settings = { ...request.settings, precision: backup.header.precision ?? request.settings.precision };
  const rounding = roundingForPrecision(settings.precision);
  const { singleRead } = settings;
  const snapshot = await readSnapshot(client, workspace, { rounding, singleRead });
  const matcher = await BackupMatcher.prepare({ ...request, settings });
  const { missing, unidentified, bytes, created, edited, doubtful, lost, newIds } = await matcher.countMatches(
    request.wasRestored ?? false,
  );
  const isOnePut = missing > 0 && fitsGuardedPut(snapshot, missing - created.count, bytes);
  // A plan with a property as its key expects it on each feature that it creates.
  const key: SyncKey = isOnePut || unidentified > 0 ? { by: "id" } : backupKey(backup);
  await using writer = await PlanWriter.create(output, createHeader({ ...request, settings }, snapshot, key), false);
  for await (const action of matcher.actions({ isOnePut, byId: key.by === "id" }, created)) await writer.add(action);
  const plan = await writer.finish(() => isOnePut);
  const ids = missing === 0 ? null : isOnePut ? "old" : "new";
  return { plan, ids, created, edited, doubtful, lost, newIds };
}

/** Creates the plan within a run on a map. @throws errors of `planRestore` */
export async function prepareRestore(
  backup: OpenBackup,
  settings: RestoreRequest["settings"],
  run: ReadonlySyncRun,
): Promise<PreparedRestore> {
  await waitForEarlierRequests(run, settings.settleTime);
  const { client, spool, context } = run;
  const workspace = await Workspace.create(spool);
  try {
    const output = join(spool.folder(), "plan.ndjson");
    const wasRestored = run.state.getNote(restoredNote(backup)) !== null;
    const { signal } = context.host;
    const wasUndone = run.state.getNote(undoneNote(backup)) !== null;
    const known = { wasRestored, wasUndone, findNewId: (id: string) => run.state.getNewId(id) };
    const planned = await planRestore({ backup, client, workspace, settings, signal, output, ...known });
    // It would leave features that the map does not show yet.
    const undone = resolve(backup.path);
    const records = await readCreatesRecords(run, backup.header.scope, workspace, { undone });
    await records.check(planned.plan);
    return { ...planned, settleRecords: () => records.settle(false) };
  } finally {
    workspace[Symbol.dispose]();
  }
}

const restoredNote = ({ sha256 }: OpenBackup): string => `restored ${sha256}`;

/** Set once all that the run created is deleted, unlike `restoredNote`. */
const undoneNote = ({ sha256 }: OpenBackup): string => `undone ${sha256}`;

/** Remembers that a restore creates features, and the new ids that earlier ones gave them, before it is applied. */
export function noteRestore(backup: OpenBackup, { plan, newIds }: RestorePlan, { state }: SyncRun): void {
  state.setNewIds(newIds);
  if (plan.counts.create > 0) state.setNote(restoredNote(backup), new Date().toISOString());
}

/** Remembers that a restore was completely applied. */
export function noteUndone(backup: OpenBackup, { lost }: RestorePlan, { state }: SyncRun): void {
  if (lost.count === 0) state.setNote(undoneNote(backup), new Date().toISOString());
}

/**
 * Remembers the ids that the service gave to recreated features, so that the restore of an earlier run finds them.
 * @param after the map as read after a restore has created features
 */
export async function recordNewIds(
  backup: OpenBackup,
  { plan }: RestorePlan,
  { workspace }: Pick<MapReread, "workspace">,
  { state }: SyncRun,
): Promise<void> {
  const rows = new CurrentRows(workspace, (id) => state.getNewId(id));
  const rounding = roundingForPrecision(plan.header.settings.precision);
  const { by } = backupKey(backup);
  const byKey = workspace.database.prepare<[string], { readonly id: string }>("SELECT id FROM map WHERE key = ?");
  const byContent =
    by === "id" || plan.header.key?.by === "id" ? await CreatedFeatureMatcher.create(plan, workspace, rounding) : null;
  let ids = new Map<string, string>();
  for await (const feature of backup.readFeatures()) {
    if (rows.find(feature.id)) continue;
    const key = propertyKeyOf(feature, backupKey(backup));
    const found = byContent ? byContent.find(feature) : key === null ? undefined : byKey.get(String(key));
    if (found) ids.set(feature.id, found.id!);
    if (ids.size < idsAtOnce) continue;
    state.setNewIds(ids);
    ids = new Map();
  }
  state.setNewIds(ids);
}

/** Recorded in one transaction. */
const idsAtOnce = 1000;

/** Describes the restore, one sentence per line. */
export function describeRestore({ plan: { header, counts }, ids, created, edited, lost }: RestorePlan): string[] {
  const features = (count: number) => (count === 1 ? "1 feature" : `${count} features`);
  const withIds: Readonly<Record<"old" | "new", string>> = {
    old: "with their old ids, if the service accepts ids in a full synchronization (one PUT of the whole map)",
    new: "with new ids: the map is too large for one conditional PUT, or has no entity tag",
  };
  return [
    `map ${header.map} of ${header.service}, from ${header.source.inputs.join(", ")}:`,
    ...(ids ? [`${features(counts.create)} missing from the map will be created ${withIds[ids]}`] : []),
    `${features(counts.update)} will be reverted, geometry and properties`,
    ...(edited === null && counts.update > 0
      ? ["the backup does not record what the run wrote to them, so later edits cannot be detected and are overwritten"]
      : []),
    ...(edited ? [`of these, ${features(edited)} ${edited === 1 ? "was" : "were"} edited after the run`] : []),
    ...(counts.delete > 0
      ? [`${features(counts.delete)} that the run created and that are unchanged since will be deleted`]
      : []),
    ...(created.changed > 0
      ? [`${features(created.changed)} that the run created will be kept, since they were changed after the run`]
      : []),
    ...(created.unknown > 0
      ? [
          `${features(created.unknown)} may have been created by requests without a response; they have no key, so they are kept if they are on the map`,
        ]
      : []),
    ...(lost.count > 0
      ? [
          `the map lacks the ids of ${features(lost.count)} that the run created; if they were deleted and created again since, they stay`,
        ]
      : []),
    `${features(counts.same)} of the backup and ${features(counts.onlyOnMap)} not in it will not change`,
  ];
}

/** Requires a precondition, so that a concurrent write fails the PUT instead of losing data. */
const fitsGuardedPut = ({ etag, features }: Snapshot, missingCount: number, bytes: number): boolean =>
  etag !== null &&
  strongEtag(etag) !== null &&
  features + missingCount <= putLimits.features &&
  bytes <= putLimits.bytes;

function createHeader({ backup, client, settings }: RestoreRequest, snapshot: Snapshot, key: SyncKey) {
  const { path, size, sha256, features } = backup;
  const { etag, fingerprint } = snapshot;
  const named = backupKey(backup);
  return {
    type: "plan",
    version: planVersion,
    service: client.url,
    map: client.id,
    mode: "incremental",
    key,
    ...(backup.header.untouched !== undefined && { comparesCreates: true }),
    ...(key.by === "id" && named.by === "property" && { backupKey: named }),
    settings: { ...settings, scope: backup.header.scope, replaceProperties: true, unmanaged: "keep" },
    source: {
      inputs: [path],
      fingerprint: sha256,
      features,
      complete: true,
      rejected: 0,
      unidentified: 0,
      gaps: 0,
      files: [{ path, size, sha256 }],
    },
    snapshot: { etag, fingerprint, features: snapshot.features },
  } satisfies PlanFileHeader;
}
