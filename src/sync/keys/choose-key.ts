/** Which property identifies a feature on both sides: the one asked for, the map's so far, or the best there is. */
import { createError } from "../../errors.js";
import type { Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { SyncKey } from "../plan/plan.js";
import type { SyncRequest } from "../request.js";
import type { FieldStats } from "../source/field-stats.js";
import type { ReadSource } from "../source/read-source.js";
import { countDuplicateValues } from "./count-duplicate-values.js";
import { rankIdentifierName } from "./identifier-names.js";

export interface KeyChoice {
  readonly key: SyncKey;
  /** `asked`: by flag; `remembered`: the key of this map so far; `chosen`: the best of those that are fit. */
  readonly how: "asked" | "remembered" | "chosen";
  /** Other properties that identify every feature, the better first; only where one was chosen. */
  readonly runnersUp: readonly string[];
}

/** So many candidates are held against each other on disk at once, and shown where none is fit. */
const candidatesPerPass = 5;

/** Where no property is known at all: no feature of the map is managed by it then, so none is changed or deleted. */
const fallbackKeyName = "id";

/**
 * @param held what the map has; its properties go before others of like names
 * @param remembered the property that was this map's key before, or null
 * @throws field-missing where the source has not the one asked for; key-field-missing, key-undecided, interrupted
 */
export async function chooseKey(
  { matching }: Pick<SyncRequest, "matching">,
  source: ReadSource,
  workspace: Workspace,
  held: Pick<Snapshot, "fields">,
  remembered: string | null,
  signal?: AbortSignal,
): Promise<KeyChoice> {
  if (matching.by === "id") return { key: { by: "id" }, how: "asked", runnersUp: [] };
  const names = source.fields.map(({ name }) => name);
  const isThere = (name: string) => source.features === 0 || names.includes(name);
  const of = (name: string, how: KeyChoice["how"], runnersUp: readonly string[] = []): KeyChoice => ({
    key: { by: "property", name },
    how,
    runnersUp,
  });
  const inputs = source.inputs.join(", ");
  if (matching.name !== null) {
    if (!isThere(matching.name))
      throw createError("field-missing", { source: inputs, field: matching.name, fields: names });
    return of(matching.name, "asked");
  }
  if (remembered !== null) {
    if (!isThere(remembered))
      throw createError("key-field-missing", { source: inputs, field: remembered, fields: names });
    return of(remembered, "remembered");
  }
  if (source.features === 0)
    return of(rankFields(mapFieldNames(held), held.fields)[0]?.name ?? fallbackKeyName, "chosen");
  const [best, ...others] = await findUniqueFields(source, workspace, held.fields, signal);
  if (best === undefined) throw await noKeyError(source, workspace, held.fields, signal);
  return of(best, "chosen", others);
}

/** The properties that identify every feature of the source, the best first: some of them, where there are many. */
async function findUniqueFields(
  source: ReadSource,
  workspace: Workspace,
  held: Snapshot["fields"],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const seemFit = rankFields(source.fields, held)
    .filter((field) => mayBeKey(field) && !fieldsWithLargeIntegers(source).has(field.name))
    .map(({ name }) => name);
  for (let from = 0; from < seemFit.length; from += candidatesPerPass) {
    const some = seemFit.slice(from, from + candidatesPerPass);
    const repeats = await countDuplicateValues(workspace, workspace.source, some, signal);
    const fit = some.filter((name) => repeats.get(name) === 0);
    if (fit.length > 0) return fit;
  }
  return [];
}

/** Every feature has a value of it, all are texts or safe integers, and none was met twice so far. */
const mayBeKey = (field: FieldStats): boolean =>
  field.values > 0 &&
  !field.hasDuplicates &&
  !field.isTemporal &&
  field.nulls + field.emptyTexts + field.unsafeIntegers + field.otherValues === 0;

/** Fields with integers that JSON numbers do not hold, which the pipeline has made texts of. */
export const fieldsWithLargeIntegers = ({ losses }: Pick<ReadSource, "losses">): ReadonlySet<string> =>
  new Set(losses.flatMap(({ code, field }) => (code === "int64-as-text" && field !== undefined ? [field] : [])));

type RankedField = Pick<FieldStats, "name" | "maxLength">;
const mapFieldNames = ({ fields }: Pick<Snapshot, "fields">): RankedField[] =>
  [...fields.keys()].map((name) => ({ name, maxLength: 0 }));

/**
 * The better first: names that identifiers have before others; of each kind, those that the map has; of these, the surer
 * name; then what is shorter.
 */
function rankFields<F extends RankedField>(fields: readonly F[], held: Snapshot["fields"]): F[] {
  const order = ({ name, maxLength }: F): readonly number[] => {
    const rank = rankIdentifierName(name);
    return [rank === null ? 1 : 0, held.has(name) ? 0 : 1, rank ?? 0, maxLength];
  };
  const orders = new Map(fields.map((field) => [field, order(field)]));
  const difference = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((value, n) => value !== b[n]);
    return at < 0 ? 0 : a[at]! - b[at]!;
  };
  return [...fields].sort((a, b) => difference(orders.get(a)!, orders.get(b)!));
}

/** The error that lists the best attributes and what each lacks. */
async function noKeyError(
  source: ReadSource,
  workspace: Workspace,
  held: Snapshot["fields"],
  signal: AbortSignal | undefined,
): Promise<Error> {
  const sparse = (field: FieldStats) => field.texts + field.integers < source.features / 2;
  const all = rankFields(source.fields, held);
  const best = [...all.filter((field) => !sparse(field)), ...all.filter(sparse)].slice(0, candidatesPerPass);
  const names = best.map(({ name }) => name);
  const repeats = await countDuplicateValues(workspace, workspace.source, names, signal);
  const large = new Map(source.losses.filter(({ code }) => code === "int64-as-text").map((loss) => [loss.field, loss]));
  const attributes = best.map((field) => ({
    name: field.name,
    duplicates: repeats.get(field.name) ?? 0,
    nulls: field.nulls,
    empties: field.emptyTexts,
    unsafe: field.unsafeIntegers + (large.get(field.name)?.count ?? 0),
    others: field.otherValues,
    temporal: field.isTemporal,
  }));
  return createError("key-undecided", { source: source.inputs.join(", "), attributes, hasIds: source.hasIds });
}
