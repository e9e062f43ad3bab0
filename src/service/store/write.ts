import { idempotencyLifetimeMs, type WriteOutcome, type WriteRequest } from "./contract.js";
import { countByBucket } from "./count-buckets.js";
import { type EvictedField, saveKeys, useKeyField } from "./key-fields.js";
import type { KeyIndexPending, KeyIndexProgress } from "./key-index-builder.js";
import { createMapVersion } from "./map-version.js";
import { mergeProperties } from "./merge-properties.js";
import { planWrite, type WriteCandidate, type WritePlan } from "./write-plan.js";
import type {
  DoneOutcome,
  FeatureMatch,
  KeyField,
  LockedMap,
  UpdatedFeatureRow,
  WriteTransaction,
} from "./write-transaction.js";

/**
 * Performs a write: the algorithm shared by all stores. Reads and plans everything first, then applies changes in bulk;
 * the store commits afterwards, or rolls back if it throws. After `reading-keys`, call it again (`KeyIndexBuilder`).
 */
export async function write(tx: WriteTransaction, request: WriteRequest): Promise<WriteOutcome | KeyIndexPending> {
  const earlier = await findReplayedOutcome(tx, request);
  if (earlier) return earlier;
  const map = await tx.lockMap(request.map);
  if (!map) return { kind: "no-map" };
  if (request.versions && !request.versions.includes(map.version)) {
    return { kind: "other-version", version: map.version };
  }
  const matching = await resolveMatchFields(tx, map, request);
  if ("read" in matching) return { kind: "reading-keys", ...matching };
  const { field } = matching;
  const { candidates, taken } = await findCandidates(tx, map, field, request);
  const plan = planWrite(request, map, candidates, taken);
  if (request.strict && plan.failed.length > 0) return { kind: "refused", failed: plan.failed };

  const { droppedField } = matching;
  const nothing = request.items.length > 0 && plan.success.length === 0;
  const done = nothing ? { changed: false, deleted: 0 } : await applyPlan(tx, map, matching, request, plan);
  const revision = map.revision + (done.changed ? 1 : 0);
  const version = done.changed ? createMapVersion(revision) : map.version;
  const { success, failed } = plan;
  const { deleted } = done;
  const dropped = droppedField !== undefined && { droppedField };
  const outcome = { kind: "done", success, failed, deleted, revision, version, replayed: false, ...dropped } as const;
  if (done.changed) await recordWrite(tx, map, request, plan, outcome);
  if (request.idempotency) {
    const { fingerprint } = request.idempotency;
    await tx.saveOutcome(request.idempotency, { fingerprint, outcome }, request.now);
  }
  return outcome;
}

async function findReplayedOutcome(
  tx: WriteTransaction,
  { idempotency, now }: WriteRequest,
): Promise<WriteOutcome | null> {
  if (!idempotency) return null;
  const kept = await tx.readOutcome(idempotency, now - idempotencyLifetimeMs);
  if (kept === null) return null;
  if (kept === "in-flight") return { kind: "key-in-flight" };
  const same = Buffer.compare(kept.fingerprint, idempotency.fingerprint) === 0;
  return same ? { ...kept.outcome, replayed: true } : { kind: "key-used-otherwise" };
}

/** The field that the request matches by, and all indexed fields. */
interface MatchFields extends EvictedField {
  readonly field: KeyField | null;
  readonly fields: readonly KeyField[];
}

/** Returns the progress if not all keys of the field are indexed. */
async function resolveMatchFields(
  tx: WriteTransaction,
  map: LockedMap,
  request: WriteRequest,
): Promise<MatchFields | (KeyIndexProgress & EvictedField)> {
  // An empty PUT needs no key lookup.
  if (request.remoteField === null || request.items.length === 0) return { field: null, fields: map.keyFields };
  return useKeyField(tx, map, request.remoteField);
}

/** Items with the same identifier, and their matches. */
interface IdentityGroup {
  copies: number;
  readonly matches: FeatureMatch[];
}

