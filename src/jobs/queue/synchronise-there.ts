/** A step whose map a worker writes to: one job in the map's own queue, of which one at a time is done. */
import { asGeoferryError, fault } from "../../errors.js";
import { tellableInputs } from "../../io/without-secrets.js";
import { expandInputs } from "../../pipeline/expand.js";
import type { Host } from "../../pipeline/request.js";
import type { SynchronisationStep } from "../job.js";
import type { ItemReport } from "../run-report.js";
import { errorReport, nothingFound } from "../run-report.js";
import { abortable } from "./abortable.js";
import type { Entry } from "./desk.js";
import type { HandOut } from "./hand-out.js";
import { errorOf, type Seen } from "./handed.js";
import { seenFiles } from "./input-names.js";
import { mapQueue } from "./names.js";

/** @param sources null for those that are still to be made */
async function entryOf(handOut: HandOut, step: SynchronisationStep, sources: readonly Seen[] | null): Promise<Entry> {
  const { url: service, insecureHttp } = await handOut.settings.service();
  const { map } = step.request;
  const work = { takes: "synchronisation", service, insecureHttp, state: handOut.stateId, sources } as const;
  return handOut.entry(step, mapQueue(service, map), work, `map:${map}`);
}

/** Hands a step out with the jobs that must be done before it. */
export async function rideOn(handOut: HandOut, rider: SynchronisationStep, children: readonly Entry[]): Promise<void> {
  const entry = await entryOf(handOut, rider, null);
  await handOut.desk.addFlow(entry, children);
  handOut.ride(rider, entry);
}

/** Never throws but for what stops it before it is handed out. */
export async function synchroniseThere(handOut: HandOut, step: SynchronisationStep, host: Host): Promise<ItemReport> {
  const { desk } = handOut;
  const { signal } = host;
  const item = {
    source: tellableInputs(step.request.source.inputs, host.registry),
    target: `map:${step.request.map}`,
    ...nothingFound,
  };
  const boarded = handOut.boarded(step);
  const entry = boarded ?? (await entryOf(handOut, step, await sourcesOf(step, host)));
  try {
    const ended = handOut.ending(entry, signal);
    // It may be interrupted while the queue is asked.
    ended.catch(() => {});
    const isThere = boarded !== null && (await abortable(desk.lookFor(entry.queue, entry.id), signal));
    // Where Redis has lost the one that was to ride.
    if (!isThere) desk.add([entry]).catch(() => {});
    const ending = await ended;
    desk.forget([entry]);
    if ("answer" in ending) return { ...ending.answer.item!, worker: ending.answer.worker };
    const { failure } = ending;
    const worker = failure.worker === null ? {} : { worker: failure.worker };
    const error = errorReport(errorOf(failure));
    return { ...item, result: "failed", counts: {}, ...failure.item, error, ...worker };
  } catch (error) {
    const told = signal.aborted ? fault("interrupted", {}, error) : asGeoferryError(error);
    return { ...item, result: "failed", counts: {}, error: errorReport(told) };
  } finally {
    if (signal.aborted) await handOut.withdraw(step.name);
  }
}

/** Files among the sources as they are seen here. @throws input-missing */
async function sourcesOf(
  { request: { source } }: SynchronisationStep,
  { registry, signal }: Host,
): Promise<readonly Seen[]> {
  const expanded = await expandInputs(source.inputs, registry, signal, source.from);
  return seenFiles(expanded.map(({ address }) => address));
}
