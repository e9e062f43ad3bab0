/** Updates for services without a PATCH, where it is asked for: the old feature is deleted, and the new one created. */
import { createError } from "../../errors.js";
import { removeRecreations, saveRecreations } from "../journal/recreations.js";
import type { ApplyRun } from "./apply-run.js";
import { type Batch, type BatchItem, createBatches } from "./batches.js";
import { createItem, createOperation } from "./create-features.js";
import { deleteUnconditionally } from "./delete-batch.js";
import { MapReread } from "./map-reread.js";
import type { Update } from "./patch-semantics.js";
import { sendBatches, type WriteOperation } from "./send-batches.js";

/**
 * One batch at a time, so that few features are away at once. What the service then does not take is put back as it
 * was.
 * @throws recreate-by-id, and what `deliver` and `removeAll` throw
 */
export async function recreateUpdatedFeatures(run: ApplyRun): Promise<void> {
  if (run.plan.counts.update === 0) return;
  const { service, map, key } = run.header;
  if (key?.by !== "property") throw createError("recreate-by-id", { service, map });
  for await (const batch of createBatches(updateItems(run), run)) {
    run.throwIfAborted();
    await recreateBatch(batch, run);
  }
}

/**
 * Creates what a run that died had deleted already and not created again; what it had not deleted, the next plan deals
 * with. The caller has waited until nothing of that run is under way.
 * @throws what `deliver` throws
 */
export async function resumeRecreations(run: ApplyRun): Promise<void> {
  const items: BatchItem[] = [];
  {
    await using reading = await MapReread.read(run);
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

async function* updateItems(run: ApplyRun): AsyncGenerator<readonly [BatchItem]> {
  let ordinal = 0;
  for await (const action of run.plan.actions(["update"]))
    if (action.action === "update") yield [createItem(action, ordinal++)];
}

const isUpdate = (action: BatchItem["action"]): action is Update => action.action === "update";

async function recreateBatch(batch: Batch, run: ApplyRun): Promise<void> {
  const { stateFolder } = run.context;
  const olds = batch.items.flatMap(({ action }) => (isUpdate(action) ? [action] : []));
  await saveRecreations(stateFolder, run.header, olds);
  await run.reachCheckpoint("recreating");
  const remaining = await deleteUnconditionally(
    olds.map(({ id }) => id),
    run,
  );
  const gone = batch.items.filter(({ action }) => isUpdate(action) && !remaining.has(action.id));
  for (const update of olds) {
    const reason = remaining.get(update.id);
    if (reason !== undefined) await run.recordRefusal(update, { code: "refused", reason, path: null });
  }
  const refused = await createReplacements(gone, run);
  if (refused.length > 0) await restoreOriginals(refused, run);
  await removeRecreations(stateFolder);
}

/** @returns those that the service did not take */
async function createReplacements(items: readonly BatchItem[], run: ApplyRun): Promise<readonly BatchItem[]> {
  const refused: BatchItem[] = [];
  const delivery: WriteOperation = {
    ...createOperation(run, true),
    onApplied: (features) => {
      run.counts.updated += features;
      run.reportProgress("update", run.counts.updated, run.plan.counts.update);
    },
    onRefused: (item, refusal) => {
      refused.push(item);
      return run.recordRefusal(item.action, refusal);
    },
  };
  await sendBatches(singleBatch(items, run), delivery, run);
  return refused;
}

async function* singleBatch(items: readonly BatchItem[], run: ApplyRun): AsyncGenerator<Batch> {
  if (items.length > 0) yield { items, idempotencyKey: run.createIdempotencyKey() };
}

/** The map has these no more, and does not take what they should be: it gets what they were. */
async function restoreOriginals(refused: readonly BatchItem[], run: ApplyRun): Promise<void> {
  const olds = refused.flatMap(({ action, ordinal }) =>
    isUpdate(action) ? [createItem({ ...action, feature: action.before }, ordinal)] : [],
  );
  const delivery = { ...createOperation(run, true), done: () => {} };
  await sendBatches(singleBatch(olds, run), delivery, run);
}
