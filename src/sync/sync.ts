/**
 * A synchronisation: both sides are read and compared into a plan, the plan is held against the guards, and carried out.
 * What dies on the way is finished by running it again.
 */
import { setTimeout as pause } from "node:timers/promises";
import { asGeoferryError, fault } from "../errors.js";
import { traced } from "../tracing/span.js";
import { agreeOn } from "./agree.js";
import { applyPlan, finishEarlier } from "./apply.js";
import type { ApplyMemory, ApplyReport, ApplyTools } from "./apply-tools.js";
import { Attempts, awaitQuietMap, canReadAgain, preparedWhenSettled } from "./attempts.js";
import { freeBackupPath } from "./backup.js";
import { checkGuards } from "./guards.js";
import { openDoubts } from "./journal-reader.js";
import { isEmptyPlan, type OpenPlan, type PlanMode } from "./plan.js";
import {
  basisOf,
  isUnchanged,
  type PlanOutput,
  type Prepared,
  prepare,
  prepareIfChanged,
  rememberKey,
  settingsOf,
  type Unchanged,
} from "./prepare.js";
import type { SyncRequest } from "./request.js";
import { defaultRejects } from "./source-rejects.js";
import type { Settled } from "./state.js";
import type { ReadingRun, SyncRun } from "./sync-run.js";
import { patchManners } from "./update-manner.js";

/** Who is told of a plan before it is carried out. */
export interface Onlooker {
  /** What an earlier run had deleted to create it anew, and left to be finished, was. */
  onFinished?(earlier: ApplyReport): void;
  /** Before the guards look at it. */
  onPlan(prepared: Prepared): void;
  /** Once the guards let it pass; false leaves the map as it is. */
  confirm(prepared: Prepared): Promise<boolean>;
  /** Another writer changed the map after it was read: this is what was done until then, and both sides are read again. */
  onOvertaken?(report: ApplyReport): void;
}

/** What became of a synchronisation. `applied` is null where there was nothing to do, or nothing was to be done. */
export interface Synchronised {
  readonly found: Prepared | Unchanged;
  readonly applied: ApplyReport | null;
}

/**
 * Where another writer changes the map between reading and writing, both sides are read and compared again once the map
 * is quiet; each plan is held against the guards, together with what was done before, and confirmed.
 * @param mode "delete" removes what the source lists
 * @throws what `prepare` and the guards throw: then nothing was sent. What stops it later is in the report
 */
export async function synchronise(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  onlooker: Onlooker,
): Promise<Synchronised> {
  const attempts = new Attempts();
  for (;;) {
    const { found, applied } = await attempts.after(() => attempt(request, mode, run, onlooker, attempts));
    if (!applied?.overtaken) return { found, applied: attempts.with(applied) };
    if (attempts.count >= request.conflictRetries || !canReadAgain(request))
      return { found, applied: attempts.with(attempts.count > 0 ? contended(applied, attempts, run) : applied) };
    await attempts.add(found, applied);
    onlooker.onOvertaken?.(applied);
    const stop = await awaitQuietMap(run, attempts.count).catch(asGeoferryError);
    if (stop) return { found, applied: attempts.with({ ...applied, ending: stop }) };
  }
}

const contended = (applied: ApplyReport, { count }: Attempts, { client }: SyncRun): ApplyReport => ({
  ...applied,
  ending: fault("map-contended", { service: client.url, map: client.id, tries: count + 1 }),
});

