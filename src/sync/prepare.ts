/** Both sides of a synchronisation, read, checked and compared: all that comes before the first request that writes. */
import { join } from "node:path";
import { fault } from "../errors.js";
import type { Loss } from "../model/report.js";
import type { KeyReader } from "../remote/feature-side.js";
import { type Snapshot, type SnapshotSettings, takeSnapshot } from "../remote/snapshot.js";
import { Workspace } from "../remote/workspace.js";
import { traced } from "../tracing/span.js";
import { classify } from "./classify.js";
import { roundingOf } from "./classify-rounding.js";
import { checkOrder } from "./coordinate-order.js";
import { checkKeys, type KeyReport } from "./key-check.js";
import { chooseKey, type KeyChoice } from "./key-choice.js";
import { keyReader } from "./key-value.js";
import type { OpenPlan, PlanMode, SyncKey } from "./plan.js";
import type { SyncRequest } from "./request.js";
import { type ReadSource, readSource, takeIdsFrom } from "./source.js";
import { checkFilters } from "./source-filters.js";
import { sourceHeader } from "./source-header.js";
import { idFieldOfMap } from "./source-ids.js";
import { type MapState, settingsHash } from "./state.js";
import type { ReadingRun, SyncRun } from "./sync-run.js";

/** A plan and all that led to it. */
export interface Prepared {
  readonly plan: OpenPlan;
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
  /** Null where nothing is matched (append). */
  readonly choice: KeyChoice | null;
  readonly keys: KeyReport | null;
  /** What a person should know of the source. */
  readonly notices: readonly Loss[];
  /** Where the rejects of the source are; null where there are none. */
  readonly rejects: string | null;
}

/** Neither side has changed since they were last found equal: nothing was compared. */
export interface Unchanged {
  readonly source: ReadSource;
  readonly unchanged: true;
}

export const isUnchanged = (found: Prepared | Unchanged): found is Unchanged => "unchanged" in found;

/** Under this name the state remembers the property that was a map's key. */
const keyNote = "key";

/** A file for a plan. */
export interface PlanOutput {
  readonly path: string;
  readonly overwrite: boolean;
}

/**
 * @param output where the plan goes; one that is gone with the run where absent
 * @throws filters-delete; what reading either side throws, and every check of `chooseKey`, `checkKeys` and `checkOrder`
 */
export function prepare(request: SyncRequest, mode: PlanMode, run: ReadingRun, output?: PlanOutput): Promise<Prepared> {
  return inWorkspace(run, async (workspace) => {
    checkFilters(request, mode, namesOf(run));
    const source = await readTraced(request, run, workspace);
    const snapshot = await traced("read map", {}, () =>
      takeSnapshot(run.client, workspace, snapshotSettings(request, run)),
    );
    return compareSides(await knownById({ request, mode, run, workspace, source, snapshot }), output);
  });
}

/** The same, where a source and a map that have not changed since they were found equal are not compared. */
export function prepareIfChanged(request: SyncRequest, mode: PlanMode, run: SyncRun): Promise<Prepared | Unchanged> {
  return inWorkspace(run, async (workspace) => {
    checkFilters(request, mode, namesOf(run));
    const source = await readTraced(request, run, workspace);
    const settled = run.state.settled(settingsOf(request, mode));
    const isSame = settled !== null && settled.source === source.fingerprint && source.complete;
    const settings = { ...snapshotSettings(request, run), ifNoneMatch: isSame ? settled.etag : null };
    const snapshot = await traced("read map", {}, () => takeSnapshot(run.client, workspace, settings));
    if (snapshot === null) return { source, unchanged: true };
    return compareSides(await knownById({ request, mode, run, workspace, source, snapshot }), undefined);
  });
}

const readTraced = (request: SyncRequest, run: ReadingRun, workspace: Workspace): Promise<ReadSource> =>
  traced("read source", {}, () => readSource(request, run.tools.host, workspace, run.spool, knownKey(request, run)));

