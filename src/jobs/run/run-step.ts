/** Runs one step of a job, with retries. */
import { setTimeout as pause } from "node:timers/promises";
import { createError, type GeoferryError } from "../../errors.js";
import { redact, redactInputs } from "../../io/redact.js";
import { networkSettings, withNetworkSettings } from "../../network-settings.js";
import { leftOutNotice } from "../../pipeline/input/expand-inputs.js";
import type { Registry } from "../../plugin/registry.js";
import { maxDurationMs } from "../file/value-kinds.js";
import type { Step, SyncStep } from "../job.js";
import {
  type Findings,
  findRegressions,
  mergeFindingLists,
  mergeRegressions,
  toFindingLists,
} from "../report/findings.js";
import { replaceFlagsByKeys, replaceFlagsInItem } from "../report/job-keys.js";
import {
  emptyFindingLists,
  type ItemReport,
  type StepReport,
  type SyncedItem,
  sumCounts,
  toErrorReport,
  toGeoferryError,
  worstResult,
} from "../report/run-report.js";
import { convertStep } from "../steps/convert-step.js";
import { isRepeatable, transientKinds } from "../steps/repeatable.js";
import { runSyncStep } from "../steps/sync-step.js";
import type { DispatchContext } from "./dispatch-context.js";
import type { JobState } from "./job-state.js";
import type { StepContext } from "./step-context.js";

/** @param dependent the sync step that may be dispatched together with this one */
export async function runStep(
  step: Step,
  state: JobState,
  context: DispatchContext,
  dependent: SyncStep | null,
): Promise<StepReport> {
  const [startedAt, start] = [new Date(), performance.now()];
  const { signal: stopped } = context.host;
  const timeout = step.timeout === null ? null : AbortSignal.timeout(step.timeout);
  const signal = timeout ? AbortSignal.any([stopped, timeout]) : stopped;
  const onNotice = (sentence: string) => context.onNotice(replaceFlagsByKeys(sentence));
  let leftOut: readonly string[] = [];
  const onLeftOut = (paths: readonly string[]) => {
    leftOut = paths;
  };
  const within = {
    ...context,
    host: { ...context.host, signal, rewriteMessage: replaceFlagsByKeys, onLeftOut },
    onNotice,
  };
  /** Outputs of earlier attempts. */
  const finishedOutputs = new Set<string>();
  let items: readonly ItemReport[] = [];
  let attempts = 0;
  for (let delay = step.retryDelay; ; delay = Math.min(delay * 2, maxDurationMs)) {
    attempts++;
    const attempted = await withNetworkSettings(step.network, () =>
      attempt(
        step,
        state,
        { ...within, traffic: { ...within.traffic, ...networkSettings() } },
        finishedOutputs,
        dependent,
      ),
    );
    items = mergeItems(items, attempted.items.map(replaceFlagsInItem));
    // In a distributed run the queue retries jobs.
    if (context.distributedRun && !attempted.isStopped)
      attempts = Math.max(attempts, context.distributedRun.getAttempts(step.name));
    const canRetry = context.distributedRun ? attempted.isStopped : true;
    const kinds = items.flatMap(({ error }) => (error ? [error.kind] : []));
    if (!canRetry || attempts > step.retries || signal.aborted || context.dryRun) break;
    if (!kinds.some((kind) => isRepeatable(step, kind))) break;
    context.onNotice(`${step.name}: ${worstError(items)!.message}; retrying in ${delay / 1000} s`);
    await pause(delay, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
  }
  if (timeout?.aborted && !stopped.aborted) items = items.map((item) => withTimeoutError(item, step));
  return {
    name: step.name,
    result: worstResult(items.map(({ result }) => result)),
    error: worstError(items),
    attempts,
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - start) / 1000,
    counts: sumCounts(items.map(({ counts }) => counts)),
    ...mergeFindingLists([...items, toFindingLists([], leftOut.length > 0 ? [leftOutNotice(leftOut)] : [], [])]),
    regressions: mergeRegressions(items.map(({ regressions }) => regressions)),
    items,
  };
}

