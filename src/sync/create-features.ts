import { fault } from "../errors.js";
import { type Batch, type Item, inBatches } from "./apply-batches.js";
import { type Delivery, deliver } from "./apply-delivery.js";
import type { ApplyRun, Sending } from "./apply-run.js";
import type { PastRun } from "./journal-reader.js";
import type { OpenPlan } from "./plan.js";
import { bodyOf, createsOf } from "./plan-creates.js";
import type { Parked } from "./settle-parked.js";
import { settleUnidentified } from "./settle-unidentified.js";

/** A feature that is created, whatever the plan does with it. */
export const itemOf = (action: Sending, ordinal: number): Item => ({
  action,
  key: action.key,
  text: bodyOf(action.feature),
  ordinal,
});

/** POST of what has a key, or of what has none. */
export function creation(run: ApplyRun, identified: boolean): Delivery {
  const { service, map } = run.header;
  return {
    kind: "create",
    identified,
    request: ({ items, idempotencyKey }) =>
      run.chain.send((condition) =>
        run.tools.client.create(
          items.map(({ text }) => text),
          idempotencyKey,
          condition,
        ),
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
  const delivery: Delivery = {
    ...creation(run, identified),
    record: (ids) => run.record.created(ids),
    check: (parked) => checkForeign(parked, run),
  };
  if (identified) return deliver(inBatches(createsOf(run.plan), run), delivery, run);
  const batches = past ? unsettled(run, past) : inBatches(createsOf(run.plan), run);
  await deliver(batches, delivery, run, (parked, _round, isLast) => settleUnidentified(parked, delivery, run, isLast));
}

/**
 * The map was read again, and is to be written to as it is now: no other writer may have created meanwhile what this run
 * has still to create. @throws map-changed
 */
async function checkForeign(parked: Parked, run: ApplyRun): Promise<void> {
  let found = 0;
  for await (const creates of createsOf(run.plan)) found += parked.countKeys(creates.map(({ key }) => key));
  if (found <= run.counts.created + parked.present) return;
  run.chain.lose();
  throw fault("map-changed", { service: run.header.service, map: run.header.map });
}

type Range = readonly [number, number];

/** All that are to be created, but those in the ranges (in order, [first, behind the last]). */
async function* createsWithout(run: ApplyRun, ranges: readonly Range[]): AsyncGenerator<readonly Item[]> {
  let next = 0;
  for await (const group of createsOf(run.plan))
    yield group.filter(({ ordinal }) => {
      while (next < ranges.length && ranges[next]![1] <= ordinal) next += 1;
      const range = ranges[next];
      return !range || ordinal < range[0];
    });
}

/** What an earlier run did not send; then, as they were, the batches that it left in doubt. */
async function* unsettled(run: ApplyRun, { settled, doubts }: PastRun): AsyncGenerator<Batch> {
  const sent = doubts.map(({ first = 0, features }): Range => [first, first + features]);
  const known = [...settled, ...sent].sort(([a], [b]) => a - b);
  yield* inBatches(createsWithout(run, known), run);
  for (const { first = 0, features, batch, idempotencyKey } of doubts) {
    const items: Item[] = [];
    for await (const group of createsOf(run.plan))
      items.push(...group.filter(({ ordinal }) => ordinal >= first && ordinal < first + features));
    yield { items, idempotencyKey: idempotencyKey ?? run.newIdempotencyKey(), inDoubt: batch };
  }
}