const namesOf = ({ client }: ReadingRun) => ({ service: client.url, map: client.id });

async function inWorkspace<T>({ spool }: ReadingRun, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await Workspace.create(spool);
  try {
    return await work(workspace);
  } finally {
    workspace[Symbol.dispose]();
  }
}

function snapshotSettings(request: SyncRequest, run: ReadingRun): SnapshotSettings {
  const { precision, trustPages } = request;
  const { onMap } = run.tools;
  return {
    rounding: roundingOf(precision),
    trustPages,
    key: knownKey(request, run),
    ...(onMap ? { onProgress: onMap } : {}),
  };
}

/** The property that `chooseKey` will take, where that is known before either side is read. */
function knownKey({ matching }: SyncRequest, { state }: ReadingRun): KeyReader | undefined {
  const name = matching.by === "property" ? (matching.name ?? state.note(keyNote)) : null;
  return name === null ? undefined : keyReader(name);
}

interface Sides {
  readonly request: SyncRequest;
  readonly mode: PlanMode;
  readonly run: ReadingRun;
  readonly workspace: Workspace;
  readonly source: ReadSource;
  readonly snapshot: Snapshot;
}

/** The sides, with ids of the map's features as such, where the source has them in a field. @throws key-is-id */
async function knownById(sides: Sides): Promise<Sides> {
  const { request, run, workspace, source, snapshot } = sides;
  const { matching, map } = request;
  const field = await idFieldOfMap(source, snapshot, workspace);
  if (field === null) return sides;
  const inputs = source.inputs.join(", ");
  if (matching.by === "property" && matching.name === field) throw fault("key-is-id", { source: inputs, map, field });
  const { host } = run.tools;
  return {
    ...sides,
    source: await takeIdsFrom(field, source, request, host, workspace, run.spool, knownKey(request, run)),
  };
}

const compareSides = (sides: Sides, output: PlanOutput | undefined): Promise<Prepared> =>
  traced("compare", {}, async (span) => {
    const prepared = await compare(sides, output);
    const { create, update, delete: remove } = prepared.plan.counts;
    span.set({ "geoferry.create": create, "geoferry.update": update, "geoferry.delete": remove });
    return prepared;
  });

async function compare(
  { request, mode, run, workspace, source, snapshot }: Sides,
  output: PlanOutput | undefined,
): Promise<Prepared> {
  const { state, client, spool } = run;
  const { signal } = run.tools.host;
  const remembered = state.note(keyNote);
  const choice = mode === "append" ? null : await chooseKey(request, source, workspace, snapshot, remembered, signal);
  const key = choice?.key ?? null;
  const keys = key && (await checkKeys(request, source, workspace, key, mode, signal));
  const notices = [...(keys?.notices ?? []), ...(await checkOrder(request, source, snapshot.extent))];
  const rejects = await source.rejects.publish();
  const plan = await classify(
    {
      workspace,
      request,
      mode,
      service: client.url,
      key,
      source: sourceHeader(source, keys),
      snapshot,
      state: state.compared(basisOf(request, key)),
      signal,
    },
    output ?? { path: join(spool.folder(), "plan.ndjson"), overwrite: false },
  );
  return { plan, source, snapshot, choice, keys, notices, rejects };
}

/** Everything that decides whether two sides that were found equal are so still. */
export const settingsOf = (request: SyncRequest, mode: PlanMode): string => {
  const { matching, scope, precision, replaceProperties, unmanaged, onDuplicate, onMissingKey } = request;
  const source = { ...request.source, workers: undefined };
  return settingsHash({
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
export const basisOf = ({ precision, scope }: Pick<SyncRequest, "precision" | "scope">, key: SyncKey | null): string =>
  settingsHash({ precision, scope, key });

/** The key of a map is remembered once it has been used. */
export function rememberKey(state: MapState, choice: KeyChoice | null): void {
  if (choice?.key.by === "property") state.remember(keyNote, choice.key.name);
}
