import { createError } from "../../errors.js";
import type { JournaledRun } from "../journal/journal-reader.js";
import type { OpenPlan } from "../plan/plan.js";
import { featureBody, readCreates } from "../plan/plan-creates.js";
import type { ApplyRun, WriteAction } from "./apply-run.js";
import { type Batch, type BatchItem, createBatches } from "./batches.js";
import { resolveUnidentified } from "./resolve-unidentified.js";
import { sendBatches, type WriteOperation } from "./send-batches.js";
import type { UncertainBatches } from "./uncertain-batches.js";

/** A feature that is created, whatever the plan does with it. */
export const createItem = (action: WriteAction, ordinal: number): BatchItem => ({
  action,
  key: action.key,
  text: featureBody(action.feature),
  ordinal,
});

/** POST of what has a key, or of what has none. */
export function createOperation(run: ApplyRun, isIdentifiable: boolean): WriteOperation {
  const { service, map } = run.header;
  return {
    kind: "create",
    isIdentifiable,
    send: ({ items, idempotencyKey }) =>
      run.etagChain.send((condition) =>
        run.context.client.create(
          items.map(({ text }) => text),
          idempotencyKey,
          condition,
        ),
      ),
    createNotOfferedError: (status) =>
      createError("write-refused", { service, map, status, reason: "it creates no features by POST" }),
    onApplied: (features) => {
      run.counts.created += features;
      run.reportProgress("create", run.counts.created, run.plan.counts.create);
    },
    onRefused: ({ action }, refusal) => run.recordRefusal(action, refusal),
  };
}

/** Whether what is created can be found again on the map. */
const hasPropertyKey = ({ header }: OpenPlan): boolean => header.key?.by === "property";

/**
 * Creates what the plan has to be created.
 * @param past a run of the same plan that did not come to its end, where nothing identifies what it created
 */
export async function createFeatures(run: ApplyRun, past: JournaledRun | null): Promise<void> {
  if (run.plan.counts.create === 0) return;
  const identified = hasPropertyKey(run.plan);
  const delivery: WriteOperation = {
    ...createOperation(run, identified),
    recordIds: (ids) => run.creationRecorder.recordIds(ids),
    checkReread: (parked) => checkForeignCreates(parked, run),
  };
  if (identified) return sendBatches(createBatches(readCreates(run.plan), run), delivery, run);
  const batches = past ? unfinishedBatches(run, past) : createBatches(readCreates(run.plan), run);
  await sendBatches(batches, delivery, run, (parked, _round, isLast) =>
    resolveUnidentified(parked, delivery, run, isLast),
  );
}

/**
 * The map was read again, and is to be written to as it is now: no other writer may have created meanwhile what this run
 * has still to create. @throws map-changed
 */
async function checkForeignCreates(parked: UncertainBatches, run: ApplyRun): Promise<void> {
  let found = 0;
  for await (const creates of readCreates(run.plan)) found += parked.countKeys(creates.map(({ key }) => key));
  if (found <= run.counts.created + parked.presentCount) return;
  run.etagChain.markLost();
  throw createError("map-changed", { service: run.header.service, map: run.header.map });
}

type Range = readonly [number, number];

/** All that are to be created, but those in the ranges (in order, [first, behind the last]). */
async function* createsOutside(run: ApplyRun, ranges: readonly Range[]): AsyncGenerator<readonly BatchItem[]> {
  let next = 0;
  for await (const group of readCreates(run.plan))
    yield group.filter(({ ordinal }) => {
      while (next < ranges.length && ranges[next]![1] <= ordinal) next += 1;
      const range = ranges[next];
      return !range || ordinal < range[0];
    });
}

/** What an earlier run did not send; then, as they were, the batches that it left in doubt. */
async function* unfinishedBatches(run: ApplyRun, { settledRanges, uncertain }: JournaledRun): AsyncGenerator<Batch> {
  const sent = uncertain.map(({ first = 0, features }): Range => [first, first + features]);
  const known = [...settledRanges, ...sent].sort(([a], [b]) => a - b);
  yield* createBatches(createsOutside(run, known), run);
  for (const { first = 0, features, batch, idempotencyKey } of uncertain) {
    const items: BatchItem[] = [];
    for await (const group of readCreates(run.plan))
      items.push(...group.filter(({ ordinal }) => ordinal >= first && ordinal < first + features));
    yield { items, idempotencyKey: idempotencyKey ?? run.createIdempotencyKey(), uncertainEntry: batch };
  }
}
