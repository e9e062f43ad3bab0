/**
 * The whole diff in one PUT (Map Features Service Interface, 4.4): it names every feature that the map shall have, since
 * what it does not name is deleted. It is never split.
 */
import { fault, type GeoferryError } from "../errors.js";
import { completeSet } from "../remote/complete-set.js";
import type { CompleteSet, WriteOutcome } from "../remote/map-client.js";
import { type ApplyRun, isDone } from "./apply-run.js";
import type { SyncKey } from "./plan.js";
import { type Named, PutContents } from "./put-contents.js";
import { Reading } from "./settle-reading.js";
import { conditionOf } from "./version-chain.js";

/** "apart": nothing was carried out, and features have to be written in another way. */
export type PutResult =
  | { readonly kind: "done"; readonly reading: Reading }
  | { readonly kind: "apart"; readonly why: string };

/**
 * Sends the set under the condition that the map is as it was read, reads it again, and decides by that. As a PUT can
 * be repeated, it is sent again where the map shows that it was not carried out.
 * @throws map-changed, batches-not-taken, sync-interrupted; what the client throws
 */
export async function putAll(run: ApplyRun): Promise<PutResult> {
  const contents = await PutContents.of(run);
  const set = contents && (await wholeSet(contents.named, run));
  if (!set) return { kind: "apart", why: "the features are more than one request takes" };
  const { service, map, snapshot } = run.header;
  let etag = await etagOfPlanned(run);
  for (let round = 0; ; round++) {
    run.stopIfAsked();
    const { outcome, entry } = await run.journaled({ kind: "put", features: set.features.length }, () =>
      run.tools.client.replaceAll(set, { ifMatch: conditionOf(etag) }),
    );
    const why = whyApart(outcome);
    if (why !== null) return { kind: "apart", why };
    // What was cut off before may have come through meanwhile.
    if (outcome.kind === "changed" && round === 0) throw overtaken(run);
    if (outcome.kind !== "answered") await run.quiet();
    const reading = await Reading.take(run);
    const state = await stateOf(reading, outcome, contents, run);
    await run.settled(entry, "settled");
    if (state === "as-sent") {
      await run.record.created(await createdIds(reading, run));
      return { kind: "done", reading };
    }
    ({ etag } = reading.snapshot);
    await reading[Symbol.asyncDispose]();
    if (state === "otherwise") throw overtaken(run);
    if (round >= run.tools.traffic.retries) throw fault("batches-not-taken", { service, map, tries: round + 1 });
    if (reading.snapshot.fingerprint !== snapshot.fingerprint) throw overtaken(run);
  }
}

function overtaken({ chain, header: { service, map } }: ApplyRun): GeoferryError {
  chain.lose();
  return fault("map-changed", { service, map });
}

async function stateOf(
  reading: Reading,
  outcome: WriteOutcome,
  contents: PutContents,
  run: ApplyRun,
): Promise<"as-sent" | "as-before" | "otherwise"> {
  const { fingerprint } = run.header.snapshot;
  if (outcome.kind === "answered") {
    await contents.settle(reading, isDone(outcome, contents.named.length) ? null : outcome.failed);
    return "as-sent";
  }
  if (reading.snapshot.fingerprint === fingerprint) return "as-before";
  if (!contents.isShownBy(reading)) return "otherwise";
  await contents.settle(reading, null);
  return "as-sent";
}

/** What the map has that the plan did not find there: the PUT was carried out on the map as it was planned for. */
async function createdIds({ workspace }: Reading, run: ApplyRun): Promise<readonly string[]> {
  const created = new Set<string>();
  for (const { id } of workspace.map.rows()) if (id !== null) created.add(id);
  for await (const action of run.plan.actions(["update", "delete", "keep"]))
    if (action.action !== "create") created.delete(action.id);
  return [...created];
}

function whyApart(outcome: WriteOutcome): string | null {
  if (outcome.kind === "too-large") return "one request with all features is too large for the service";
  if (outcome.kind === "not-offered") return "the service offers no full synchronisation";
  if (outcome.kind === "refused") return `the service refused the full synchronisation: ${outcome.reason}`;
  return null;
}

/** The tag of the map, where it still is what the plan was made for. @throws map-changed */
async function etagOfPlanned(run: ApplyRun): Promise<string | null> {
  const { snapshot } = run.header;
  if (snapshot.etag !== null) return snapshot.etag;
  await using reading = await Reading.take(run);
  if (reading.snapshot.fingerprint !== snapshot.fingerprint) throw overtaken(run);
  return reading.snapshot.etag;
}

const nameOf = (key: SyncKey | null): string | null => (key?.by === "property" ? key.name : null);

function wholeSet(named: readonly Named[], run: ApplyRun): Promise<CompleteSet | null> {
  const { key, source } = run.header;
  const byId = nameOf(key) === null;
  function* texts() {
    for (const { feature, id } of named) {
      const { geometry, properties } = feature;
      yield JSON.stringify({ type: "Feature", ...(byId && id !== null && { id }), geometry, properties });
    }
  }
  return completeSet({ texts, missing: source.complete ? 0 : 1 }, nameOf(key));
}
