/** The keys of both sides, checked before the first request that writes. */
import { createError } from "../../errors.js";
import type { Loss } from "../../model/report.js";
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import { roundingForPrecision } from "../diff/rounding.js";
import type { PlanMode, SyncKey } from "../plan/plan.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource, SourceFeature } from "../source/read-source.js";
import { removeOutOfScope } from "../source/scope.js";
import { describeSourceRows } from "../source/source-row-location.js";
import { checkKeyMatches, type KeyMatches } from "./check-key-matches.js";
import { fieldsWithLargeIntegers } from "./choose-key.js";
import { areAllDuplicatesEqual } from "./duplicate-keys.js";
import { fillMapKeys, fillSourceKeys } from "./fill-keys.js";
import type { InvalidKey } from "./key-value.js";
import { excludeLostGeometries, storeRejectedKeys } from "./rejected-keys.js";

export interface KeyReport extends KeyMatches {
  /** Features of the source that `--on-duplicate` left out; another one with their key is there. */
  readonly removedDuplicates: number;
  /** Features of the source that `--on-missing-key` rejected: they are among the rejects. */
  readonly missingKeyRejects: number;
  /** Features whose geometry could not be carried and whose match on the map has one: the map keeps it. */
  readonly keptGeometries: number;
  /** Rejects whose key nobody knows: any feature of the map may be theirs. The keys of the others are in `rejected`. */
  readonly unknownRejects: number;
  readonly notices: readonly Loss[];
}

const maxExamples = 3;

/**
 * Limits the map to the scope and fills `key` and `numeric` of both tables, with the indexes `source_key` and `map_key`, and the table
 * `rejected (key TEXT PRIMARY KEY)`: the keys of rejected features, whose match on the map must stay.
 * @param mode "delete" for a list of keys that shall be removed
 * @throws duplicate-key-on-map, key-invalid, duplicate-key, key-case-mismatch, key-matches-nothing, interrupted
 */
export async function prepareKeys(
  request: SyncRequest,
  source: ReadSource,
  workspace: Workspace,
  key: SyncKey,
  mode: PlanMode = request.mode,
  signal?: AbortSignal,
): Promise<KeyReport> {
  await removeOutOfScope(workspace, request.scope, signal);
  await fillMapKeys(workspace, key, signal);
  checkMapKeysUnique(workspace, request, key);
  const missingKeyRejects = await fillAndCheckSourceKeys(request, source, workspace, key, signal);
  const removedDuplicates = await removeDuplicateKeys(request, source, workspace, key);
  const names = { mode, source: source.inputs.join(", "), map: request.map, field: keyLabel(key) };
  const matches = checkKeyMatches(workspace, names);
  const unknownRejects = await storeRejectedKeys(request, source, workspace, key);
  const losesGeometry = mode === "delete" || request.guards.allowNullGeometry;
  const keptGeometries = losesGeometry ? 0 : excludeLostGeometries(workspace);
  const notices = [
    ...duplicateKeyNotices(request, key, removedDuplicates),
    ...(mode === "delete" ? [] : unknownKeyNotices(request, workspace, key, matches)),
  ];
  return { ...matches, removedDuplicates, missingKeyRejects, keptGeometries, unknownRejects, notices };
}

function duplicateKeyNotices({ source, onDuplicate }: SyncRequest, key: SyncKey, count: number): Loss[] {
  if (count === 0) return [];
  const example = `features with the "${keyLabel(key)}" of another one were left out; of each the ${onDuplicate} was taken`;
  return [{ code: "duplicate-key-dropped", layer: source.inputs.join(", "), field: keyLabel(key), count, example }];
}

/** Features of the map without the key are not matched: what is meant to update them would be there twice. */
function unknownKeyNotices(
  { source }: SyncRequest,
  { database }: Workspace,
  key: SyncKey,
  matches: KeyMatches,
): Loss[] {
  const { mapFeatures, sourceFeatures } = matches;
  const all = database.prepare<[], number>("SELECT count(*) FROM map").pluck().get()!;
  if (key.by === "id" || mapFeatures > 0 || sourceFeatures === 0 || all === 0) return [];
  const example = `none of the features of the map has "${key.name}": all of the source are new to it`;
  return [{ code: "key-new-to-map", layer: source.inputs.join(", "), field: key.name, count: sourceFeatures, example }];
}

const keyLabel = (key: SyncKey): string => (key.by === "id" ? "id" : key.name);

