/** Chooses how the features of two layers are matched: as asked, or by the best field that identifies all features. */

import type { Remainders, RowSet } from "../../canonical/cancel-equal.js";
import { textOfValue } from "../../canonical/canonical-value.js";
import { createError } from "../../errors.js";
import type { FieldType } from "../../model/field.js";
import type { LayerPair } from "../pair-layers.js";
import type { CompareRequest } from "../request.js";
import type { SpooledLayer } from "../spool/spooled-side.js";
import { isQuantityName, rankIdentifierName } from "./identifier-names.js";
import { countKeys, hasEarlyDuplicates, type KeyStats } from "./key-stats.js";
import { createRowKeyReader, keyColumn, type MatchKey } from "./row-key.js";

export interface KeyChoice {
  /** Null if features are matched by geometry and attributes. */
  readonly key: MatchKey | null;
  /** `asked` by an option; else `chosen`. */
  readonly how: "asked" | "chosen";
  readonly old: KeyStats | null;
  readonly new: KeyStats | null;
}

/** Names that mean the ids of features if no field has them. */
const idNames = ["id", "fid"];
const keyTypes: readonly FieldType[] = ["text", "int32", "int64", "double"];
/** Fields that are examined if none has the name of an identifier. */
const maxOtherFields = 20;

const isUnique = ({ missing, duplicates }: KeyStats): boolean => missing + duplicates === 0;

/** The key that the request names. @throws field-missing, usage */
export function requestedKey(request: Pick<CompareRequest, "key" | "match">, pair: LayerPair): MatchKey | null {
  if (request.match === "id") return requireIds(pair);
  if (request.key === undefined) return null;
  const { key } = request;
  const missing = [pair.old, pair.new].find(({ fields }) => !fields.some(({ name }) => name === key));
  if (!missing) return { by: "field", name: key };
  if (idNames.includes(key.toLowerCase()) && pair.old.hasIds && pair.new.hasIds) return { by: "id" };
  const fields = missing.fields.map(({ name }) => name);
  // A side without features may have no fields.
  if (missing.rows === 0 && fields.length === 0) return { by: "field", name: key };
  throw createError("field-missing", { source: missing.name, field: key, fields });
}

function requireIds({ old, new: recent }: LayerPair): MatchKey {
  for (const { rows, hasIds, name } of [old, recent])
    if (rows > 0 && !hasIds)
      throw createError("usage", {
        reason: `features of ${name} have no ids to match by; name a field that identifies them with --key, or omit --match id`,
      });
  return { by: "id" };
}

export function chooseKey(request: CompareRequest, pair: LayerPair, remainders: Remainders): KeyChoice {
  const asked = requestedKey(request, pair);
  if (asked !== null)
    return { key: asked, how: "asked", old: countKeys(pair.old, asked), new: countKeys(pair.new, asked) };
  const none: KeyChoice = { key: null, how: request.match === "content" ? "asked" : "chosen", old: null, new: null };
  if (request.match === "content" || remainders.old.size + remainders.new.size === 0) return none;
  for (const key of candidates(pair, request.ignore ?? [])) {
    if (hasEarlyDuplicates(pair.old, key) || hasEarlyDuplicates(pair.new, key)) continue;
    const old = countKeys(pair.old, key);
    if (!isUnique(old)) continue;
    const recent = countKeys(pair.new, key);
    if (!isUnique(recent)) continue;
    if (key.by === "id" && !keepsIds(pair, remainders)) continue;
    if (isSharedKey(pair, key, remainders)) return { key, how: "chosen", old, new: recent };
  }
  return none;
}

/** Fields with the name of an identifier, then ids, then other fields, shorter names first. */
function candidates({ old, new: recent }: LayerPair, ignored: readonly string[]): MatchKey[] {
  const types = new Map(recent.fields.map(({ name, type }) => [name, type]));
  const shared = old.fields.filter(({ name, type }) => {
    const other = types.get(name);
    return other !== undefined && keyTypes.includes(type) && keyTypes.includes(other) && !ignored.includes(name);
  });
  const ranked = shared
    .flatMap(({ name }) => {
      const rank = rankIdentifierName(name);
      return rank === null ? [] : [{ name, rank }];
    })
    .sort((a, b) => a.rank - b.rank);
  const names = new Set(ranked.map(({ name }) => name));
  // A measurement is no identifier, although all its values may differ.
  const others = shared.filter(
    ({ name, type }) => !names.has(name) && type !== "double" && types.get(name) !== "double",
  );
  // Names before quantities, in their order.
  others.sort((a, b) => Number(isQuantityName(a.name)) - Number(isQuantityName(b.name)));
  const byField = (name: string): MatchKey => ({ by: "field", name });
  return [
    ...ranked.map(({ name }) => byField(name)),
    ...(old.hasIds && recent.hasIds ? [{ by: "id" } as const] : []),
    ...others.slice(0, maxOtherFields).map(({ name }) => byField(name)),
  ];
}

/**
 * Whether the features that are equal on both sides have the same ids, since programs renumber features that have only a
 * number. The hashes of their ids have the same sum.
 */
function keepsIds({ old, new: recent }: LayerPair, remainders: Remainders): boolean {
  return sumOfIds(old, remainders.old) === sumOfIds(recent, remainders.new);
}

function sumOfIds(layer: SpooledLayer, remainder: RowSet): number {
  let sum = 0;
  layer.batches.forEach(({ firstRow }, at) => {
    const batch = layer.batchAt(at);
    const { ids } = batch;
    if (ids === null) return;
    for (let row = 0; row < batch.length; row++) {
      if (remainder.has(firstRow + row)) continue;
      const text = textOfValue(ids, row) ?? "";
      let hash = 0x811c9dc5;
      for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
      // Squared, so that a shift of all numbers does not cancel out; below 2^53 with the modulus.
      const mixed = (hash >>> 0) % 94_906_265;
      sum = (sum + mixed * mixed) % 9_007_199_254_740_881;
    }
  });
  return sum;
}

/** Whether any feature has its key on both sides: always if a field identifies features that are equal on both sides. */
function isSharedKey({ old, new: recent }: LayerPair, key: MatchKey, remainders: Remainders): boolean {
  if (remainders.equal > 0) return true;
  const keys = new Set<string>();
  for (const text of firstKeys(old, key, maxSharedSample)) keys.add(text);
  for (const text of firstKeys(recent, key, Number.POSITIVE_INFINITY)) if (keys.has(text)) return true;
  return false;
}

/** Features of the old side whose keys are looked for on the new side. */
const maxSharedSample = 100_000;

function* firstKeys(layer: SpooledLayer, key: MatchKey, limit: number): Generator<string> {
  let left = limit;
  for (let at = 0; at < layer.batches.length && left > 0; at++) {
    const batch = layer.batchAt(at);
    if (keyColumn(batch, key) === null) continue;
    const read = createRowKeyReader(batch, key);
    for (let row = 0; row < batch.length && left > 0; row++, left--) {
      const text = read(row);
      if (text !== null) yield text;
    }
  }
}
