/** One step of a job, tried until it is done, cannot be, or has been tried often enough. */
import { setTimeout as pause } from "node:timers/promises";
import { type ErrorKind, fault, type GeoferryError } from "../errors.js";
import type { Host } from "../pipeline/request.js";
import type { ServiceClient, Traffic } from "../remote/map-client.js";
import { convertStep } from "./convert-step.js";
import type { Step } from "./job.js";
import type { JobState } from "./job-state.js";
import { errorReport, type ItemReport, type StepReport, sumOf, thrown, worstResult } from "./run-report.js";
import { synchroniseStep } from "./synchronise-step.js";

/** What the steps of a job work with. */
export interface JobTools {
  readonly host: Host;
  /** The service of the job's maps; asked for when a step needs it. @throws remote-unknown … */
  readonly service: (signal: AbortSignal) => Promise<ServiceClient>;
  readonly traffic: Traffic;
  /** The folder of all states (`stateRoot`). */
  readonly stateRoot: string;
  /** Nothing is written; the reports say what would be. */
  readonly dryRun: boolean;
  /** What a person should know. */
  readonly onNotice: (sentence: string) => void;
}

/** What may be otherwise when it is tried again. */
const passing: readonly ErrorKind[] = ["unavailable", "locked", "unknown-outcome"];

/** Whose outcome nobody knows is not tried again where that could do it twice. */
const isRepeatable = (step: Step, kind: ErrorKind): boolean =>
  passing.includes(kind) && !(step.kind === "synchronisation" && step.request.mode === "append" && kind !== "locked");

export async function runStep(step: Step, state: JobState, tools: JobTools): Promise<StepReport> {
  const [began, start] = [new Date(), performance.now()];
  const { signal: stopped } = tools.host;
  const timeout = step.timeout === null ? null : AbortSignal.timeout(step.timeout);
  const signal = timeout ? AbortSignal.any([stopped, timeout]) : stopped;
  const within = { ...tools, host: { ...tools.host, signal } };
  let items: readonly ItemReport[] = [];
  let tries = 0;
  for (let delay = step.retryDelay; ; delay *= 2) {
    tries++;
    items = mergedItems(items, await attempt(step, state, within));
    const kinds = items.flatMap(({ error }) => (error ? [error.kind] : []));
    if (tries > step.retries || signal.aborted || tools.dryRun || !kinds.some((kind) => isRepeatable(step, kind)))
      break;
    tools.onNotice(`${step.name}: ${worstError(items)!.message}; tried again in ${delay / 1000} s`);
    await pause(delay, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
  }
  if (timeout?.aborted && !stopped.aborted) items = items.map((item) => overdue(item, step));
  return {
    name: step.name,
    result: worstResult(items.map(({ result }) => result)),
    error: worstError(items),
    tries,
    began: began.toISOString(),
    seconds: (performance.now() - start) / 1000,
    counts: sumOf(items.map(({ counts }) => counts)),
    items,
  };
}

/** Of a step that was not begun. @param need the step without whose success it is not; null where all was stopped */
export function skippedStep({ name }: Step, need: string | null): StepReport {
  const error = need === null ? fault("interrupted", {}) : fault("step-skipped", { step: name, need });
  const result = need === null ? "failed" : "skipped";
  const began = new Date().toISOString();
  return { name, result, error: errorReport(error), tries: 0, began, seconds: 0, counts: {}, items: [] };
}

async function attempt(step: Step, state: JobState, tools: JobTools): Promise<readonly ItemReport[]> {
  try {
    return step.kind === "conversion" ? await convertStep(step, state, tools) : [await synchroniseStep(step, tools)];
  } catch (error) {
    return [failedItem(step, thrown(error, tools.host.signal))];
  }
}

function failedItem(step: Step, error: GeoferryError): ItemReport {
  const source = (step.kind === "conversion" ? step.request : step.request.source).inputs.join(", ");
  const target = step.kind === "conversion" ? step.request.output : `map:${step.request.map}`;
  return { source, target, result: "failed", counts: {}, error: errorReport(error) };
}

/** What was done in an earlier try is unchanged in the next: it counts as done. */
function mergedItems(before: readonly ItemReport[], now: readonly ItemReport[]): readonly ItemReport[] {
  const earlier = new Map(before.map((item) => [item.target, item]));
  return now.map((item) => {
    const known = earlier.get(item.target);
    return item.result === "unchanged" && known && known.result !== "failed" ? known : item;
  });
}

function overdue(item: ItemReport, step: Step): ItemReport {
  if (item.error?.code !== "interrupted") return item;
  return { ...item, error: errorReport(fault("step-timeout", { step: step.name, seconds: step.timeout! / 1000 })) };
}

/** The first of those that weigh most: what is beyond trying again says more than what is not. */
function worstError(items: readonly ItemReport[]): ItemReport["error"] {
  const errors = items.flatMap(({ error }) => (error ? [error] : []));
  return errors.find(({ kind }) => !passing.includes(kind)) ?? errors[0] ?? null;
}
