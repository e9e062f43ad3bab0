/** Runs a sync step. */
import { resolve } from "node:path";
import { redactInputs } from "../../io/redact.js";
import { mergeFields } from "../../model/field.js";
import { resolveMapId } from "../../remote/client/resolve-map-id.js";
import type { ApplyReport } from "../../sync/apply/apply-context.js";
import { listBackups } from "../../sync/journal/list-backups.js";
import { checkGuards } from "../../sync/plan/guards.js";
import { planSync } from "../../sync/plan/plan-sync.js";
import { isUnchanged, type PreparedSync, type UnchangedSync } from "../../sync/plan/prepare-sync.js";
import type { SyncRequest } from "../../sync/request.js";
import { expandSource } from "../../sync/source/expand-source.js";
import type { ReadSource } from "../../sync/source/read-source.js";
import { synchronize } from "../../sync/sync.js";
import { openReadonlySyncRun, SyncRun } from "../../sync/sync-run.js";
import type { SyncStep } from "../job.js";
import { type ComparedField, comparedFields, type FindingLists, toFindingLists } from "../report/findings.js";
import {
  type Counts,
  emptyFindingLists,
  type ItemReport,
  type SyncedItem,
  toErrorReport,
} from "../report/run-report.js";
import type { DispatchContext } from "../run/dispatch-context.js";

/** Guards decide without a prompt. @throws errors that occur before the first write */
export async function runSyncStep(step: SyncStep, context: DispatchContext): Promise<SyncedItem> {
  const { request: stepRequest, backup: backupPath } = step;
  const { host, traffic, stateRoot, onNotice, dryRun, distributedRun } = context;
  if (distributedRun && !dryRun) return distributedRun.sync(step, host);
  const expanded = await expandSource(stepRequest, host);
  const service = await context.service(host.signal);
  const map = await resolveMapId(service, stepRequest.map);
  const request: SyncRequest = { ...expanded, map };
  const syncTools = { host, service, traffic, stateRoot, backupPath, onNotice };
  const source = redactInputs(stepRequest.source.inputs, host.registry);
  const item = { source, target: `map:${stepRequest.map}`, ...emptyFindingLists, error: null };
  if (dryRun) {
    await using reading = await openReadonlySyncRun(syncTools, request.map);
    const found = await planSync(request, request.mode, reading);
    checkGuards(found.plan);
    return { ...item, ...toPlannedItem(found), ...listsOfSource(found) };
  }
  await using run = await SyncRun.open(syncTools, request.map);
  const { prepared, applied } = await synchronize(request, request.mode, run, {
    onPlan() {},
    confirm: async () => true,
  });
  const { rejected, ...others } = countsOf(prepared.source);
  const isPartial = rejected > 0 || prepared.source.gaps.length > 0;
  const sourceFields = comparedFields(fieldsOfSource(prepared.source));
  const sourceExtent = prepared.source.extent;
  const read = { ...item, ...listsOfSource(prepared), sourceFields, sourceExtent };
  if (applied === null)
    return { ...read, result: isPartial ? "rejects" : "unchanged", counts: { ...others, rejected } };
  const { created, updated, deleted, failed, error } = applied;
  const counts: Counts = { ...others, created, updated, deleted, rejected: rejected + failed };
  const written = { ...read, counts, ...backups(applied) };
  if (error) return { ...written, result: "failed", error: toErrorReport(error) };
  return { ...written, result: isPartial || failed > 0 ? "rejects" : "done" };
}

/** Backups with absolute paths, oldest first. */
function backups(report: ApplyReport): Pick<ItemReport, "backups"> {
  const all = listBackups(report).map(({ path, created }) => ({ path: resolve(path), created }));
  return all.length === 0 ? {} : { backups: all };
}

const countsOf = ({ readCount, withoutGeometry, rejects }: ReadSource) => ({
  read: readCount,
  ...(withoutGeometry > 0 && { withoutGeometry }),
  rejected: rejects.count,
});

/** The fields with their types, or if the source does not declare them, with the kinds of their values. */
function fieldsOfSource({ layers, fields }: ReadSource): readonly ComparedField[] {
  const declared = mergeFields(layers.map((layer) => layer.fields));
  if (declared) return declared;
  return fields.map(({ name, values, texts }) => {
    const type =
      texts === 0 ? (values === 0 ? "empty" : "no text") : texts === values ? "text" : "text and other values";
    return { name, type };
  });
}

/** Findings of the source and of the comparison with the map. */
function listsOfSource(found: PreparedSync | UnchangedSync): FindingLists & Pick<ItemReport, "rejects"> {
  const { losses, notices, gaps } = found.source;
  const rejects = isUnchanged(found) ? null : found.rejects;
  return {
    ...toFindingLists(losses, isUnchanged(found) ? notices : [...notices, ...found.notices], gaps),
    ...(rejects !== null && { rejects }),
  };
}

function toPlannedItem({ plan: { counts }, source }: PreparedSync): Pick<ItemReport, "result" | "counts"> {
  const { rejected, ...others } = countsOf(source);
  const { create: created, update: updated, delete: deleted } = counts;
  const result =
    rejected > 0 || source.gaps.length > 0 ? "rejects" : created + updated + deleted > 0 ? "done" : "unchanged";
  return { result, counts: { ...others, created, updated, deleted, rejected } };
}