/** Looks up the features that the items of a request identify. */
async function findCandidates(
  tx: WriteTransaction,
  map: LockedMap,
  field: KeyField | null,
  request: WriteRequest,
): Promise<{ readonly candidates: readonly WriteCandidate[]; readonly taken: ReadonlySet<string> }> {
  const { items, kind } = request;
  const named = new Map<string, IdentityGroup>();
  const nameless: IdentityGroup = { copies: 1, matches: [] };
  const groups = items.map(({ id, key }) => {
    const name = kind === "create" ? null : field ? key : id;
    if (name === null) return nameless;
    const known = named.get(name);
    if (known) {
      known.copies++;
      return known;
    }
    const first: IdentityGroup = { copies: 1, matches: [] };
    named.set(name, first);
    return first;
  });
  const distinct = [...named.values()];
  const found = field
    ? await tx.findByKeys(field.number, [...named.keys()])
    : await tx.findByIds(map.number, [...named.keys()]);
  for (const match of found) distinct[match.of]!.matches.push(match);

  const candidates = items.map((item, i) => ({ item, copies: groups[i]!.copies, matches: groups[i]!.matches }));
  return { candidates, taken: field && kind === "synchronize" ? await findTakenIds(tx, map, candidates) : new Set() };
}

/** Where keys match, the id of a new feature may belong to another feature. */
async function findTakenIds(
  tx: WriteTransaction,
  map: LockedMap,
  candidates: readonly WriteCandidate[],
): Promise<ReadonlySet<string>> {
  const ids = candidates.flatMap(({ item, matches }) => (item.id !== null && matches.length === 0 ? [item.id] : []));
  return new Set((await tx.findByIds(map.number, [...new Set(ids)])).map(({ id }) => id));
}

async function applyPlan(
  tx: WriteTransaction,
  map: LockedMap,
  { field, fields }: MatchFields,
  request: WriteRequest,
  plan: WritePlan,
): Promise<{ readonly changed: boolean; readonly deleted: number }> {
  const { created, keptSeqs, removed } = plan;
  const deleted = keptSeqs && keptSeqs.length < map.features ? await tx.removeAllBut(map.number, keptSeqs) : 0;
  await tx.remove(map.number, removed);
  const updated = request.kind === "update" ? await mergeUpdates(tx, map, plan.updated, request.nulls) : plan.updated;
  const changed = await tx.update(map.number, updated);
  await tx.insert(map.number, created);

  // Features found by a key keep that key.
  const others = fields.filter(({ number }) => number !== field?.number);
  if (field) await tx.putKeys(field.number, plan.createdKeys);
  await saveKeys(tx, field ? others : fields, created, false);
  if (changed > 0) await saveKeys(tx, others, updated.filter(hasProperties), true);

  const added = created.map(({ seq }) => seq);
  if (deleted > 0) await tx.forgetCounts(map.number);
  await tx.addCounts(map.number, countByBucket(deleted > 0 ? [...keptSeqs!, ...added] : added, removed));
  return { changed: created.length + changed + removed.length + deleted > 0, deleted };
}

const hasProperties = (row: UpdatedFeatureRow): row is UpdatedFeatureRow & { readonly properties: string } =>
  row.properties !== null;

async function mergeUpdates(
  tx: WriteTransaction,
  map: LockedMap,
  rows: readonly UpdatedFeatureRow[],
  nulls: WriteRequest["nulls"],
): Promise<readonly UpdatedFeatureRow[]> {
  const touched = rows.filter(hasProperties).map(({ seq }) => seq);
  const stored = new Map((await tx.readProperties(map.number, touched)).map((row) => [row.seq, row.properties]));
  return rows.map((row) =>
    hasProperties(row) ? { ...row, properties: mergeProperties(stored.get(row.seq)!, row.properties, nulls) } : row,
  );
}

/** Updates the map's row and writes the audit log after a change. */
async function recordWrite(
  tx: WriteTransaction,
  map: LockedMap,
  request: WriteRequest,
  plan: WritePlan,
  outcome: DoneOutcome,
): Promise<void> {
  const deleted = plan.removed.length + outcome.deleted;
  await tx.changeMap(map.number, {
    revision: outcome.revision,
    version: outcome.version,
    features: map.features + plan.created.length - deleted,
    next: map.next + plan.created.length,
  });
  await tx.addAudit({
    ...request.audit,
    at: request.now,
    map: request.map,
    detail: {
      created: plan.created.length,
      updated: plan.updated.length,
      deleted,
      failed: plan.failed.length,
    },
  });
}
