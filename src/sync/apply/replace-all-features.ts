/**
 * The whole diff in one PUT (Map Features Service Interface, 4.4): it names every feature that the map shall have, since
 * what it does not name is deleted. It is never split.
 */
import { createError, type GeoferryError } from "../../errors.js";
import { readCompleteSet } from "../../remote/client/complete-set.js";
import type { CompleteSet, WriteOutcome } from "../../remote/client/map-client.js";
import type { SyncKey } from "../plan/plan.js";
import { type ApplyRun, isFullyApplied } from "./apply-run.js";
import { strongEtag } from "./etag-chain.js";
import { MapReread } from "./map-reread.js";
import { type ReplacementFeature, ReplacementSet } from "./replacement-set.js";

/** "apart": nothing was carried out, and features have to be written in another way. */
export type ReplaceResult =
  | { readonly kind: "done"; readonly reread: MapReread }
  | { readonly kind: "apart"; readonly reason: string };

/**
 * Sends the set under the condition that the map is as it was read, reads it again, and decides by that. As a PUT can
 * be repeated, it is sent again where the map shows that it was not carried out.
 * @throws map-changed, batches-not-accepted, sync-interrupted; what the client throws
 */
export async function replaceAllFeatures(run: ApplyRun): Promise<ReplaceResult> {
  const contents = await ReplacementSet.create(run);
  const set = contents && (await buildCompleteSet(contents.features, run));
  if (!set) return { kind: "apart", reason: "the features are more than one request takes" };
  const { service, map, snapshot } = run.header;
  let etag = await plannedEtag(run);
  for (let round = 0; ; round++) {
    run.throwIfAborted();
    const { outcome, entry } = await run.sendJournaled({ kind: "put", features: set.features.length }, () =>
      run.context.client.replaceAll(set, { ifMatch: strongEtag(etag) }),
    );
    const reason = fallbackReason(outcome);
    if (reason !== null) return { kind: "apart", reason };
    // What was cut off before may have come through meanwhile.
    if (outcome.kind === "changed" && round === 0) throw conflictError(run);
    if (outcome.kind !== "answered") await run.waitSettleTime();
    const reread = await MapReread.read(run);
    const state = await checkReplaceResult(reread, outcome, contents, run);
    await run.acknowledge(entry, "settled");
    if (state === "as-sent") {
      await run.creationRecorder.recordIds(await findCreatedIds(reread, run));
      return { kind: "done", reread };
    }
    ({ etag } = reread.snapshot);
    await reread[Symbol.asyncDispose]();
    if (state === "otherwise") throw conflictError(run);
    if (round >= run.context.traffic.retries)
      throw createError("batches-not-accepted", { service, map, tries: round + 1 });
    if (reread.snapshot.fingerprint !== snapshot.fingerprint) throw conflictError(run);
  }
}

function conflictError({ etagChain, header: { service, map } }: ApplyRun): GeoferryError {
  etagChain.markLost();
  return createError("map-changed", { service, map });
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

/** What the map has that the plan did not find there: the PUT was carried out on the map as it was planned for. */
async function findCreatedIds({ workspace }: MapReread, run: ApplyRun): Promise<readonly string[]> {
  const created = new Set<string>();
  for (const { id } of workspace.map.rows()) if (id !== null) created.add(id);
  for await (const action of run.plan.actions(["update", "delete", "keep"]))
    if (action.action !== "create") created.delete(action.id);
  return [...created];
}

function fallbackReason(outcome: WriteOutcome): string | null {
  if (outcome.kind === "too-large") return "one request with all features is too large for the service";
  if (outcome.kind === "not-offered") return "the service offers no full synchronisation";
  if (outcome.kind === "refused") return `the service refused the full synchronisation: ${outcome.reason}`;
  return null;
}

/** The tag of the map, where it still is what the plan was made for. @throws map-changed */
async function plannedEtag(run: ApplyRun): Promise<string | null> {
  const { snapshot } = run.header;
  if (snapshot.etag !== null) return snapshot.etag;
  await using reading = await MapReread.read(run);
  if (reading.snapshot.fingerprint !== snapshot.fingerprint) throw conflictError(run);
  return reading.snapshot.etag;
}

const keyProperty = (key: SyncKey | null): string | null => (key?.by === "property" ? key.name : null);

function buildCompleteSet(named: readonly ReplacementFeature[], run: ApplyRun): Promise<CompleteSet | null> {
  const { key, source } = run.header;
  const byId = keyProperty(key) === null;
  function* texts() {
    for (const { feature, id } of named) {
      const { geometry, properties } = feature;
      yield JSON.stringify({ type: "Feature", ...(byId && id !== null && { id }), geometry, properties });
    }
  }
  return readCompleteSet({ texts, missingCount: source.complete ? 0 : 1 }, keyProperty(key));
}
