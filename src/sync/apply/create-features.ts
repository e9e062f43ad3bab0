import { createError } from "../../errors.js";
import type { JournaledRun } from "../journal/journal-reader.js";
import type { OpenPlan } from "../plan/plan.js";
import { featureBody, type PlannedCreate, readCreates } from "../plan/plan-creates.js";
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
    recordIds: (ids) => {
      run.reportedCreates += ids.length;
      return run.creationRecorder.recordIds(ids);
    },
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

/** All creates that an earlier run has not sent. */
async function* createsExcept(
  run: ApplyRun,
  wasSent: (item: PlannedCreate) => boolean,
): AsyncGenerator<readonly BatchItem[]> {
  for await (const group of readCreates(run.plan)) yield group.filter((item) => !wasSent(item));
}

/** Whether a create lies in one of the ranges of ordinals (sorted; [first, end)); to be asked in order. */
function createRangeTest(ranges: readonly Range[]): (item: PlannedCreate) => boolean {
  let next = 0;
  return ({ ordinal }) => {
    while (next < ranges.length && ranges[next]![1] <= ordinal) next += 1;
    const range = ranges[next];
    return range !== undefined && ordinal >= range[0];
  };
}

/**
 * How long after a request without a response it is sent again with the same Idempotency-Key: services forget keys after
 * a time that they do not tell, mostly a day, and would create the features twice.
 */
const replayedForMs = 60 * 60 * 1000;

/** @param time of the request, ISO 8601; one in the future shows that the clock has been changed */
function mayBeForgotten(time: string): boolean {
  const age = Date.now() - Date.parse(time);
  return !(age >= -60_000 && age <= replayedForMs);
}

/**
 * Features that an earlier run did not send, followed by its uncertain batches, unchanged; the outcome of those that were
 * sent long ago stays unknown.
 */
async function* unfinishedBatches(run: ApplyRun, journaled: JournaledRun): AsyncGenerator<WriteBatch> {
  const earlier = { ...journaled, uncertain: journaled.uncertain.filter(({ kind }) => kind === "create") };
  if (earlier.hasNames) return yield* unfinishedNamedBatches(run, earlier);
  const { settledRanges, uncertain } = earlier;
  const sent = uncertain.map(({ first = 0, features }): Range => [first, first + features]);
  const excluded = [...settledRanges, ...sent].sort(([a], [b]) => a - b);
  yield* createBatches(createsExcept(run, createRangeTest(excluded)), run);
  for (const { first = 0, features, batch, idempotencyKey, time } of uncertain) {
    const items: BatchItem[] = [];
    for await (const group of readCreates(run.plan))
      items.push(...group.filter(({ ordinal }) => ordinal >= first && ordinal < first + features));
    if (mayBeForgotten(time)) {
      for (const { action } of items) await run.recordUnknown(action, "it was sent too long ago to be sent again");
      await run.acknowledge(batch, "done");
      continue;
    }
    yield { items, idempotencyKey: idempotencyKey ?? run.createIdempotencyKey(), uncertainEntry: batch };
  }
}

/**
 * The same for features that are matched by id. Those that the service has reported as created are matched, and are not in
 * the plan, so that names identify the others.
 */
async function* unfinishedNamedBatches(run: ApplyRun, { uncertain }: JournaledRun): AsyncGenerator<WriteBatch> {
  const sentBy = new Map<string, JournaledRun["uncertain"][number]>();
  for (const sent of uncertain) for (const name of sent.names ?? []) sentBy.set(name, sent);
  const itemsOf = new Map(uncertain.map((sent) => [sent, [] as BatchItem[]]));
  const wasSent = (item: PlannedCreate): boolean => {
    const sent = sentBy.get(item.agreement?.name ?? "");
    if (sent) itemsOf.get(sent)!.push(item);
    return sent !== undefined;
  };
  yield* createBatches(createsExcept(run, wasSent), run);
  for (const [{ features, batch, idempotencyKey }, items] of itemsOf) {
    const isWhole = items.length === features;
    // The service has responded to a part of the batch, or the source has changed.
    if (!isWhole) await run.acknowledge(batch, "settled");
    if (isWhole) yield { items, idempotencyKey: idempotencyKey ?? run.createIdempotencyKey(), uncertainEntry: batch };
    else if (items.length > 0) yield { items, idempotencyKey: run.createIdempotencyKey() };
  }
}
