/** A step whose target is a map. */
import { tellableInputs } from "../io/without-secrets.js";
import { expandInputs } from "../pipeline/expand.js";
import type { Host } from "../pipeline/request.js";
import { findMap } from "../remote/find-map.js";
import { checkGuards } from "../sync/guards.js";
import { isUnchanged, type Prepared } from "../sync/prepare.js";
import type { SourceRequest, SyncRequest } from "../sync/request.js";
import { rehearse, synchronise } from "../sync/sync.js";
import { openReading, SyncRun } from "../sync/sync-run.js";
import type { SynchronisationStep } from "./job.js";
import { type Counts, errorReport, type ItemReport } from "./run-report.js";
import type { JobTools } from "./run-step.js";

/** Nobody is asked: guards alone decide. @throws what stops it before the first write */
export async function synchroniseStep(step: SynchronisationStep, tools: JobTools): Promise<ItemReport> {
  const { request: asked, backup } = step;
  const { host, traffic, stateRoot, onNotice, dryRun, handOut } = tools;
  if (handOut && !dryRun) return handOut.synchronise(step, host);
  const inputs = await filesOf(asked.source, host);
  const service = await tools.service(host.signal);
  const map = await findMap(service, asked.map);
  const request: SyncRequest = { ...asked, map, source: { ...asked.source, inputs } };
  const syncTools = { host, service, traffic, stateRoot, backup, onNotice };
  const source = tellableInputs(asked.source.inputs, host.registry);
  const item = { source, target: `map:${asked.map}` };
  if (dryRun) {
    await using reading = await openReading(syncTools, request.map);
    const found = await rehearse(request, request.mode, reading);
    checkGuards(found.plan);
    return { ...item, ...planned(found), error: null };
  }
  await using run = await SyncRun.open(syncTools, request.map);
  const { found, applied } = await synchronise(request, request.mode, run, { onPlan() {}, confirm: async () => true });
  const rejected = found.source.rejects.count;
  const isPartial = rejected > 0 || found.source.gaps.length > 0;
  if (isUnchanged(found) || applied === null)
    return { ...item, result: isPartial ? "rejects" : "unchanged", counts: { rejected }, error: null };
  const { created, updated, deleted, failed, ending } = applied;
  const counts: Counts = { created, updated, deleted, rejected: rejected + failed };
  if (ending) return { ...item, result: "failed", counts, error: errorReport(ending) };
  return { ...item, result: isPartial || failed > 0 ? "rejects" : "done", counts, error: null };
}

/** Of folders and patterns all files. @throws input-missing; input-unreadable, since of a part others would be deleted */
async function filesOf({ inputs, from }: SourceRequest, { registry, signal }: Host): Promise<string[]> {
  const expanded = await expandInputs(inputs, registry, signal, from);
  const refused = expanded.find(({ error }) => error);
  if (refused) throw refused.error;
  return expanded.map(({ address }) => address);
}

function planned({ plan: { counts }, source: { rejects, gaps } }: Prepared): Pick<ItemReport, "result" | "counts"> {
  const { create: created, update: updated, delete: deleted } = counts;
  const result =
    rejects.count > 0 || gaps.length > 0 ? "rejects" : created + updated + deleted > 0 ? "done" : "unchanged";
  return { result, counts: { created, updated, deleted, rejected: rejects.count } };
}
