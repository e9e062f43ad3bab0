/** One step of a job, tried until it is done, cannot be, or has been tried often enough. */
import { setTimeout as pause } from "node:timers/promises";
import { createError, type GeoferryError } from "../../errors.js";
import { redact, redactInputs } from "../../io/redact.js";
import { networkSettings, withNetworkSettings } from "../../network-settings.js";
import type { Registry } from "../../plugin/registry.js";
import { maxDurationMs } from "../file/value-kinds.js";
import type { Step, SyncStep } from "../job.js";
import { type Findings, findRegressions, mergeFindingLists, mergeRegressions } from "../report/findings.js";
import { replaceFlagsByKeys, replaceFlagsInItem } from "../report/job-keys.js";
import {
  emptyFindingLists,
  type ItemReport,
  type StepReport,
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

/** @param rider the step that may be handed to workers with this one */
export async function runStep(
  step: Step,
  state: JobState,
  tools: DispatchContext,
  rider: SyncStep | null,
): Promise<StepReport> {
  const [began, start] = [new Date(), performance.now()];
  const { signal: stopped } = tools.host;
  const timeout = step.timeout === null ? null : AbortSignal.timeout(step.timeout);
  const signal = timeout ? AbortSignal.any([stopped, timeout]) : stopped;
  const onNotice = (sentence: string) => tools.onNotice(replaceFlagsByKeys(sentence));
  const within = { ...tools, host: { ...tools.host, signal, rewriteMessage: replaceFlagsByKeys }, onNotice };
  /** Outputs that an earlier try has written. */
  const settled = new Set<string>();
  let items: readonly ItemReport[] = [];
  let tries = 0;
  for (let delay = step.retryDelay; ; delay = Math.min(delay * 2, maxDurationMs)) {
    tries++;
    const attempted = await withNetworkSettings(step.network, () =>
      attempt(step, state, { ...within, traffic: { ...within.traffic, ...networkSettings() } }, settled, rider),
    );
    items = mergeItems(items, attempted.items.map(replaceFlagsInItem));
    // What workers did has been tried again by the queue.
    if (tools.distributedRun && !attempted.isStopped) tries = Math.max(tries, tools.distributedRun.getTries(step.name));
    const open = tools.distributedRun ? attempted.isStopped : true;
    const kinds = items.flatMap(({ error }) => (error ? [error.kind] : []));
    if (!open || tries > step.retries || signal.aborted || tools.dryRun) break;
    if (!kinds.some((kind) => isRepeatable(step, kind))) break;
    tools.onNotice(`${step.name}: ${worstError(items)!.message}; tried again in ${delay / 1000} s`);
    await pause(delay, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
  }
  if (timeout?.aborted && !stopped.aborted) items = items.map((item) => stepOverdueError(item, step));
  return {
    name: step.name,
    result: worstResult(items.map(({ result }) => result)),
    error: worstError(items),
    tries,
    began: began.toISOString(),
    seconds: (performance.now() - start) / 1000,
    counts: sumCounts(items.map(({ counts }) => counts)),
    ...mergeFindingLists(items),
    changes: mergeRegressions(items.map(({ changes }) => changes)),
    items,
  };
}

/** Of a step that was not begun. @param need the step without whose success it is not; null where all was stopped */
export function skippedStep({ name }: Step, need: string | null): StepReport {
  const error = need === null ? createError("interrupted", {}) : createError("step-skipped", { step: name, need });
  const result = need === null ? "failed" : "skipped";
  const began = new Date().toISOString();
  return {
    name,
    result,
    error: toErrorReport(error),
    tries: 0,
    began,
    seconds: 0,
    counts: {},
    ...emptyFindingLists,
    items: [],
  };
}

/** What came of a try; `stopped` where it ended before its first item was begun. */
interface AttemptResult {
  readonly items: readonly ItemReport[];
  readonly isStopped: boolean;
}

async function attempt(
  step: Step,
  state: JobState,
  tools: DispatchContext,
  settled: Set<string>,
  rider: SyncStep | null,
): Promise<AttemptResult> {
  try {
    const items =
      step.kind === "conversion"
        ? await convertStep(step, state, tools, settled, rider)
        : [compareWithLastRun(step, state, tools, await runSyncStep(step, tools))];
    return { items, isStopped: false };
  } catch (error) {
    return {
      items: [failedItem(step, toGeoferryError(error, tools.host.signal), tools.host.registry)],
      isStopped: true,
    };
  }
}

/** What a map's step found, with what is worse than the last time; of files, `convertStep` compares each output. */
function compareWithLastRun(step: Step, state: JobState, { dryRun }: StepContext, item: ItemReport): ItemReport {
  if (dryRun || item.result === "failed") return item;
  const { target, counts, losses, notices, gaps } = item;
  const { read = 0, rejected = 0, withoutGeometry = 0 } = counts;
  const findings: Findings = { counts: { read, rejected, withoutGeometry }, losses, notices, gaps };
  const changes = findRegressions(state.readOutput(step.name, target)?.findings ?? null, findings);
  state.saveOutput(step.name, target, { settings: "", sources: null, files: [], findings });
  return { ...item, changes };
}

function failedItem(step: Step, error: GeoferryError, registry: Registry): ItemReport {
  const { inputs } = step.kind === "conversion" ? step.request : step.request.source;
  const source = redactInputs(inputs, registry);
  const target = step.kind === "conversion" ? redact(step.request.output, registry) : `map:${step.request.map}`;
  return { source, target, result: "failed", counts: {}, ...emptyFindingLists, error: toErrorReport(error) };
}

/** What was done in an earlier try is unchanged in the next: it counts as done. */
export function mergeItems(before: readonly ItemReport[], now: readonly ItemReport[]): readonly ItemReport[] {
  const earlier = new Map(before.map((item) => [item.target, item]));
  return now.map((item) => {
    const known = earlier.get(item.target);
    if (!known) return item;
    if (known.result === "failed") return addEarlierCounts(item, known);
    return item.result === "unchanged" ? known : item;
  });
}

/** What a try has changed on a map before it failed is changed, whatever comes of the next. */
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

function stepOverdueError(item: ItemReport, step: Step): ItemReport {
  if (item.error?.code !== "interrupted") return item;
  return {
    ...item,
    error: toErrorReport(createError("step-timeout", { step: step.name, seconds: step.timeout! / 1000 })),
  };
}

/** The first of those that weigh most: what is beyond trying again says more than what is not. */
function worstError(items: readonly ItemReport[]): ItemReport["error"] {
  const errors = items.flatMap(({ error }) => (error ? [error] : []));
  return errors.find(({ kind }) => !transientKinds.includes(kind)) ?? errors[0] ?? null;
}
