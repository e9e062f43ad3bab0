/** Both sides of a synchronisation, read, checked and compared: all that comes before the first request that writes. */
import { join } from "node:path";
import { createError } from "../../errors.js";
import type { Loss } from "../../model/report.js";
import type { KeyReader } from "../../remote/snapshot/feature-side.js";
import { readSnapshot, type Snapshot, type SnapshotSettings } from "../../remote/snapshot/read-snapshot.js";
import { Workspace } from "../../remote/snapshot/workspace.js";
import { withSpan } from "../../tracing/span.js";
import { diffToPlan } from "../diff/diff-to-plan.js";
import { roundingForPrecision } from "../diff/rounding.js";
import { chooseKey, type KeyChoice } from "../keys/choose-key.js";
import { createKeyReader } from "../keys/key-value.js";
import { type KeyReport, prepareKeys } from "../keys/prepare-keys.js";
import type { SyncRequest } from "../request.js";
import { checkCoordinateOrder } from "../source/coordinate-order.js";
import { findMapIdField } from "../source/id-fields.js";
import { planSourceHeader } from "../source/plan-source-header.js";
import { type ReadSource, readIdsFromField, readSource } from "../source/read-source.js";
import { checkFilters } from "../source/source-filters.js";
import { hashOfSettings, type MapState } from "../state/map-state.js";
import type { ReadonlySyncRun, SyncRun } from "../sync-run.js";
import type { OpenPlan, PlanMode, SyncKey } from "./plan.js";

/** A plan and all that led to it. */
export interface PreparedSync {
  readonly plan: OpenPlan;
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
  /** Null where nothing is matched (append). */
  readonly keyChoice: KeyChoice | null;
  readonly keyReport: KeyReport | null;
  /** What a person should know of the source. */
  readonly notices: readonly Loss[];
  /** Where the rejects of the source are; null where there are none. */
  readonly rejects: string | null;
}

/** Neither side has changed since they were last found equal: nothing was compared. */
export interface UnchangedSync {
  readonly source: ReadSource;
  readonly unchanged: true;
}

export const isUnchanged = (found: PreparedSync | UnchangedSync): found is UnchangedSync => "unchanged" in found;

/** Under this name the state remembers the property that was a map's key. */
const keyNoteName = "key";

/** A file for a plan. */
export interface PlanDestination {
  readonly path: string;
  readonly overwrite: boolean;
}

/**
 * @param output where the plan goes; one that is gone with the run where absent
 * @throws filters-delete; what reading either side throws, and every check of `chooseKey`, `checkKeys` and `checkOrder`
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
    return compareTraced(await adoptIdField({ request, mode, run, workspace, source, snapshot }), output);
  });
}

/** The same, where a source and a map that have not changed since they were found equal are not compared. */
export function prepareSyncIfChanged(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
): Promise<PreparedSync | UnchangedSync> {
  return withWorkspace(run, async (workspace) => {
    checkFilters(request, mode, mapAddress(run));
    const source = await readSourceTraced(request, run, workspace);
    const settled = run.state.getSyncedState(hashSettings(request, mode));
    const isSame = settled !== null && settled.source === source.fingerprint && source.complete;
    const settings = { ...snapshotSettings(request, run), ifNoneMatch: isSame ? settled.etag : null };
    const snapshot = await withSpan("read map", {}, () => readSnapshot(run.client, workspace, settings));
    if (snapshot === null) return { source, unchanged: true };
    return compareTraced(await adoptIdField({ request, mode, run, workspace, source, snapshot }), undefined);
  });
}

const readSourceTraced = (request: SyncRequest, run: ReadonlySyncRun, workspace: Workspace): Promise<ReadSource> =>
  withSpan("read source", {}, () =>
    readSource(request, run.context.host, workspace, run.spool, knownKeyReader(request, run)),
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

/** The property that `chooseKey` will take, where that is known before either side is read. */
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

/** The sides, with ids of the map's features as such, where the source has them in a field. @throws key-is-id */
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

const compareTraced = (sides: SyncSides, output: PlanDestination | undefined): Promise<PreparedSync> =>
  withSpan("compare", {}, async (span) => {
    const prepared = await compareSides(sides, output);
    const { create, update, delete: remove } = prepared.plan.counts;
    span.set({ "geoferry.create": create, "geoferry.update": update, "geoferry.delete": remove });
    return prepared;
  });

async function compareSides(
  { request, mode, run, workspace, source, snapshot }: SyncSides,
  output: PlanDestination | undefined,
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
      baseline: state.openBaseline(hashComparisonSettings(request, key)),
      signal,
    },
    output ?? { path: join(spool.folder(), "plan.ndjson"), overwrite: false },
  );
  return { plan, source, snapshot, keyChoice, keyReport, notices, rejects };
}

/** Everything that decides whether two sides that were found equal are so still. */
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

/** Everything that digests and keys depend on. */
export const hashComparisonSettings = (
  { precision, scope }: Pick<SyncRequest, "precision" | "scope">,
  key: SyncKey | null,
): string => hashOfSettings({ precision, scope, key });

/** The key of a map is remembered once it has been used. */
export function rememberKey(state: MapState, choice: KeyChoice | null): void {
  if (choice?.key.by === "property") state.setNote(keyNoteName, choice.key.name);
}
