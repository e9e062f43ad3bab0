/**
 * Sends the whole diff in one PUT (Map Features Service Interface, 4.4). The request contains the complete new content
 * of the map, since the service deletes every feature that it omits. It is never split.
 */
import { formatCount } from "../../format-count.js";
import { stringifyExactly } from "../../model/exact-json.js";
import { readCompleteSet } from "../../remote/client/complete-set.js";
import type { CompleteSet, WriteOutcome } from "../../remote/client/map-client.js";
import { pageSize, type WireFailure } from "../../remote/wire.js";
import type { SyncKey } from "../plan/plan.js";
import { type ApplyRun, isFullyApplied } from "./apply-run.js";
import { strongEtag } from "./etag-chain.js";
import { MapReread } from "./map-reread.js";
import { isReadingCurrent } from "./map-state-probe.js";
import { namesFailuresOnly } from "./match-failures.js";
import { type ReplacementFeature, ReplacementSet } from "./replacement-set.js";

/** "apart": nothing was applied; features must be written in another way. */
export type ReplaceResult =
  /** `etag`: strong tag of the map after the request, if the response has one. */
  | { readonly kind: "done"; readonly reread: MapReread; readonly etag: string | null }
  | { readonly kind: "apart"; readonly reason: string };

/**
 * Sends the set on condition that the map is unchanged, then reads the map to determine the outcome. Since a PUT can be
 * repeated, it is sent again if the map shows that it was not applied.
 * @throws map-changed, batches-not-accepted, sync-interrupted; errors of the client
 */
export async function replaceAllFeatures(run: ApplyRun): Promise<ReplaceResult> {
  const contents = await ReplacementSet.create(run);
  const set = contents && (await buildCompleteSet(contents.features, run));
  if (!set) return { kind: "apart", reason: "the features exceed the limits of one request" };
  const { snapshot } = run.header;
  // A feature that fails may replace one that the set omits, and so deletes.
  const strict = run.plan.counts.delete > 0;
  let etag = await plannedEtag(run);
  const recorded = new Set<string>();
  const record = async (ids: readonly string[]) => {
    const created = await withoutPlannedIds(ids, run);
    for (const id of created) recorded.add(id);
    run.reportedCreates = recorded.size;
    await run.creationRecorder.recordIds(created);
  };
  for (let round = 0; ; round++) {
    run.throwIfAborted();
    const { outcome, entry } = await run.sendJournaled(
      { kind: "put", features: set.features.length },
      () => run.context.client.replaceAll(set, { ifMatch: strongEtag(etag), strict }),
      record,
    );
    const reason = fallbackReason(outcome, strict);
    if (reason !== null) return { kind: "apart", reason };
    // In later rounds, the change may be an earlier, interrupted request that was applied after all.
    if (outcome.kind === "changed" && round === 0) throw run.createConflictError();
    if (outcome.kind !== "answered") await run.waitSettleTime();
    const isRejected =
      outcome.kind === "answered" && namesFailuresOnly(outcome) && outcome.failed.length < set.features.length;
    const reread = await (isRejected ? readUntilChanged(run) : MapReread.read(run));
    if (isRejected && reread.snapshot.fingerprint === snapshot.fingerprint) {
      await reread[Symbol.asyncDispose]();
      await run.acknowledge(entry, "settled");
      return { kind: "apart", reason: rejectionReason(outcome.failed) };
    }
    const state = await checkReplaceResult(reread, outcome, contents, run);
    await run.acknowledge(entry, "settled");
    if (state === "as-sent") {
      const created = await findCreatedIds(reread, run);
      await run.creationRecorder.recordIds(created.filter((id) => !recorded.has(id)));
      return { kind: "done", reread, etag: outcome.kind === "answered" ? strongEtag(outcome.etag) : null };
    }
    ({ etag } = reread.snapshot);
    await reread[Symbol.asyncDispose]();
    if (state === "otherwise") throw run.createConflictError();
    if (round >= run.context.traffic.retries) throw run.createNotAcceptedError(round + 1);
    if (reread.snapshot.fingerprint !== snapshot.fingerprint) throw run.createConflictError();
  }
}

async function checkReplaceResult(
  reading: MapReread,
  outcome: WriteOutcome,
  contents: ReplacementSet,
  run: ApplyRun,
): Promise<"as-sent" | "as-before" | "otherwise"> {
  const { fingerprint } = run.header.snapshot;
  if (outcome.kind === "answered") {
    await contents.recordResults(reading, isFullyApplied(outcome, contents.features.length) ? null : outcome.failed);
    return "as-sent";
  }
  if (reading.snapshot.fingerprint === fingerprint) return "as-before";
  if (!contents.matches(reading)) return "otherwise";
  await contents.recordResults(reading, null);
  return "as-sent";
}

/** Ids on the map that the plan did not contain: the PUT was applied to the map for which it was planned. */
async function findCreatedIds({ workspace }: MapReread, run: ApplyRun): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const { id } of workspace.map.rows()) if (id !== null) ids.add(id);
  return withoutPlannedIds(ids, run);
}

async function withoutPlannedIds(ids: Iterable<string>, run: ApplyRun): Promise<readonly string[]> {
  const left = new Set(ids);
  for await (const action of run.plan.actions(["update", "delete", "keep"]))
    if (action.action !== "create") left.delete(action.id);
  return [...left];
}

/** Reads the map, again after pauses while it is as planned, since it may be a late copy. */
const readUntilChanged = (run: ApplyRun): Promise<MapReread> =>
  MapReread.readUntil(
    run,
    ({ snapshot }) =>
      snapshot.fingerprint !== run.header.snapshot.fingerprint || isReadingCurrent(run.context.client, snapshot.etag),
  );

const rejectionReason = (failed: readonly WireFailure[]): string =>
  `the service rejected ${formatCount(failed.length, "feature")} of the full synchronization`;

function fallbackReason(outcome: WriteOutcome, strict: boolean): string | null {
  // As asked for, nothing was applied.
  if (outcome.kind === "answered" && strict && outcome.success.length === 0 && outcome.failed.length > 0)
    return rejectionReason(outcome.failed);
  if (outcome.kind === "too-large") return "one request with all features is too large for the service";
  if (outcome.kind === "not-offered") return "the service does not support full synchronization";
  if (outcome.kind === "refused") return `the service rejected the full synchronization: ${outcome.reason}`;
  return null;
}

/**
 * The tag of the map, if it is still unchanged since the plan. Unless the service refuses the request if it has changed, the
 * map is read again. @throws map-changed
 */
async function plannedEtag(run: ApplyRun): Promise<string | null> {
  const { snapshot } = run.header;
  if (await run.isProtectedByTags(() => Math.floor(snapshot.features / pageSize.max) + 1)) return snapshot.etag;
  await using reading = await MapReread.read(run);
  if (reading.snapshot.fingerprint !== snapshot.fingerprint) throw run.createConflictError();
  return reading.snapshot.etag;
}

const keyProperty = (key: SyncKey | null): string | null => (key?.by === "property" ? key.name : null);

function buildCompleteSet(named: readonly ReplacementFeature[], run: ApplyRun): Promise<CompleteSet | null> {
  const { key, source } = run.header;
  const byId = keyProperty(key) === null;
  function* texts() {
    for (const { feature, id } of named) {
      const { geometry, properties } = feature;
      yield stringifyExactly({ type: "Feature", ...(byId && id !== null && { id }), geometry, properties });
    }
  }
  return readCompleteSet({ texts, missingCount: source.complete ? 0 : 1 }, keyProperty(key));
}
