/** Optional update method for services without PATCH: deletes the old feature and creates the new one. */
import { createError } from "../../errors.js";
import { removeRecreations, saveRecreations } from "../journal/recreations.js";
import { recordCreates } from "../journal/unconfirmed-creates.js";
import type { OpenPlan } from "../plan/plan.js";
import type { ApplyRun } from "./apply-run.js";
import { type BatchItem, createBatches, type WriteBatch } from "./batches.js";
import { createItem, createOperation } from "./create-features.js";
import { deleteUnconditionally } from "./delete-batch.js";
import { MapReread } from "./map-reread.js";
import { isReadingCurrent } from "./map-state-probe.js";
import type { Update } from "./patch-semantics.js";
import { sendBatches, type WriteOperation } from "./send-batches.js";

/** Remembered ids of recreated features: the last ones, which a reading that lags behind lacks first. */
const maxRecreatedIds = 2000;

/** Features that are matched by id would not be found again. @throws recreate-by-id */
export function checkRecreatable({ header, counts }: Pick<OpenPlan, "header" | "counts">): void {
  const { service, map, key, settings } = header;
  if (settings.updateWith === "delete-create" && counts.update > 0 && key?.by !== "property")
    throw createError("recreate-by-id", { service, map });
}

/**
 * Processes one batch at a time, so that few features are absent at once. Restores the original features that the
 * service then rejects.
 * @throws errors of `sendBatches` and `deleteUnconditionally`
 */
export async function recreateUpdatedFeatures(run: ApplyRun): Promise<void> {
  for await (const batch of createBatches(updateItems(run), run)) {
    run.throwIfAborted();
    await recreateBatch(batch, run);
  }
}

/**
 * Recreates features that an interrupted run deleted but did not create again; the next plan handles those that it had
 * not deleted. The caller has waited until all requests of that run have ended.
 * @throws errors of `sendBatches`
 */
export async function resumeRecreations(run: ApplyRun): Promise<void> {
  const items: BatchItem[] = [];
  {
    await using reading = await readWithoutDeleted(run);
    run.etagChain.startIfOff(reading.snapshot.etag);
    for await (const [item] of updateItems(run)) {
      const { action } = item;
      const isThere = isUpdate(action) && reading.findById(action.id);
      if (!isThere && action.key !== null && !reading.findByKey(action.key)) items.push(item);
    }
  }
  const refused = await createReplacements(items, run);
  if (refused.length > 0) await restoreOriginals(refused, run);
  await removeRecreations(run.context.stateFolder);
}

/** Reads the map, again after pauses while it shows the old features, since it may be a copy from before they were deleted. */
function readWithoutDeleted(run: ApplyRun): Promise<MapReread> {
  return MapReread.readUntil(run, async (reading) => {
    let isGone = true;
    for await (const [{ action }] of updateItems(run)) isGone &&= !isUpdate(action) || !reading.findById(action.id);
    return isGone || isReadingCurrent(run.context.client, reading.snapshot.etag);
  });
}

async function* updateItems(run: ApplyRun): AsyncGenerator<readonly [BatchItem]> {
  let ordinal = 0;
  for await (const action of run.plan.actions(["update"]))
    if (action.action === "update") yield [createItem(action, ordinal++)];
}

const isUpdate = (action: BatchItem["action"]): action is Update => action.action === "update";

async function recreateBatch(batch: WriteBatch, run: ApplyRun): Promise<void> {
  const { stateFolder } = run.context;
  const originals = batch.items.flatMap(({ action }) => (isUpdate(action) ? [action] : []));
  await saveRecreations(stateFolder, run.header, originals);
  await run.reachCheckpoint("recreating");
  const remaining = await deleteUnconditionally(
    originals.map(({ id }) => id),
    run,
  );
  const deletedItems = batch.items.filter(({ action }) => isUpdate(action) && !remaining.has(action.id));
  for (const update of originals) {
    const reason = remaining.get(update.id);
    if (reason !== undefined) await run.recordRefusal(update, { code: "refused", reason, path: null });
  }
  const refused = await createReplacements(deletedItems, run);
  if (refused.length > 0) await restoreOriginals(refused, run);
  await removeRecreations(stateFolder);
}

/** @returns features that the service rejected */
async function createReplacements(items: readonly BatchItem[], run: ApplyRun): Promise<readonly BatchItem[]> {
  const refused: BatchItem[] = [];
  const operation: WriteOperation = {
    ...createOperation(run, true),
    onApplied: (features) => {
      run.counts.updated += features;
      run.reportProgress("update", run.counts.updated, run.plan.counts.update);
    },
    recordIds: async (ids) => {
      run.recreatedIds.push(...ids);
      run.recreatedIds.splice(0, run.recreatedIds.length - maxRecreatedIds);
      const { stateFolder, backupPath } = run.context;
      recordCreates(stateFolder, run.header, backupPath, run.recreatedIds);
    },
    onRefused: (item, refusal) => {
      refused.push(item);
      return run.recordRefusal(item.action, refusal);
    },
  };
  await sendBatches(singleBatch(items, run), operation, run);
  return refused;
}

async function* singleBatch(items: readonly BatchItem[], run: ApplyRun): AsyncGenerator<WriteBatch> {
  if (items.length > 0) yield { items, idempotencyKey: run.createIdempotencyKey() };
}

/** Recreates the original features whose replacements the service rejected. */
async function restoreOriginals(refused: readonly BatchItem[], run: ApplyRun): Promise<void> {
  const originals = refused.flatMap(({ action, ordinal }) =>
    isUpdate(action) ? [createItem({ ...action, feature: action.before }, ordinal)] : [],
  );
  const operation = { ...createOperation(run, true), onApplied: () => {} };
  await sendBatches(singleBatch(originals, run), operation, run);
}
