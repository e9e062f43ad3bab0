/**
 * Undoes a run by its backup. Features that the map has still, by id or by key, are reverted to what they were; those
 * that it lacks are created; what the run created is deleted where it is as the run left it; all others stay as they are.
 */
import { join } from "node:path";
import { formatCount } from "../../format-count.js";
import type { MapClient } from "../../remote/client/map-client.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import { Workspace } from "../../remote/snapshot/workspace.js";
import { strongEtag } from "../apply/etag-chain.js";
import { putLimits } from "../diff/diff-to-plan.js";
import { BackupMatcher, backupKey } from "../diff/match-backup.js";
import { roundingForPrecision } from "../diff/rounding.js";
import type { RunCreations } from "../diff/run-creations.js";
import type { OpenBackup } from "../journal/backup-reader.js";
import { waitForEarlierRequests } from "../sync.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import type { TrippedGuard } from "./guards.js";
import { type OpenPlan, type PlanFileHeader, type PlanHeader, planVersion, type SyncKey } from "./plan.js";
import { PlanWriter } from "./plan-writer.js";

export interface RestoreRequest {
  readonly backup: OpenBackup;
  readonly client: MapClient;
  /** Its map side is filled. */
  readonly workspace: Workspace;
  readonly settings: Omit<PlanHeader["settings"], "scope" | "replaceProperties" | "unmanaged">;
  readonly signal?: AbortSignal;
  /** Where the plan goes. */
  readonly output: string;
}

/** What a restoration would do, to be said before it is done. */
export interface RestorePlan {
  readonly plan: OpenPlan;
  /**
   * What ids the features get that are created: the old ones go with them in one PUT, which alone can name an id that a
   * map does not have (and a service may give new ones all the same), or new ones; null where none is created.
   */
  readonly ids: "old" | "new" | null;
  /** What the run created, and what of it stays. */
  readonly created: Pick<RunCreations, "count" | "changed" | "unknown">;
  /**
   * Features that would be reverted and are neither as they were before the run nor as it left them: somebody has edited
   * them since. Null where the backup does not say how the run left them (before version 3).
   */
  readonly edited: number | null;
}

/** What does not let a restoration pass beside the guards of its plan. */
export function findEditGuards({ edited }: Pick<RestorePlan, "edited">, overwriteEdits: boolean): TrippedGuard[] {
  if (edited === null || edited === 0 || overwriteEdits) return [];
  const reason = `${formatCount(edited, "feature")} ${edited === 1 ? "was" : "were"} edited after the run, and the restoration would overwrite ${edited === 1 ? "that edit" : "those edits"}; --overwrite-edits allows it`;
  return [{ guard: "later-edits", reason }];
}

/**
 * Makes the plan of a restoration.
 * @throws remote-changed-during-read, output-exists, output-failed, backup-invalid; what `MapClient.page` throws
 */
export async function planRestore(request: RestoreRequest): Promise<RestorePlan> {
  const { client, workspace, output, backup } = request;
  const settings = { ...request.settings, precision: backup.header.precision ?? request.settings.precision };
  const rounding = roundingForPrecision(settings.precision);
  const { singleRead } = settings;
  const snapshot = await readSnapshot(client, workspace, { rounding, singleRead });
  const matching = await BackupMatcher.prepare({ ...request, settings });
  const { missing, bytes, created, edited } = await matching.countMatches();
  const isOnePut = missing > 0 && fitsGuardedPut(snapshot, missing - created.count, bytes);
  const key: SyncKey = isOnePut ? { by: "id" } : backupKey(backup);
  await using writer = await PlanWriter.create(output, createHeader({ ...request, settings }, snapshot, key), false);
  for await (const action of matching.actions(isOnePut, created)) await writer.add(action);
  const plan = await writer.finish(() => isOnePut);
  return { plan, ids: missing === 0 ? null : isOnePut ? "old" : "new", created, edited };
}

/** The same in a run on a map. @throws what `planRestoration` throws */
export async function prepareRestore(
  backup: OpenBackup,
  settings: RestoreRequest["settings"],
  run: ReadonlySyncRun,
): Promise<RestorePlan> {
  await waitForEarlierRequests(run, settings.settleTime);
  const { client, spool, context } = run;
  const workspace = await Workspace.create(spool);
  try {
    const output = join(spool.folder(), "plan.ndjson");
    return await planRestore({ backup, client, workspace, settings, signal: context.host.signal, output });
  } finally {
    workspace[Symbol.dispose]();
  }
}

/** What it will do, a sentence a line. */
export function describeRestore({ plan: { header, counts }, ids, created, edited }: RestorePlan): string[] {
  const features = (count: number) => (count === 1 ? "1 feature" : `${count} features`);
  const withIds: Readonly<Record<"old" | "new", string>> = {
    old: "with their old ids, where the service heeds those of a full synchronisation (one PUT of the whole map)",
    new: "with new ids, since the service gives ids to what is created and the map is too large, or has no entity tag, for one guarded PUT",
  };
  return [
    `map ${header.map} of ${header.service}, from ${header.source.inputs.join(", ")}:`,
    ...(ids ? [`${features(counts.create)} that the map has no more will be created ${withIds[ids]}`] : []),
    `${features(counts.update)} will be as they were, geometry and properties`,
    ...(edited === null && counts.update > 0
      ? [
          "the backup does not say what the run wrote to them: edits made since cannot be told apart and are overwritten",
        ]
      : []),
    ...(edited ? [`of these, ${features(edited)} ${edited === 1 ? "was" : "were"} edited after the run`] : []),
    ...(counts.delete > 0
      ? [`${features(counts.delete)} that the run created and that nothing has changed since will be deleted`]
      : []),
    ...(created.changed > 0
      ? [`${features(created.changed)} that the run created will stay, since they were changed after the run`]
      : []),
    ...(created.unknown > 0
      ? [
          `${features(created.unknown)} may have been created by requests without an answer; nothing identifies them, so they stay if they are on the map`,
        ]
      : []),
    `${features(counts.same)} of the backup and ${features(counts.onlyOnMap)} that it does not have stay as they are`,
  ];
}

/** A condition makes it safe to name everything: what others create meanwhile is not deleted, but the PUT refused. */
const fitsGuardedPut = ({ etag, features }: Snapshot, more: number, bytes: number): boolean =>
  etag !== null && strongEtag(etag) !== null && features + more <= putLimits.features && bytes <= putLimits.bytes;

function createHeader({ backup, client, settings }: RestoreRequest, snapshot: Snapshot, key: SyncKey) {
  const { path, size, sha256, features } = backup;
  const { etag, fingerprint } = snapshot;
  return {
    type: "plan",
    version: planVersion,
    service: client.url,
    map: client.id,
    mode: "incremental",
    key,
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
