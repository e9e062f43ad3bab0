import { createError } from "../../errors.js";
import type { JournaledRun } from "../journal/journal-reader.js";
import type { OpenPlan } from "../plan/plan.js";
import { featureBody, readCreates } from "../plan/plan-creates.js";
import type { ApplyRun, WriteAction } from "./apply-run.js";
import { type BatchItem, createBatches, type WriteBatch } from "./batches.js";
import { resolveUnidentified } from "./resolve-unidentified.js";
import { sendBatches, type WriteOperation } from "./send-batches.js";
import type { UncertainBatches } from "./uncertain-batches.js";

/** Creates a batch item for a POST, regardless of the plan's action. */
export const createItem = (action: WriteAction, ordinal: number): BatchItem => ({
  action,
  key: action.key,
  text: featureBody(action.feature),
  ordinal,
});

/** POST of features with or without a key. */
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
      createError("write-refused", { service, map, status, reason: "it does not support POST to create features" }),
    onApplied: (features) => {
      run.counts.created += features;
      run.reportProgress("create", run.counts.created, run.plan.counts.create);
    },
    onRefused: ({ action }, refusal) => run.recordRefusal(action, refusal),
  };
}

/** Whether created features can be found on the map by a key. */
const hasPropertyKey = ({ header }: OpenPlan): boolean => header.key?.by === "property";

/**
 * Executes the creates of the plan.
 * @param previousRun an interrupted run of the same plan, if no key identifies the features that it created
 */
export async function createFeatures(run: ApplyRun, previousRun: JournaledRun | null): Promise<void> {
  if (run.plan.counts.create === 0) return;
  const identified = hasPropertyKey(run.plan);
  const operation: WriteOperation = {
    ...createOperation(run, identified),
    recordIds: (ids) => run.creationRecorder.recordIds(ids),
    checkReread: (uncertain) => checkForeignCreates(uncertain, run),
  };
  if (identified) return sendBatches(createBatches(readCreates(run.plan), run), operation, run);
  const batches = previousRun ? unfinishedBatches(run, previousRun) : createBatches(readCreates(run.plan), run);
  await sendBatches(batches, operation, run, (uncertain, _round, isLast) =>
    resolveUnidentified(uncertain, operation, run, isLast),
  );
}

/**
 * Before writing on the basis of a reread map, checks that no other writer has created features that this run has yet
 * to create. @throws map-changed
 */
async function checkForeignCreates(uncertain: UncertainBatches, run: ApplyRun): Promise<void> {
  let found = 0;
  for await (const creates of readCreates(run.plan)) found += uncertain.countKeys(creates.map(({ key }) => key));
  if (found <= run.counts.created + uncertain.presentCount) return;
  throw run.createConflictError();
}

type Range = readonly [number, number];

/** All creates except those in the ranges (sorted; [first, end)). */
async function* createsOutside(run: ApplyRun, ranges: readonly Range[]): AsyncGenerator<readonly BatchItem[]> {
  let next = 0;
  for await (const group of readCreates(run.plan))
    yield group.filter(({ ordinal }) => {
      while (next < ranges.length && ranges[next]![1] <= ordinal) next += 1;
      const range = ranges[next];
      return !range || ordinal < range[0];
    });
}

/** Features that an earlier run did not send, followed by its uncertain batches, unchanged. */
async function* unfinishedBatches(
  run: ApplyRun,
  { settledRanges, uncertain }: JournaledRun,
): AsyncGenerator<WriteBatch> {
  const sent = uncertain.map(({ first = 0, features }): Range => [first, first + features]);
  const excluded = [...settledRanges, ...sent].sort(([a], [b]) => a - b);
  yield* createBatches(createsOutside(run, excluded), run);
  for (const { first = 0, features, batch, idempotencyKey } of uncertain) {
    const items: BatchItem[] = [];
    for await (const group of readCreates(run.plan))
      items.push(...group.filter(({ ordinal }) => ordinal >= first && ordinal < first + features));
    yield { items, idempotencyKey: idempotencyKey ?? run.createIdempotencyKey(), uncertainEntry: batch };
  }
}
