/** Updates for services without a PATCH, where it is asked for: the old feature is deleted, and the new one created. */
import { fault } from "../errors.js";
import { type Batch, type Item, inBatches } from "./apply-batches.js";
import { type Delivery, deliver } from "./apply-delivery.js";
import type { ApplyRun } from "./apply-run.js";
import { creation, itemOf } from "./create-features.js";
import { removeAll } from "./delete-batch.js";
import { Reading } from "./settle-reading.js";
import type { Update } from "./update-manner.js";
import { forgetRecreations, keepRecreations } from "./update-recreations.js";

/**
 * One batch at a time, so that few features are away at once. What the service then does not take is put back as it
 * was.
 * @throws recreate-by-id, and what `deliver` and `removeAll` throw
 */
export async function updateByRecreating(run: ApplyRun): Promise<void> {
  if (run.plan.counts.update === 0) return;
  const { service, map, key } = run.header;
  if (key?.by !== "property") throw fault("recreate-by-id", { service, map });
  for await (const batch of inBatches(updates(run), run)) {
    run.stopIfAsked();
    await recreate(batch, run);
  }
}

/**
 * Creates what a run that died had deleted already and not created again; what it had not deleted, the next plan deals
 * with. The caller has waited until nothing of that run is under way.
 * @throws what `deliver` throws
 */
export async function finishRecreations(run: ApplyRun): Promise<void> {
  const items: Item[] = [];
  {
    await using reading = await Reading.take(run);
    run.chain.restart(reading.snapshot.etag);
    for await (const [item] of updates(run)) {
      const { action } = item;
      const isThere = isUpdate(action) && reading.rowById(action.id);
      if (!isThere && action.key !== null && !reading.rowByKey(action.key)) items.push(item);
    }
  }
  const refused = await createAnew(items, run);
  if (refused.length > 0) await putBack(refused, run);
  await forgetRecreations(run.tools.folder);
}

async function* updates(run: ApplyRun): AsyncGenerator<readonly [Item]> {
  let ordinal = 0;
  for await (const action of run.plan.actions(["update"]))
    if (action.action === "update") yield [itemOf(action, ordinal++)];
}

const isUpdate = (action: Item["action"]): action is Update => action.action === "update";

async function recreate(batch: Batch, run: ApplyRun): Promise<void> {
  const { folder } = run.tools;
  const olds = batch.items.flatMap(({ action }) => (isUpdate(action) ? [action] : []));
  await keepRecreations(folder, run.header, olds);
  await run.at("recreating");
  const remaining = await removeAll(
    olds.map(({ id }) => id),
    run,
  );
  const gone = batch.items.filter(({ action }) => isUpdate(action) && !remaining.has(action.id));
  for (const update of olds) {
    const reason = remaining.get(update.id);
    if (reason !== undefined) await run.refuse(update, { code: "refused", reason, path: null });
  }
  const refused = await createAnew(gone, run);
  if (refused.length > 0) await putBack(refused, run);
  await forgetRecreations(folder);
}

/** @returns those that the service did not take */
async function createAnew(items: readonly Item[], run: ApplyRun): Promise<readonly Item[]> {
  const refused: Item[] = [];
  const delivery: Delivery = {
    ...creation(run, true),
    done: (features) => {
      run.counts.updated += features;
      run.tell("update", run.counts.updated, run.plan.counts.update);
    },
    refuse: (item, refusal) => {
      refused.push(item);
      return run.refuse(item.action, refusal);
    },
  };
  await deliver(alone(items, run), delivery, run);
  return refused;
}

async function* alone(items: readonly Item[], run: ApplyRun): AsyncGenerator<Batch> {
  if (items.length > 0) yield { items, idempotencyKey: run.newIdempotencyKey() };
}

/** The map has these no more, and does not take what they should be: it gets what they were. */
async function putBack(refused: readonly Item[], run: ApplyRun): Promise<void> {
  const olds = refused.flatMap(({ action, ordinal }) =>
    isUpdate(action) ? [itemOf({ ...action, feature: action.before }, ordinal)] : [],
  );
  const delivery = { ...creation(run, true), done: () => {} };
  await deliver(alone(olds, run), delivery, run);
}
