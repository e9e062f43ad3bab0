/**
 * Chooses the property that identifies a feature on both sides: the requested one, the map's previous one, or the best
 * candidate.
 */

import { isQuantityName, rankIdentifierName } from "../../compare/match/identifier-names.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { SyncKey } from "../plan/plan.js";
import type { SyncRequest } from "../request.js";
import type { FieldStats } from "../source/field-stats.js";
import type { ReadSource } from "../source/read-source.js";
import { countDuplicateValues } from "./count-duplicate-values.js";

export interface KeyChoice {
  readonly key: SyncKey;
  /** `asked`: by flag; `remembered`: the previous key of this map; `chosen`: the best candidate. */
  readonly how: "asked" | "remembered" | "chosen";
  /** Other properties that identify every feature, best first; only for `chosen`. */
  readonly runnersUp: readonly string[];
}

/** Number of candidates checked in one pass on disk, and listed in the error if none is suitable. */
const candidatesPerPass = 5;

/** Key if no property is known: then no map feature has it, so none is changed or deleted. */
const fallbackKeyName = "id";

/**
 * Chooses the key.
 * @param mapStats the map; its properties precede others with similar names
 * @param remembered the map's previous key property, or null
 * @throws field-missing if the source lacks the requested property; key-field-missing, key-undecided, interrupted
 */
export async function chooseKey(
  { matching }: Pick<SyncRequest, "matching">,
  source: ReadSource,
  workspace: Workspace,
  mapStats: Pick<Snapshot, "fields">,
  remembered: string | null,
  signal?: AbortSignal,
): Promise<KeyChoice> {
  if (matching.by === "id") return { key: { by: "id" }, how: "asked", runnersUp: [] };
  const names = source.fields.map(({ name }) => name);
  const isInSource = (name: string) => source.features === 0 || names.includes(name);
  const choose = (name: string, how: KeyChoice["how"], runnersUp: readonly string[] = []): KeyChoice => ({
    key: { by: "property", name },
    how,
    runnersUp,
  });
  const inputs = source.inputs.join(", ");
  if (matching.name !== null) {
    if (!isInSource(matching.name))
      throw createError("field-missing", { source: inputs, field: matching.name, fields: names });
    return choose(matching.name, "asked");
  }
  if (remembered !== null) {
    if (!isInSource(remembered))
      throw createError("key-field-missing", { source: inputs, field: remembered, fields: names });
    return choose(remembered, "remembered");
  }
  if (source.features === 0)
    return choose(rankFields(mapFieldNames(mapStats), mapStats.fields)[0]?.name ?? fallbackKeyName, "chosen");
  const [best, ...others] = await findUniqueFields(source, workspace, mapStats.fields, signal);
  if (best === undefined) throw await noKeyError(source, workspace, mapStats.fields, signal);
  return choose(best, "chosen", others);
}

/** Properties that identify every source feature, best first; only some if there are many. */
async function findUniqueFields(
  source: ReadSource,
  workspace: Workspace,
  mapFields: Snapshot["fields"],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const candidates = rankFields(source.fields, mapFields)
    .filter((field) => mayBeKey(field) && !fieldsWithLargeIntegers(source).has(field.name))
    .map(({ name }) => name);
  for (let from = 0; from < candidates.length; from += candidatesPerPass) {
    const group = candidates.slice(from, from + candidatesPerPass);
    const duplicateCounts = await countDuplicateValues(workspace, workspace.source, group, signal);
    const suitable = group.filter((name) => duplicateCounts.get(name) === 0);
    if (suitable.length > 0) return suitable;
  }
  return [];
}

/** Every feature has a value, all values are texts or safe integers, and no duplicate has been seen so far. */
const mayBeKey = (field: FieldStats): boolean =>
  field.values > 0 &&
  !field.hasDuplicates &&
  !field.isTemporal &&
  field.nulls + field.emptyTexts + field.unsafeIntegers + field.otherValues === 0;

/** Fields whose integers exceed JSON numbers and were converted to text by the pipeline. */
export const fieldsWithLargeIntegers = ({ losses }: Pick<ReadSource, "losses">): ReadonlySet<string> =>
  new Set(losses.flatMap(({ code, field }) => (code === "int64-as-text" && field !== undefined ? [field] : [])));

type RankedField = Pick<FieldStats, "name" | "maxLength" | "texts">;
const mapFieldNames = ({ fields }: Pick<Snapshot, "fields">): RankedField[] =>
  [...fields.keys()].map((name) => ({ name, maxLength: 0, texts: 0 }));

/**
 * Sorts fields, best first: typical identifier names, then names that are no quantities, then fields that the map has,
 * then the more typical name, then text, then shorter values.
 */
function rankFields<F extends RankedField>(fields: readonly F[], mapFields: Snapshot["fields"]): F[] {
  const order = ({ name, maxLength, texts }: F): readonly number[] => {
    const rank = rankIdentifierName(name);
    const isQuantity = rank === null && isQuantityName(name);
    return [
      rank === null ? 1 : 0,
      isQuantity ? 1 : 0,
      mapFields.has(name) ? 0 : 1,
      rank ?? 0,
      texts > 0 ? 0 : 1,
      maxLength,
    ];
  };
  const orders = new Map(fields.map((field) => [field, order(field)]));
  const difference = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((value, n) => value !== b[n]);
    return at < 0 ? 0 : a[at]! - b[at]!;
  };
  return [...fields].sort((a, b) => difference(orders.get(a)!, orders.get(b)!));
}

/** Creates the error that lists the best attributes and why each is unsuitable. */
async function noKeyError(
  source: ReadSource,
  workspace: Workspace,
  mapFields: Snapshot["fields"],
  signal: AbortSignal | undefined,
): Promise<Error> {
  const sparse = (field: FieldStats) => field.texts + field.integers < source.features / 2;
  const all = rankFields(source.fields, mapFields);
  const best = [...all.filter((field) => !sparse(field)), ...all.filter(sparse)].slice(0, candidatesPerPass);
  const names = best.map(({ name }) => name);
  const duplicateCounts = await countDuplicateValues(workspace, workspace.source, names, signal);
  const large = new Map(source.losses.filter(({ code }) => code === "int64-as-text").map((loss) => [loss.field, loss]));
  const attributes = best.map((field) => ({
    name: field.name,
    duplicates: duplicateCounts.get(field.name) ?? 0,
    nulls: field.nulls,
    empties: field.emptyTexts,
    unsafe: field.unsafeIntegers + (large.get(field.name)?.count ?? 0),
    others: field.otherValues,
    temporal: field.isTemporal,
  }));
  return createError("key-undecided", { source: source.inputs.join(", "), attributes, hasIds: source.hasIds });
}
