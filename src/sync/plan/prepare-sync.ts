/** Prepares a synchronization: reads, checks and compares both sides before the first write request. */
import { join } from "node:path";
import type { KeyReader } from "../../compare/feature-side.js";
import { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Loss } from "../../model/report.js";
import { readSnapshot, type Snapshot, type SnapshotSettings } from "../../remote/snapshot/read-snapshot.js";
import { withSpan } from "../../tracing/span.js";
import { isReadingCurrent } from "../apply/map-state-probe.js";
import { diffToPlan } from "../diff/diff-to-plan.js";
import { roundingForPrecision } from "../diff/rounding.js";
import { readCreatesRecords } from "../journal/unconfirmed-creates.js";
import { chooseKey, type KeyChoice } from "../keys/choose-key.js";
import { createKeyReader } from "../keys/key-value.js";
import { type KeyReport, prepareKeys } from "../keys/prepare-keys.js";
import type { SyncRequest } from "../request.js";
import { checkCoordinateOrder } from "../source/coordinate-order.js";
import { findMapIdField } from "../source/id-fields.js";
import { type ReadSource, readIdsFromField, readSource } from "../source/read-source.js";
import { chooseRejectsFile } from "../source/rejects-path.js";
import { checkFilters } from "../source/source-filters.js";
import { findUnmatchedCreates } from "../state/created-feature-matcher.js";
import { type Baseline, hashOfSettings, type MapState, type NewBaselineEntry } from "../state/map-state.js";
import type { ReadonlySyncRun, SyncRun } from "../sync-run.js";
import type { OpenPlan, PlanHeader, PlanMode, SyncKey } from "./plan.js";

/** A plan with its inputs. */
export interface PreparedSync {
  readonly plan: OpenPlan;
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
  /** Null if features are not matched (append). */
  readonly keyChoice: KeyChoice | null;
  readonly keyReport: KeyReport | null;
  /** Notices about the source, for the user. */
  readonly notices: readonly Loss[];
  /** Path of the source's rejects; null if there are none. */
  readonly rejects: string | null;
}

/** Neither side has changed since they were last equal, so they were not compared. */
export interface UnchangedSync {
  readonly source: ReadSource;
  readonly unchanged: true;
}

export const isUnchanged = (found: PreparedSync | UnchangedSync): found is UnchangedSync => "unchanged" in found;

/** Name of the state note with the map's key property. */
const keyNoteName = "key";

/** Path for a plan. */
export interface PlanDestination {
  readonly path: string;
  readonly overwrite: boolean;
}

/**
 * Prepares a plan.
 * @param output path of the plan; by default a temporary file, deleted with the run
 * @throws filters-delete; errors of reading either side, `chooseKey`, `prepareKeys` and `checkCoordinateOrder`
 */
export function prepareSync(
  request: SyncRequest,
  mode: PlanMode,
  run: ReadonlySyncRun,
  output?: PlanDestination,
): Promise<PreparedSync> {
  return withWorkspace(run, async (workspace) => {
    checkFilters(request, mode, mapAddress(run));
    const source = await readSourceTraced(request, run, workspace);
    const snapshot = await withSpan("read map", {}, () =>
      readSnapshot(run.client, workspace, snapshotSettings(request, run)),
    );
    const records = await readCreatesRecords(run, request.scope, workspace);
    const sides = await adoptIdField({ request, mode, run, workspace, source, snapshot });
    const prepared = await compareTraced(sides, output);
    await records.check(prepared.plan);
    return prepared;
  });
}

/** Like `prepareSync`, but skips the comparison if source and map are unchanged since they were equal. */
export function prepareSyncIfChanged(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
): Promise<PreparedSync | UnchangedSync> {
  return withWorkspace(run, async (workspace) => {
    checkFilters(request, mode, mapAddress(run));
    const source = await readSourceTraced(request, run, workspace);
    const syncedState = run.state.getSyncedState(hashSettings(request, mode));
    const isSame = syncedState !== null && syncedState.source === source.fingerprint && source.complete;
    const settings = { ...snapshotSettings(request, run), ifNoneMatch: isSame ? syncedState.etag : null };
    const snapshot = await withSpan("read map", {}, () => readSnapshot(run.client, workspace, settings));
    if (snapshot === null) return { source, unchanged: true };
    const isCurrent = () => isReadingCurrent(run.client, snapshot.etag);
    const records = await readCreatesRecords(run, request.scope, workspace, { isCurrent });
    const sides = await adoptIdField({ request, mode, run, workspace, source, snapshot });
    const prepared = await compareTraced(sides, undefined, (key, entries) =>
      openBaselineFor(run.state, request, key).saveEntries(entries),
    );
    const isById = prepared.keyChoice?.key.by === "id";
    const unmatched = () => findUnmatchedCreates(workspace);
    await records.check(prepared.plan, isById ? unmatched : undefined);
    records.settle(isById && unmatched().next().done === true);
    return prepared;
  });
}

const readSourceTraced = (request: SyncRequest, run: ReadonlySyncRun, workspace: Workspace): Promise<ReadSource> =>
  withSpan("read source", {}, () =>
    readSource(
      request,
      run.context.host,
      workspace,
      run.spool,
      chooseRejectsFile(request, run.client.url, run.client.id),
      knownKeyReader(request, run),
    ),
  );

const mapAddress = ({ client }: ReadonlySyncRun) => ({ service: client.url, map: client.id });

async function withWorkspace<T>({ spool }: ReadonlySyncRun, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await Workspace.create(spool);
  try {
    return await work(workspace);
  } finally {
    workspace[Symbol.dispose]();
  }
}