/** The report of a step that was not started. @param need the failed step that it needs; null after an interruption */
export function skippedStep({ name }: Step, need: string | null): StepReport {
  const error = need === null ? createError("interrupted", {}) : createError("step-skipped", { step: name, need });
  const result = need === null ? "failed" : "skipped";
  const startedAt = new Date().toISOString();
  return {
    name,
    result,
    error: toErrorReport(error),
    attempts: 0,
    startedAt,
    seconds: 0,
    counts: {},
    ...emptyFindingLists,
    items: [],
  };
}

/** `isStopped`: the attempt failed before its first item was started. */
interface AttemptResult {
  readonly items: readonly ItemReport[];
  readonly isStopped: boolean;
}

async function attempt(
  step: Step,
  state: JobState,
  context: DispatchContext,
  finishedOutputs: Set<string>,
  dependent: SyncStep | null,
): Promise<AttemptResult> {
  try {
    const items =
      step.kind === "conversion"
        ? await convertStep(step, state, context, finishedOutputs, dependent)
        : [compareWithLastRun(step, state, context, await runSyncStep(step, context))];
    return { items, isStopped: false };
  } catch (error) {
    return {
      items: [failedItem(step, toGeoferryError(error, context.host.signal), context.host.registry)],
      isStopped: true,
    };
  }
}

/** Adds the regressions of a sync step; `convertStep` compares each output itself. */
function compareWithLastRun(
  step: Step,
  state: JobState,
  { dryRun }: StepContext,
  { sourceFields: fields, sourceExtent: box, ...item }: SyncedItem,
): ItemReport {
  if (dryRun || item.result === "failed") return item;
  const { target, counts, losses, notices, skippedRanges } = item;
  const { read = 0, rejected = 0, withoutGeometry = 0 } = counts;
  const lists = { losses, notices, skippedRanges };
  const findings: Findings = {
    counts: { read, rejected, withoutGeometry },
    ...(fields && { fields }),
    ...(box && { extent: { crs: "EPSG:4326", box } }),
    ...lists,
  };
  const regressions = findRegressions(state.readOutput(step.name, target)?.findings ?? null, findings);
  state.saveOutput(step.name, target, { settings: "", sources: null, files: [], findings });
  return { ...item, regressions };
}

function failedItem(step: Step, error: GeoferryError, registry: Registry): ItemReport {
  const { inputs } = step.kind === "conversion" ? step.request : step.request.source;
  const source = redactInputs(inputs, registry);
  const target = step.kind === "conversion" ? redact(step.request.output, registry) : `map:${step.request.map}`;
  return { source, target, result: "failed", counts: {}, ...emptyFindingLists, error: toErrorReport(error) };
}

/** Merges the items of two attempts: what the first attempt has done is unchanged in the second and counts as done. */
export function mergeItems(before: readonly ItemReport[], now: readonly ItemReport[]): readonly ItemReport[] {
  const earlier = new Map(before.map((item) => [item.target, item]));
  return now.map((item) => {
    const known = earlier.get(item.target);
    if (!known) return item;
    if (known.result === "failed") return addEarlierCounts(item, known);
    return item.result === "unchanged" ? known : item;
  });
}

/** Adds what a failed attempt has already changed on a map. */
function addEarlierCounts(item: ItemReport, { counts: earlier, backups = [] }: ItemReport): ItemReport {
  const { created = 0, updated = 0, deleted = 0 } = earlier;
  if (created + updated + deleted === 0) return item;
  const counts = { created: 0, updated: 0, deleted: 0, ...item.counts };
  counts.created += created;
  counts.updated += updated;
  counts.deleted += deleted;
  const all = [...backups, ...(item.backups ?? [])];
  return {
    ...item,
    result: item.result === "unchanged" ? "done" : item.result,
    counts,
    ...(all.length > 0 && { backups: all }),
  };
}

function withTimeoutError(item: ItemReport, step: Step): ItemReport {
  // A sync that was stopped while it wrote has a code of its own.
  if (item.error?.kind !== "interrupted") return item;
  return {
    ...item,
    error: toErrorReport(createError("step-timeout", { step: step.name, seconds: step.timeout! / 1000 })),
  };
}

/** The first permanent error, or else the first error. */
function worstError(items: readonly ItemReport[]): ItemReport["error"] {
  const errors = items.flatMap(({ error }) => (error ? [error] : []));
  return errors.find(({ kind }) => !transientKinds.includes(kind)) ?? errors[0] ?? null;
}
