import { nilId } from "../../remote/wire.js";
import { newId } from "../new-id.js";
import type { Failure, NotWritten, WriteItem, WriteKind, WriteRequest, Written } from "./contract.js";
import type { ChangedRow, LockedMap, Match, NewRow, StoredKey } from "./transaction.js";
import { namedTwice, notOnMap, severalOnMap } from "./write-failures.js";

/** What a write will do to a map. */
export interface WritePlan {
  readonly success: readonly Written[];
  readonly failed: readonly NotWritten[];
  readonly created: readonly NewRow[];
  /** Keys of those that were created, where the request matches by keys. */
  readonly createdKeys: readonly StoredKey[];
  /** Of `update`, with properties that are to be merged. */
  readonly updated: readonly ChangedRow[];
  readonly removed: readonly number[];
  /** Features that stay, ascending, where all others go; null where the others stay. */
  readonly kept: readonly number[] | null;
}

interface Rule {
  /** What becomes of a feature that the map does not have … */
  readonly absent: "create" | "fail";
  /** … of one that it has more than once … */
  readonly several: "oldest" | "fail" | "all";
  /** … and of one that the request names more than once. */
  readonly copies: "fail" | "as one";
}
const rules: Readonly<Record<WriteKind, Rule>> = {
  create: { absent: "create", several: "fail", copies: "fail" },
  upsert: { absent: "create", several: "fail", copies: "fail" },
  // The others go with all that is not kept.
  synchronise: { absent: "create", several: "oldest", copies: "fail" },
  update: { absent: "fail", several: "fail", copies: "fail" },
  // Whatever else the copies say, they mean the same features.
  delete: { absent: "fail", several: "all", copies: "as one" },
};

/** An item with what is known of it before anything is done. */
export interface Candidate {
  readonly item: WriteItem;
  /** Features of the map that it names, oldest first. */
  readonly matches: readonly Match[];
  /** How many items of the request name the same. */
  readonly copies: number;
}

function failureOf({ item, matches, copies }: Candidate, request: WriteRequest): Failure | null {
  if (item.failure) return item.failure;
  const rule = rules[request.kind];
  if (copies > 1 && rule.copies === "fail") return namedTwice(request.remoteField);
  if (matches.length === 0 && rule.absent === "fail") return notOnMap(request.remoteField);
  if (matches.length > 1 && rule.several === "fail") return severalOnMap(request.remoteField, matches.length);
  return null;
}

/**
 * Decides on everything before anything is done. `taken`: ids on the map before the write.
 * Where keys match, an id that was sent is used for a new feature only if it is free: the key is what identifies it.
 */
export function planWrite(
  request: WriteRequest,
  map: LockedMap,
  candidates: readonly Candidate[],
  taken: ReadonlySet<string>,
): WritePlan {
  const success: Written[] = [];
  const failed: NotWritten[] = [];
  const created: NewRow[] = [];
  const createdKeys: StoredKey[] = [];
  const updated: ChangedRow[] = [];
  const removed: number[] = [];
  const kept: number[] = [];
  const used = new Set<string>();
  const gone = new Set<number>();

  const create = ({ index, id: sent, key, geometry = "null", properties = "{}" }: WriteItem): void => {
    const seq = map.next + created.length;
    const free = request.kind === "synchronise" && sent !== null && !taken.has(sent) && !used.has(sent);
    const id = free ? sent : newId();
    used.add(id);
    created.push({ seq, id, geometry, properties });
    if (key !== null) createdKeys.push({ seq, digest: key });
    success.push({ index, id, what: "created" });
  };

  for (const candidate of candidates) {
    const { item, matches } = candidate;
    const { index } = item;
    const failure = failureOf(candidate, request);
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
  const all = request.kind === "synchronise" ? [...new Set(kept)].sort((a, b) => a - b) : null;
  return { success, failed, created, createdKeys, updated, removed, kept: all };
}