function snapshotSettings(request: SyncRequest, run: ReadonlySyncRun): SnapshotSettings {
  const { precision, singleRead } = request;
  const { onSnapshotProgress } = run.context;
  return {
    rounding: roundingForPrecision(precision),
    singleRead,
    key: knownKeyReader(request, run),
    ...(onSnapshotProgress ? { onProgress: onSnapshotProgress } : {}),
  };
}

/** Reads the key property during reading if `chooseKey` does not depend on the data. */
function knownKeyReader({ matching }: SyncRequest, { state }: ReadonlySyncRun): KeyReader | undefined {
  const name = matching.by === "property" ? (matching.name ?? state.getNote(keyNoteName)) : null;
  return name === null ? undefined : createKeyReader(name);
}

interface SyncSides {
  readonly request: SyncRequest;
  readonly mode: PlanMode;
  readonly run: ReadonlySyncRun;
  readonly workspace: Workspace;
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
}

/** If a source field contains ids of the map's features, uses them as ids. @throws key-is-id */
async function adoptIdField(sides: SyncSides): Promise<SyncSides> {
  const { request, run, workspace, source, snapshot } = sides;
  const { matching, map } = request;
  const field = await findMapIdField(source, snapshot, workspace);
  if (field === null) return sides;
  const inputs = source.inputs.join(", ");
  if (matching.by === "property" && matching.name === field)
    throw createError("key-is-id", { source: inputs, map, field });
  const { host } = run.context;
  return {
    ...sides,
    source: await readIdsFromField(field, source, request, host, workspace, run.spool, knownKeyReader(request, run)),
  };
}

/** Stores the ids of features that an earlier run created. */
type RememberIds = (key: SyncKey, entries: readonly NewBaselineEntry[]) => void;

const compareTraced = (
  sides: SyncSides,
  output: PlanDestination | undefined,
  rememberIds?: RememberIds,
): Promise<PreparedSync> =>
  withSpan("compare", {}, async (span) => {
    const prepared = await compareSides(sides, output, rememberIds);
    const { create, update, delete: remove } = prepared.plan.counts;
    span.set({ "geoferry.create": create, "geoferry.update": update, "geoferry.delete": remove });
    return prepared;
  });

async function compareSides(
  { request, mode, run, workspace, source, snapshot }: SyncSides,
  output: PlanDestination | undefined,
  rememberIds?: RememberIds,
): Promise<PreparedSync> {
  const { state, client, spool } = run;
  const { signal } = run.context.host;
  const remembered = state.getNote(keyNoteName);
  const keyChoice =
    mode === "append" ? null : await chooseKey(request, source, workspace, snapshot, remembered, signal);
  const key = keyChoice?.key ?? null;
  const keyReport = key && (await prepareKeys(request, source, workspace, key, mode, signal));
  const notices = [...(keyReport?.notices ?? []), ...(await checkCoordinateOrder(request, source, snapshot.extent))];
  const rejects = await source.rejects.publish();
  const plan = await diffToPlan(
    {
      workspace,
      request,
      mode,
      service: client.url,
      key,
      source: planSourceHeader(source, keyReport),
      snapshot,
      baseline: openBaselineFor(state, request, key),
      ...(key && rememberIds ? { onIdsFound: (entries) => rememberIds(key, entries) } : {}),
      signal,
    },
    output ?? { path: join(spool.folder(), "plan.ndjson"), overwrite: false },
  );
  return { plan, source, snapshot, keyChoice, keyReport, notices, rejects };
}

/** Hash of all settings that affect whether both sides count as equal. */
export const hashSettings = (request: SyncRequest, mode: PlanMode): string => {
  const { matching, scope, precision, replaceProperties, unmanaged, onDuplicate, onMissingKey } = request;
  const source = { ...request.source, workers: undefined };
  return hashOfSettings({
    mode,
    source,
    matching,
    scope,
    precision,
    replaceProperties,
    unmanaged,
    onDuplicate,
    onMissingKey,
  });
};

/** Opens the baseline for all settings that affect digests and keys. Assigned ids do not depend on the precision. */
export const openBaselineFor = <B extends Baseline>(
  state: { openBaseline(basis: string, idBasis?: string): B },
  { precision, scope }: Pick<SyncRequest, "precision" | "scope">,
  key: SyncKey | null,
): B => {
  const basis = hashOfSettings({ precision, scope, key });
  return key?.by === "id" ? state.openBaseline(basis, hashOfSettings({ scope, key })) : state.openBaseline(basis);
};

/** Remembers the key of a map after its first use. */
export function rememberKey(state: MapState, choice: KeyChoice | null): void {
  if (choice?.key.by === "property") state.setNote(keyNoteName, choice.key.name);
}

/** The source section of a plan header, after keys were checked; `keys` is null if features are not matched. */
function planSourceHeader(source: ReadSource, keys: KeyReport | null): PlanHeader["source"] {
  const { inputs, fingerprint, rejects, gaps, files, isLimited } = source;
  return {
    inputs,
    fingerprint,
    features:
      source.features - (keys?.removedDuplicates ?? 0) - (keys?.missingKeyRejects ?? 0) - (keys?.keptGeometries ?? 0),
    complete: source.complete && rejects.count === 0,
    rejected: rejects.count,
    unidentified: keys?.unknownRejects ?? rejects.count,
    // The part after `--limit` is unread, in addition to known gaps.
    gaps: gaps.length + (isLimited && rejects.count > 0 ? 1 : 0),
    files,
  };
}
