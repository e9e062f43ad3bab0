/** Fills and checks the keys of both sides before the first write request. */

import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Loss } from "../../model/report.js";
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
  /** Source features that `--on-duplicate` omitted in favor of another with the same key. */
  readonly removedDuplicates: number;
  /** Source features that `--on-missing-key` rejected; they are among the rejects. */
  readonly missingKeyRejects: number;
  /** Features whose geometry could not be converted, while the matching map feature has one, which the map keeps. */
  readonly keptGeometries: number;
  /** Rejects without a known key, which may match any map feature. The keys of the others are in `rejected`. */
  readonly unknownRejects: number;
  readonly notices: readonly Loss[];
}

const maxExamples = 3;

/**
 * Limits the map to the scope; fills `key` and `numeric` of both tables; creates the indexes `source_key` and
 * `map_key`, and the table `rejected (key TEXT PRIMARY KEY)` with the keys of rejected features, whose matches on the
 * map must stay.
 * @param mode "delete" for a list of keys to delete
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
  const example = `features with a duplicate "${keyLabel(key)}" were omitted; the ${onDuplicate} of each was kept`;
  return [{ code: "duplicate-key-dropped", layer: source.inputs.join(", "), field: keyLabel(key), count, example }];
}

/** Warns if no map feature has the key: source features that were meant as updates would be created again. */
function unknownKeyNotices(
  { source }: SyncRequest,
  { database }: Workspace,
  key: SyncKey,
  matches: KeyMatches,
): Loss[] {
  const { mapFeatures, sourceFeatures } = matches;
  const all = database.prepare<[], number>("SELECT count(*) FROM map").pluck().get()!;
  if (key.by === "id" || mapFeatures > 0 || sourceFeatures === 0 || all === 0) return [];
  const example = `no feature of the map has "${key.name}", so all source features are treated as new`;
  return [{ code: "key-new-to-map", layer: source.inputs.join(", "), field: key.name, count: sourceFeatures, example }];
}

const keyLabel = (key: SyncKey): string => (key.by === "id" ? "id" : key.name);

/** @throws duplicate-key-on-map */
function checkMapKeysUnique(workspace: Workspace, { map, scope }: SyncRequest, key: SyncKey): void {
  const { database } = workspace;
  const duplicates = database
    .prepare<[], { key: string; types: number }>(
      `SELECT key, count(DISTINCT numeric) AS types FROM map WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1`,
    )
    .all();
  if (duplicates.length === 0) return;
  const ids = database.prepare<[string], string>("SELECT id FROM map WHERE key = ? ORDER BY seq LIMIT 5").pluck();
  const examples = duplicates.slice(0, maxExamples).map(({ key, types }) => {
    const how = types > 1 ? `${JSON.stringify(key)} (as text and as number)` : JSON.stringify(key);
    return `${how} on ${ids.all(key).join(", ")}`;
  });
  const areEqual = areAllDuplicatesEqual(workspace);
  throw createError("duplicate-key-on-map", {
    map,
    field: keyLabel(key),
    scope,
    keys: duplicates.length,
    twins: areEqual,
    examples,
  });
}

const invalidKeyReasons: Readonly<Record<InvalidKey["reason"], string>> = {
  null: "the value is missing",
  empty: "the value is empty",
  unsafe: "the value is an integer beyond 2^53",
  type: "the value is neither text nor an integer",
};

/** @returns the number of features rejected without a valid key @throws key-invalid */
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
  const onInvalidKey = (row: KeyedRow, feature: SourceFeature, reason: InvalidKey["reason"]) => {
    // A feature without a service id is a new one.
    if (key.by === "id" && reason === "null") return;
    features++;
    if (!rejects) {
      if (examples.length < maxExamples) examples.push([row, reason]);
      return;
    }
    remove.run(row.seq);
    source.rejects.add(feature, "key-invalid", `invalid key "${field}": ${invalidKeyReasons[reason]}`);
  };
  const hasLargeIntegers = key.by === "property" && fieldsWithLargeIntegers(source).has(key.name);
  await fillSourceKeys(workspace, key, {
    rounding: roundingForPrecision(request.precision),
    hasLargeIntegers,
    onInvalidKey,
    signal,
  });
  if (rejects || features === 0) return features;
  const describeRow = await describeSourceRows(request, source);
  const why = (reason: InvalidKey["reason"]) =>
    key.by === "id" && reason === "type" ? "the value is not a UUID" : invalidKeyReasons[reason];
  throw createError("key-invalid", {
    source: source.inputs.join(", "),
    field,
    features,
    examples: examples.map(([row, reason]) => `${describeRow(row)}: ${why(reason)}`),
  });
}

/** @returns the number of features omitted because of duplicate keys @throws duplicate-key */
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
  const describeRow = await describeSourceRows(request, source);
  const rows = database.prepare<[string], KeyedRow>("SELECT * FROM source WHERE key = ? ORDER BY seq LIMIT 4");
  const first = database
    .prepare<[], string>(`SELECT key ${groups} ORDER BY min(seq) LIMIT ${maxExamples}`)
    .pluck()
    .all();
  const examples = first.map(
    (value) => `${JSON.stringify(value)} in ${rows.all(value).map(describeRow).join(" and ")}`,
  );
  throw createError("duplicate-key", {
    source: source.inputs.join(", "),
    field: keyLabel(key),
    features,
    keys,
    examples,
  });
}
