/** PATCH of what the plan changes (Map Features Service Interface, 4.5). */
import { fault } from "../errors.js";
import type { WriteOutcome } from "../remote/map-client.js";
import type { WireFeature } from "../remote/wire.js";
import { type Batch, type Item, inBatches } from "./apply-batches.js";
import { type Delivery, deliver } from "./apply-delivery.js";
import { type ApplyRun, isDone, type Sending } from "./apply-run.js";
import { Reading } from "./settle-reading.js";
import { clearingOf, effectOf, nestedRemovals, patchOf, type Update } from "./update-manner.js";

/**
 * The first update goes alone and is read back, and so does the first that takes a member from a nested value, unless
 * it is known from an earlier run what the service does then.
 * @throws update-not-offered, update-ineffective, and what `deliver` throws
 */
export async function updateFeatures(run: ApplyRun): Promise<void> {
  if (run.plan.counts.update === 0) return;
  await deliver(inBatches(untried(run), run), updating(run), run);
}

function updating(run: ApplyRun): Delivery {
  const { service, map } = run.header;
  return {
    kind: "update",
    identified: true,
    request: (batch) => patch(batch, run),
    notOffered: (status) => fault("update-not-offered", { service, map, status }),
    done: (features) => {
      run.counts.updated += features;
      run.tell("update", run.counts.updated, run.plan.counts.update);
    },
    refuse: ({ action }, refusal) => run.refuse(action, refusal),
  };
}

const isUpdate = (action: Sending): action is Update => action.action === "update";

async function patch({ items, idempotencyKey }: Batch, run: ApplyRun): Promise<WriteOutcome> {
  const { client, memory } = run.tools;
  if (memory.patchManner === "merges-deeply") {
    const texts = items.flatMap(({ action }) => (isUpdate(action) ? (clearingOf(action) ?? []) : []));
    const cleared =
      texts.length > 0
        ? await run.chain.send((condition) => client.update(texts, null, `${idempotencyKey}-clear`, condition))
        : null;
    if (cleared && !isDone(cleared, texts.length)) return cleared.kind === "answered" ? inDoubt : cleared;
  }
  return run.chain.send((condition) =>
    client.update(
      items.map(({ text }) => text),
      null,
      idempotencyKey,
      condition,
    ),
  );
}

const inDoubt: WriteOutcome = { kind: "in-doubt", reason: "some nested values could not be cleared" };

/** What is to be sent in batches, once those before it have told how the service deals with updates. */
async function* untried(run: ApplyRun): AsyncGenerator<readonly Item[]> {
  let ordinal = 0;
  for await (const action of run.plan.actions(["update"])) {
    if (action.action !== "update") continue;
    const item = { action, key: action.key, text: patchOf(action), ordinal };
    const isTelling = run.tools.memory.patchManner === null && nestedRemovals(action).length > 0;
    if (ordinal === 0 || isTelling) await tryUpdate(item, action, run);
    else yield [item];
    ordinal += 1;
  }
}

async function tryUpdate(item: Item, update: Update, run: ApplyRun): Promise<void> {
  const { memory } = run.tools;
  const { service, map } = run.header;
  const failed = run.counts.failed;
  await sendAlone(item, run);
  if (run.counts.failed > failed) return;
  let effect = effectOf(update, await readBack(update, run), run.rounding);
  if (effect.kind === "merged-deeply" && memory.patchManner !== "merges-deeply") {
    memory.rememberManner("merges-deeply");
    run.counts.updated -= 1;
    await sendAlone(item, run);
    effect = effectOf(update, await readBack(update, run), run.rounding);
  } else if (nestedRemovals(update).length > 0) memory.rememberManner(memory.patchManner ?? "replaces");
  if (effect.kind === "applied") return;
  const what = effect.kind === "ineffective" ? effect.what : `property ${JSON.stringify(effect.names[0])}`;
  throw fault("update-ineffective", { service, map, id: update.id, what });
}

async function sendAlone(item: Item, run: ApplyRun): Promise<void> {
  async function* one() {
    yield { items: [item], idempotencyKey: run.newIdempotencyKey() };
  }
  await deliver(one(), updating(run), run);
}

/** The feature as the map has it now: on the page that it was on, or else on another. @throws map-changed */
async function readBack({ id, page }: Update, run: ApplyRun): Promise<WireFeature> {
  const read = await run.tools.client.page(page);
  const there = read?.features.find((feature) => feature.id === id);
  if (there) return there;
  await using reading = await Reading.take(run);
  const row = reading.rowById(id);
  if (!row) throw fault("map-changed", { service: run.header.service, map: run.header.map });
  return JSON.parse(reading.workspace.map.textOf(row)) as WireFeature;
}
