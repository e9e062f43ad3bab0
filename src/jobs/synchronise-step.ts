/** A step whose target is a map. */
import { resolve } from "node:path";
import { tellableInputs } from "../io/without-secrets.js";
import { expandInputs } from "../pipeline/expand.js";
import type { Host } from "../pipeline/request.js";
import { findMap } from "../remote/find-map.js";
import type { ApplyReport } from "../sync/apply-tools.js";
import { checkGuards } from "../sync/guards.js";
import { isUnchanged, type Prepared, type Unchanged } from "../sync/prepare.js";
import type { SourceRequest, SyncRequest } from "../sync/request.js";
import type { ReadSource } from "../sync/source.js";
import { rehearse, synchronise } from "../sync/sync.js";
import { openReading, SyncRun } from "../sync/sync-run.js";
import { backupsOf } from "../sync/written-backups.js";
import { type FindingLists, listsOf } from "./findings.js";
import type { SynchronisationStep } from "./job.js";
import { type Counts, errorReport, type ItemReport, nothingFound } from "./run-report.js";
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
  const item = { source, target: `map:${asked.map}`, ...nothingFound, error: null };
  if (dryRun) {
    await using reading = await openReading(syncTools, request.map);
    const found = await rehearse(request, request.mode, reading);
    checkGuards(found.plan);
    return { ...item, ...planned(found), ...listsOfSource(found) };
  }
  await using run = await SyncRun.open(syncTools, request.map);
  const { found, applied } = await synchronise(request, request.mode, run, { onPlan() {}, confirm: async () => true });
  const { rejected, ...others } = countsOf(found.source);
  const isPartial = rejected > 0 || found.source.gaps.length > 0;
  const read = { ...item, ...listsOfSource(found) };
  if (applied === null)
    return { ...read, result: isPartial ? "rejects" : "unchanged", counts: { ...others, rejected } };
  const { created, updated, deleted, failed, ending } = applied;
  const counts: Counts = { ...others, created, updated, deleted, rejected: rejected + failed };
  const written = { ...read, counts, ...backups(applied) };
  if (ending) return { ...written, result: "failed", error: errorReport(ending) };
  return { ...written, result: isPartial || failed > 0 ? "rejects" : "done" };
}

/** Of folders and patterns all files. @throws input-missing; input-unreadable, since of a part others would be deleted */
async function filesOf({ inputs, from }: SourceRequest, { registry, signal }: Host): Promise<string[]> {
  const expanded = await expandInputs(inputs, registry, signal, from);
  const refused = expanded.find(({ error }) => error);
  if (refused) throw refused.error;
  return expanded.map(({ address }) => address);
}

/** With absolute paths; oldest first. */
function backups(report: ApplyReport): Pick<ItemReport, "backups"> {
  const all = backupsOf(report).map(({ path, created }) => ({ path: resolve(path), created }));
  return all.length === 0 ? {} : { backups: all };
}

const countsOf = ({ read, withoutGeometry, rejects }: ReadSource) => ({
  read,
  ...(withoutGeometry > 0 && { withoutGeometry }),
  rejected: rejects.count,
});

/** What the source said, and what the comparison with the map added to that. */
function listsOfSource(found: Prepared | Unchanged): FindingLists & Pick<ItemReport, "rejects"> {
  const { losses, notices, gaps } = found.source;
  const rejects = isUnchanged(found) ? null : found.rejects;
  return {
    ...listsOf(losses, isUnchanged(found) ? notices : [...notices, ...found.notices], gaps),
    ...(rejects !== null && { rejects }),
  };
}

function planned({ plan: { counts }, source }: Prepared): Pick<ItemReport, "result" | "counts"> {
  const { rejected, ...others } = countsOf(source);
  const { create: created, update: updated, delete: deleted } = counts;
  const result =
    rejected > 0 || source.gaps.length > 0 ? "rejects" : created + updated + deleted > 0 ? "done" : "unchanged";
  return { result, counts: { ...others, created, updated, deleted, rejected } };
}
