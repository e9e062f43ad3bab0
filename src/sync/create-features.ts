import { fault } from "../errors.js";
import { type Batch, type Item, inBatches } from "./apply-batches.js";
import { type Delivery, deliver } from "./apply-delivery.js";
import type { ApplyRun, Sending } from "./apply-run.js";
import type { PastRun } from "./journal-reader.js";
import type { OpenPlan, PlannedFeature } from "./plan.js";
import { settleUnidentified } from "./settle-unidentified.js";

/** POST takes no ids: the service gives them (Map Features Service Interface, 4.3). */
const bodyOf = ({ geometry, properties }: PlannedFeature): string =>
  JSON.stringify({ type: "Feature", geometry, properties });

export const itemOf = (action: Sending, ordinal: number): Item => ({ action, text: bodyOf(action.feature), ordinal });

/** POST of what has a key, or of what has none. */
export function creation(run: ApplyRun, identified: boolean): Delivery {
  const { service, map } = run.header;
  return {
    kind: "create",
    identified,
    request: ({ items, idempotencyKey }) =>
      run.tools.client.create(
        items.map(({ text }) => text),
        idempotencyKey,
      ),
    notOffered: (status) => fault("write-refused", { service, map, status, reason: "it creates no features by POST" }),
    done: (features) => {
      run.counts.created += features;
      run.tell("create", run.counts.created, run.plan.counts.create);
    },
    refuse: ({ action }, refusal) => run.refuse(action, refusal),
  };
}

/** Whether what is created can be found again on the map. */
const identifies = ({ header }: OpenPlan): boolean => header.key?.by === "property";

/**
 * Creates what the plan has to be created.
 * @param past a run of the same plan that did not come to its end, where nothing identifies what it created
 */
export async function createFeatures(run: ApplyRun, past: PastRun | null): Promise<void> {
  if (run.plan.counts.create === 0) return;
  const identified = identifies(run.plan);
  const delivery = creation(run, identified);
  if (identified) return deliver(inBatches(creates(run), run), delivery, run);
  const batches = past ? unsettled(run, past) : inBatches(creates(run), run);
  await deliver(batches, delivery, run, (parked, _round, isLast) => settleUnidentified(parked, delivery, run, isLast));
}

type Range = readonly [number, number];

/** All that are to be created, but those in the ranges (in order, [first, behind the last]). */
async function* creates(run: ApplyRun, without: readonly Range[] = []): AsyncGenerator<Item> {
  let ordinal = 0;
  let next = 0;
  for await (const action of run.plan.actions(["create"])) {
    if (action.action !== "create") continue;
    while (next < without.length && without[next]![1] <= ordinal) next += 1;
    const range = without[next];
    if (!range || ordinal < range[0]) yield itemOf(action, ordinal);
    ordinal += 1;
  }
}

/** What an earlier run did not send; then, as they were, the batches that it left in doubt. */
async function* unsettled(run: ApplyRun, { settled, doubts }: PastRun): AsyncGenerator<Batch> {
  const sent = doubts.map(({ first = 0, features }): Range => [first, first + features]);
  const known = [...settled, ...sent].sort(([a], [b]) => a - b);
  yield* inBatches(creates(run, known), run);
  for (const { first = 0, features, batch, idempotencyKey } of doubts) {
    const items: Item[] = [];
    for await (const item of creates(run))
      if (item.ordinal >= first && item.ordinal < first + features) items.push(item);
    yield { items, idempotencyKey: idempotencyKey ?? run.newIdempotencyKey(), inDoubt: batch };
  }
}