async function attempt(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  onlooker: Onlooker,
  earlierAttempts: Attempts,
): Promise<Synchronised> {
  const rejects = request.source.rejects ?? defaultRejects(request.source.inputs);
  await awaitEarlierRequests(run, request.settle);
  // A file of its own: the one of this run is written anew.
  const earlier = await finishEarlier(applyTools(`${run.client.id}-unfinished.rejects.geojsonl`, run));
  if (earlier?.ending) throw earlier.ending;
  if (earlier) onlooker.onFinished?.(earlier);
  const found = await preparedWhenSettled(() => prepareIfChanged(request, mode, run), request, run);
  if (isUnchanged(found)) return { found, applied: null };
  const { plan, choice } = found;
  onlooker.onPlan(found);
  checkGuards({ header: plan.header, counts: earlierAttempts.together(plan.counts) });
  if (isEmptyPlan(plan.counts)) {
    settle(found, request, mode, run);
    return { found, applied: null };
  }
  if (!(await onlooker.confirm(found))) return { found, applied: null };
  rememberKey(run.state, choice);
  run.state.settle(settingsOf(request, mode), null);
  const { asPlanned, ...applied } = await carryOut(plan, rejects, run);
  if (asPlanned) run.state.settle(settingsOf(request, mode), settledOf(found, applied.etag));
  return { found, applied };
}

/**
 * The plan, which guards have not looked at yet, and nothing sent.
 * @param output where the plan goes; one that is gone with the run where absent
 * @throws what `prepare` throws
 */
export async function rehearse(
  request: SyncRequest,
  mode: PlanMode,
  run: ReadingRun,
  output?: PlanOutput,
): Promise<Prepared> {
  await awaitEarlierRequests(run, request.settle);
  return prepare(request, mode, run, output);
}

/** What was done, and whether the map is thereby all that the plan makes of it. */
export interface CarriedOut extends ApplyReport {
  readonly asPlanned: boolean;
}

/** Carries out a plan whose guards let it pass, and keeps what both sides agree on then. */
export async function carryOut(plan: OpenPlan, rejects: string, run: SyncRun): Promise<CarriedOut> {
  const { settings, key } = plan.header;
  const agreed = run.state.compared(basisOf(settings, key));
  let isAgreed = false;
  const report = await traced("apply", {}, () =>
    applyPlan(plan, {
      ...applyTools(rejects, run),
      onReadBack: async (after, record) => {
        isAgreed = await agreeOn(plan, after, agreed, record);
      },
    }),
  );
  return { ...report, asPlanned: isAgreed && isWhole(report) };
}

function applyTools(rejects: string, run: SyncRun): ApplyTools {
  const { tools, client, spool, folder } = run;
  return {
    client,
    spool,
    folder,
    memory: patchMemory(run),
    traffic: tools.traffic,
    signal: tools.host.signal,
    backup: freeBackupPath(tools.backup ?? ".", client.id, tools.host.now),
    rejects,
    ...(tools.onApply ? { onProgress: tools.onApply } : {}),
  };
}

/** Requests of an earlier run that nobody heard of may still be under way: the map is read when they have ended. */
export async function awaitEarlierRequests({ folder, tools }: ReadingRun, settleTime: number): Promise<void> {
  const doubts = await openDoubts(folder);
  if (doubts === null) return;
  const left = doubts.since.getTime() + settleTime - Date.now();
  await pause(Math.max(0, Math.min(left, settleTime)), undefined, { signal: tools.host.signal }).catch(() => {
    throw fault("interrupted", {});
  });
}

/** Both sides are equal as they are: this is kept, so that the next run need not look. */
function settle(found: Prepared, request: SyncRequest, mode: PlanMode, { state }: SyncRun): void {
  rememberKey(state, found.choice);
  state.settle(settingsOf(request, mode), settledOf(found, found.snapshot.etag));
}

/** Null where the next run has to look: also where it has rejects to tell of again. */
const settledOf = ({ source }: Prepared, etag: string | null): Settled | null =>
  etag === null || source.rejects.count > 0 ? null : { etag, source: source.fingerprint };

/** Everything that was planned was done. */
const isWhole = ({ ending, failed, unknown, withheld }: ApplyReport): boolean =>
  ending === null && withheld === null && failed + unknown === 0;

/** Under this name the state remembers how the service updates nested values. */
const mannerNote = "patch-manner";

const patchMemory = ({ state }: SyncRun): ApplyMemory => ({
  get patchManner() {
    return patchManners.find((manner) => manner === state.note(mannerNote)) ?? null;
  },
  rememberManner: (manner) => state.remember(mannerNote, manner),
});
