import { nilId } from "../../remote/wire.js";
import { newUuidV7 } from "../identifiers/uuid-v7.js";
import { memberPath } from "../json/member-path.js";
import type { FailedFeature, FeatureFailure, WriteItem, WriteKind, WriteRequest, WrittenFeature } from "./contract.js";
import type { FeatureMatch, LockedMap, NewFeatureRow, StoredKey, UpdatedFeatureRow } from "./write-transaction.js";

/** The changes that a write makes to a map. */
export interface WritePlan {
  readonly success: readonly WrittenFeature[];
  readonly failed: readonly FailedFeature[];
  readonly created: readonly NewFeatureRow[];
  /** Keys of created features, if the request matches by keys. */
  readonly createdKeys: readonly StoredKey[];
  /** For `update`, properties still have to be merged. */
  readonly updated: readonly UpdatedFeatureRow[];
  readonly removed: readonly number[];
  /** Features to keep, in ascending order, if all others are deleted; else null. */
  readonly keptSeqs: readonly number[] | null;
}

interface MatchRule {
  /** What to do if the map does not have the feature … */
  readonly onMissing: "create" | "fail";
  /** … if the map has it more than once … */
  readonly onMultiple: "oldest" | "fail" | "all";
  /** … and if the request names it more than once. */
  readonly onCopies: "fail" | "as one";
}
const matchRules: Readonly<Record<WriteKind, MatchRule>> = {
  create: { onMissing: "create", onMultiple: "fail", onCopies: "fail" },
  upsert: { onMissing: "create", onMultiple: "fail", onCopies: "fail" },
  // Features that are not kept are deleted.
  synchronize: { onMissing: "create", onMultiple: "oldest", onCopies: "fail" },
  update: { onMissing: "fail", onMultiple: "fail", onCopies: "fail" },
  // Copies may differ otherwise, but name the same features.
  delete: { onMissing: "fail", onMultiple: "all", onCopies: "as one" },
};

/** An item with its matches, before anything is changed. */
export interface WriteCandidate {
  readonly item: WriteItem;
  /** Features of the map that the item identifies, oldest first. */
  readonly matches: readonly FeatureMatch[];
  /** Number of items in the request with the same identifier. */
  readonly copies: number;
}

function checkCandidate({ item, matches, copies }: WriteCandidate, request: WriteRequest): FeatureFailure | null {
  if (item.failure) return item.failure;
  const rule = matchRules[request.kind];
  if (copies > 1 && rule.onCopies === "fail") return duplicateInRequest(request.remoteField);
  if (matches.length === 0 && rule.onMissing === "fail") return missingOnMap(request.remoteField);
  if (matches.length > 1 && rule.onMultiple === "fail") return ambiguousOnMap(request.remoteField, matches.length);
  return null;
}

/**
 * Plans all changes before anything is written. Where keys match, an id in the request is used for a new feature only
 * if it is free, since the key is the identifier.
 * @param taken ids on the map before the write
 */
export function planWrite(
  request: WriteRequest,
  map: LockedMap,
  candidates: readonly WriteCandidate[],
  taken: ReadonlySet<string>,
): WritePlan {
  const success: WrittenFeature[] = [];
  const failed: FailedFeature[] = [];
  const created: NewFeatureRow[] = [];
  const createdKeys: StoredKey[] = [];
  const updated: UpdatedFeatureRow[] = [];
  const removed: number[] = [];
  const kept: number[] = [];
  const used = new Set<string>();
  const gone = new Set<number>();

  const create = ({ index, id: sent, key, geometry = "null", properties = "{}" }: WriteItem): void => {
    const seq = map.next + created.length;
    const free = request.kind === "synchronize" && sent !== null && !taken.has(sent) && !used.has(sent);
    const id = free ? sent : newUuidV7();
    used.add(id);
    created.push({ seq, id, geometry, properties });
    if (key !== null) createdKeys.push({ seq, digest: key });
    success.push({ index, id, what: "created" });
  };

  for (const candidate of candidates) {
    const { item, matches } = candidate;
    const { index } = item;
    const failure = checkCandidate(candidate, request);
    if (failure) {
      failed.push({ index, id: matches[0]?.id ?? item.id ?? nilId, path: failure.path, message: failure.message });
      for (const { seq } of matches) kept.push(seq);
    } else if (request.kind === "delete") {
      for (const { seq, id } of matches) {
        if (gone.has(seq)) continue;
        gone.add(seq);
        removed.push(seq);
        success.push({ index, id, what: "deleted" });
      }
    } else if (matches[0]) {
      const { seq, id } = matches[0];
      kept.push(seq);
      updated.push({ seq, geometry: item.geometry ?? null, properties: item.properties ?? null });
      success.push({ index, id, what: "updated" });
    } else {
      create(item);
    }
  }
  const all = request.kind === "synchronize" ? [...new Set(kept)].sort((a, b) => a - b) : null;
  return { success, failed, created, createdKeys, updated, removed, keptSeqs: all };
}

/** Description of the identifier for messages; `field` is null if features are matched by id. */
const describeIdentity = (field: string | null): { readonly path: string; readonly words: string } =>
  field === null
    ? { path: "id", words: "this id" }
    : { path: memberPath("properties", field), words: `this value of the property ${JSON.stringify(field)}` };

function duplicateInRequest(field: string | null): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return {
    path,
    message: `Several features of the request have ${words}, so none of them was applied: send each only once.`,
  };
}

function missingOnMap(field: string | null): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return { path, message: `The map has no feature with ${words}.` };
}

function ambiguousOnMap(field: string | null, count: number): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return {
    path,
    message: `The map has ${count} features with ${words}, so the match is ambiguous: delete or change the duplicates by their ids.`,
  };
}
