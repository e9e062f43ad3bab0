/** Deletes features by internal ids (Map Features Service Interface, 4.6, form 1). */
import { createError } from "../../errors.js";
import type { WireFailure } from "../../remote/wire.js";
import { type ApplyRun, isFullyApplied } from "./apply-run.js";
import { MapReread } from "./map-reread.js";
import { namesFailuresOnly } from "./match-failures.js";

/** A delete request that may not have removed all its features. */
export interface UncertainDelete {
  /** Number in the journal. */
  readonly entry: number;
  readonly ids: readonly string[];
  /** Null if there was no response. */
  readonly failed: readonly WireFailure[] | null;
}

export interface DeleteOutcome {
  /** Number of features that were certainly deleted. */
  readonly deleted: number;
  readonly uncertain: readonly UncertainDelete[];
}

/**
 * Sends one request, or several smaller ones if it is too large or rejected as a whole.
 * @throws map-changed, write-refused; errors of the client
 */
export async function deleteBatch(ids: readonly string[], run: ApplyRun): Promise<DeleteOutcome> {
  const { service, map } = run.header;
  const { outcome, entry } = await run.sendJournaled({ kind: "delete", features: ids.length, ids }, () =>
    run.etagChain.send((condition) => run.context.client.remove({ ids }, condition)),
  );
  switch (outcome.kind) {
    case "answered":
      if (isFullyApplied(outcome, ids.length) && namesAll(outcome.success, ids))
        return { deleted: ids.length, uncertain: [] };
      if (run.appliesWholeRequests && namesFailuresOnly(outcome) && ids.length > 1) {
        await run.acknowledge(entry, "refused");
        return deleteHalves(ids, run);
      }
      return { deleted: 0, uncertain: [{ entry, ids, failed: outcome.failed }] };
    case "in-doubt":
      return { deleted: 0, uncertain: [{ entry, ids, failed: null }] };
    case "changed":
      throw createError("map-changed", { service, map });
    case "not-offered":
      throw createError("write-refused", {
        service,
        map,
        status: outcome.status,
        reason: "it does not support DELETE to delete features",
      });
    case "refused":
    case "too-large":
      if (ids.length > 1) return deleteHalves(ids, run);
      return { deleted: 0, uncertain: [{ entry, ids, failed: toFailure(ids[0]!, outcome.reason) }] };
  }
}

/** Whether the response names the deleted features. Otherwise the map shows whether they are gone. */
function namesAll(success: readonly { readonly id: string }[], ids: readonly string[]): boolean {
  const named = new Set(success.map(({ id }) => id.toLowerCase()));
  return ids.every((id) => named.has(id.toLowerCase()));
}

const toFailure = (id: string, message: string): readonly WireFailure[] => [{ id, path: "", message }];

async function deleteHalves(ids: readonly string[], run: ApplyRun): Promise<DeleteOutcome> {
  const middle = Math.ceil(ids.length / 2);
  const first = await deleteBatch(ids.slice(0, middle), run);
  const second = await deleteBatch(ids.slice(middle), run);
  return {
    deleted: first.deleted + second.deleted,
    uncertain: [...first.uncertain, ...second.uncertain],
  };
}

/** Features that are still on the map, with the reason that the service gives. */
export type UndeletedReasons = ReadonlyMap<string, string>;

/**
 * Determines which features of uncertain requests a reread map still contains, and settles their batches in the
 * journal.
 */
export async function resolveDeletes(
  uncertain: readonly UncertainDelete[],
  reading: MapReread,
  run: ApplyRun,
): Promise<{ readonly deleted: number; readonly refused: UndeletedReasons; readonly again: readonly string[] }> {
  const refused = new Map<string, string>();
  const again: string[] = [];
  let deleted = 0;
  for (const { entry, ids, failed } of uncertain) {
    if (failed && failed.length > 0 && failed.length < ids.length && ids.every((id) => reading.findById(id))) {
      // The service deleted nothing, because it rejected some of the features.
      run.appliesWholeRequests = true;
      again.push(...ids);
      await run.acknowledge(entry, "settled");
      continue;
    }
    const reasons = new Map(failed?.map(({ id, message }) => [id, message]));
    for (const id of ids) {
      if (!reading.findById(id)) deleted += 1;
      else if (failed && failed.length > 0) refused.set(id, reasons.get(id) ?? failed[0]!.message);
      else again.push(id);
    }
    await run.acknowledge(entry, "settled");
  }
  return { deleted, refused, again };
}

/** Reads the map, again after pauses while it shows features of uncertain requests, since it may be a late copy. */
export async function readUntilGone(uncertain: readonly UncertainDelete[], run: ApplyRun): Promise<MapReread> {
  if (uncertain.some(({ failed }) => failed === null)) await run.waitSettleTime();
  const isGone = (reading: MapReread) => uncertain.every(({ ids }) => ids.every((id) => !reading.findById(id)));
  return MapReread.readUntil(run, (reading) => isGone(reading) || run.etagChain.isLast(reading.snapshot.etag));
}

/**
 * Deletes features regardless of their current content. Safe to repeat, since ids are never reused.
 * @returns features that could not be deleted
 * @throws batches-not-accepted; errors of `deleteBatch`
 */
export async function deleteUnconditionally(ids: readonly string[], run: ApplyRun): Promise<UndeletedReasons> {
  const refused = new Map<string, string>();
  let remainingIds = ids;
  for (let round = 0; remainingIds.length > 0; round++) {
    const { uncertain } = await deleteBatch(remainingIds, run);
    if (uncertain.length === 0) break;
    await using reading = await readUntilGone(uncertain, run);
    run.etagChain.resume(reading.snapshot.etag);
    const settled = await resolveDeletes(uncertain, reading, run);
    for (const [id, reason] of settled.refused) refused.set(id, reason);
    remainingIds = settled.again;
    if (remainingIds.length > 0 && round >= run.context.traffic.retries) throw run.createNotAcceptedError(round + 1);
  }
  return refused;
}
