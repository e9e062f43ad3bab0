/** Executes the updates of the plan by PATCH (Map Features Service Interface, 4.5). */
import { createError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import { parseExactFeature } from "../../remote/exact-properties.js";
import type { WireFeature } from "../../remote/wire.js";
import { type ApplyRun, isFullyApplied, type WriteAction } from "./apply-run.js";
import { type BatchItem, createBatches, type WriteBatch } from "./batches.js";
import { MapReread, readPage } from "./map-reread.js";
import {
  checkUpdateEffect,
  clearingPatchText,
  nestedMemberRemovals,
  patchText,
  type Update,
  type UpdateEffect,
} from "./patch-semantics.js";
import { readPatiently } from "./pauses.js";
import { sendBatches, type WriteOperation } from "./send-batches.js";

/**
 * Sends the first update alone and reads the feature back; likewise the first update that removes a member from a
 * nested value, unless an earlier run has determined how the service handles it.
 * @throws update-unsupported, update-not-applied; errors of `sendBatches`
 */
export async function updateFeatures(run: ApplyRun): Promise<void> {
  if (run.plan.counts.update === 0) return;
  await sendBatches(createBatches(probeUpdates(run), run), updateOperation(run), run);
}

function updateOperation(run: ApplyRun): WriteOperation {
  const { service, map } = run.header;
  return {
    kind: "update",
    isIdentifiable: true,
    send: (batch) => sendPatch(batch, run),
    createNotOfferedError: (status) => createError("update-unsupported", { service, map, status }),
    onApplied: (features) => {
      run.counts.updated += features;
      run.reportProgress("update", run.counts.updated, run.plan.counts.update);
    },
    onRefused: ({ action }, refusal) => run.recordRefusal(action, refusal),
  };
}

const isUpdate = (action: WriteAction): action is Update => action.action === "update";

async function sendPatch({ items, idempotencyKey }: WriteBatch, run: ApplyRun): Promise<WriteOutcome> {
  const { client, serviceBehavior } = run.context;
  if (serviceBehavior.patchSemantics === "merges-deeply") {
    const texts = items.flatMap(({ action }) => (isUpdate(action) ? (clearingPatchText(action) ?? []) : []));
    const cleared =
      texts.length > 0
        ? await run.etagChain.send((condition) => client.update(texts, null, `${idempotencyKey}-clear`, condition))
        : null;
    if (cleared) run.noteWrite(cleared, texts.length);
    if (cleared && !isFullyApplied(cleared, texts.length))
      return cleared.kind === "answered" ? clearingFailed : cleared;
  }
  return run.etagChain.send((condition) =>
    client.update(
      items.map(({ text }) => text),
      null,
      idempotencyKey,
      condition,
    ),
  );
}

const clearingFailed: WriteOutcome = { kind: "in-doubt", reason: "some nested values could not be cleared" };

/** Yields updates to send in batches; sends probing updates alone first to learn how the service applies them. */
async function* probeUpdates(run: ApplyRun): AsyncGenerator<readonly BatchItem[]> {
  let ordinal = 0;
  for await (const action of run.plan.actions(["update"])) {
    if (action.action !== "update") continue;
    const item = { action, key: action.key, text: patchText(action), ordinal };
    const isProbe = run.context.serviceBehavior.patchSemantics === null && nestedMemberRemovals(action).length > 0;
    if (ordinal === 0 || isProbe) await probeUpdate(item, action, run);
    else yield [item];
    ordinal += 1;
  }
}

async function probeUpdate(item: BatchItem, update: Update, run: ApplyRun): Promise<void> {
  const { serviceBehavior } = run.context;
  const { service, map } = run.header;
  const failedBefore = run.counts.failed;
  await sendSingly(item, run);
  if (run.counts.failed > failedBefore) return;
  let effect = await readEffect(update, run);
  if (effect.kind === "merged-deeply" && serviceBehavior.patchSemantics !== "merges-deeply") {
    serviceBehavior.savePatchSemantics("merges-deeply");
    run.counts.updated -= 1;
    await sendSingly(item, run);
    effect = await readEffect(update, run);
  } else if (nestedMemberRemovals(update).length > 0)
    serviceBehavior.savePatchSemantics(serviceBehavior.patchSemantics ?? "replaces");
  if (effect.kind === "applied") return;
  const { what, decimals } =
    effect.kind === "ineffective" ? effect : { what: `property ${JSON.stringify(effect.names[0])}`, decimals: null };
  throw createError("update-not-applied", { service, map, id: update.id, what, decimals });
}

/** Reads the feature back; again after pauses if the map does not show the update, since it may be a late copy. */
function readEffect(update: Update, run: ApplyRun): Promise<UpdateEffect> {
  return readPatiently(
    run,
    () => readEffectOnce(update, run),
    (effect) => effect.kind === "applied" || (effect.kind === "ineffective" && effect.decimals !== null),
  );
}

async function readEffectOnce(update: Update, run: ApplyRun): Promise<UpdateEffect> {
  const read = await rereadFeature(update, run);
  const isStored = run.isStoredForm(update.feature, read, update.agreement);
  return isStored ? { kind: "applied" } : checkUpdateEffect(update, read, run.rounding);
}

async function sendSingly(item: BatchItem, run: ApplyRun): Promise<void> {
  async function* one() {
    yield { items: [item], idempotencyKey: run.createIdempotencyKey() };
  }
  await sendBatches(one(), updateOperation(run), run);
}

/** Reads the current feature from the page that had it, or else from the whole map. @throws map-changed */
async function rereadFeature({ id, page }: Update, run: ApplyRun): Promise<WireFeature> {
  const there = (await readPage(page, run)).find((feature) => feature.id === id);
  if (there) return there;
  await using reading = await MapReread.read(run);
  const row = reading.findById(id);
  if (!row) throw createError("map-changed", { service: run.header.service, map: run.header.map });
  return parseExactFeature(reading.workspace.map.textOf(row)) as WireFeature;
}