/** @throws duplicate-key-on-map */
function checkMapKeysUnique(workspace: Workspace, { map, scope }: SyncRequest, key: SyncKey): void {
  const { database } = workspace;
  const repeated = database
    .prepare<[], { key: string; types: number }>(
      `SELECT key, count(DISTINCT numeric) AS types FROM map WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1`,
    )
    .all();
  if (repeated.length === 0) return;
  const ids = database.prepare<[string], string>("SELECT id FROM map WHERE key = ? ORDER BY seq LIMIT 5").pluck();
  const examples = repeated.slice(0, maxExamples).map(({ key, types }) => {
    const how = types > 1 ? `${JSON.stringify(key)}, as text and as number,` : JSON.stringify(key);
    return `${how} on ${ids.all(key).join(", ")}`;
  });
  const twins = areAllDuplicatesEqual(workspace);
  throw createError("duplicate-key-on-map", {
    map,
    field: keyLabel(key),
    scope,
    keys: repeated.length,
    twins,
    examples,
  });
}

const invalidKeyReasons: Readonly<Record<InvalidKey["reason"], string>> = {
  null: "it has none",
  empty: "it is empty",
  unsafe: "it is an integer beyond 2^53",
  type: "it is neither text nor an integer",
};

/** @returns features rejected for want of a key @throws key-invalid */
async function fillAndCheckSourceKeys(
  request: SyncRequest,
  source: ReadSource,
  workspace: Workspace,
  key: SyncKey,
  signal: AbortSignal | undefined,
): Promise<number> {
  const field = keyLabel(key);
  const rejects = request.onMissingKey === "reject";
  const remove = workspace.database.prepare("DELETE FROM source WHERE seq = ?");
  const examples: [KeyedRow, InvalidKey["reason"]][] = [];
  let features = 0;
  const onInvalidKey = (row: KeyedRow, feature: SourceFeature, unfit: InvalidKey["reason"]) => {
    // A feature without an id of the service is a new one.
    if (key.by === "id" && unfit === "null") return;
    features++;
    if (!rejects) {
      if (examples.length < maxExamples) examples.push([row, unfit]);
      return;
    }
    remove.run(row.seq);
    source.rejects.add(
      feature,
      "key-invalid",
      `"${field}" is to identify the feature, and ${invalidKeyReasons[unfit]}`,
    );
  };
  const hasLargeIntegers = key.by === "property" && fieldsWithLargeIntegers(source).has(key.name);
  await fillSourceKeys(workspace, key, {
    rounding: roundingForPrecision(request.precision),
    hasLargeIntegers,
    onInvalidKey,
    signal,
  });
  if (rejects || features === 0) return features;
  const placeOf = await describeSourceRows(request, source);
  const why = (unfit: InvalidKey["reason"]) =>
    key.by === "id" && unfit === "type" ? "it is no UUID" : invalidKeyReasons[unfit];
  throw createError("key-invalid", {
    source: source.inputs.join(", "),
    field,
    features,
    examples: examples.map(([row, unfit]) => `${placeOf(row)}: ${why(unfit)}`),
  });
}

/** @returns features left out since others have their keys @throws duplicate-key */
async function removeDuplicateKeys(
  request: SyncRequest,
  source: ReadSource,
  workspace: Workspace,
  key: SyncKey,
): Promise<number> {
  const { database } = workspace;
  const groups = "FROM source WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1";
  if (request.onDuplicate !== "refuse") {
    const kept = request.onDuplicate === "first" ? "min" : "max";
    return database
      .prepare(
        `DELETE FROM source WHERE key IN (SELECT key ${groups})
         AND seq <> (SELECT ${kept}(seq) FROM source same WHERE same.key = source.key)`,
      )
      .run().changes;
  }
  const { keys, features } = database
    .prepare<[], { keys: number; features: number }>(
      `SELECT count(*) AS keys, coalesce(sum(n), 0) AS features FROM (SELECT count(*) AS n ${groups})`,
    )
    .get()!;
  if (keys === 0) return 0;
  const placeOf = await describeSourceRows(request, source);
  const rows = database.prepare<[string], KeyedRow>("SELECT * FROM source WHERE key = ? ORDER BY seq LIMIT 4");
  const first = database
    .prepare<[], string>(`SELECT key ${groups} ORDER BY min(seq) LIMIT ${maxExamples}`)
    .pluck()
    .all();
  const examples = first.map((value) => `${JSON.stringify(value)} in ${rows.all(value).map(placeOf).join(" and ")}`);
  throw createError("duplicate-key", {
    source: source.inputs.join(", "),
    field: keyLabel(key),
    features,
    keys,
    examples,
  });
}
