/** The keys of both sides, checked before the first request that writes. */
import { fault } from "../errors.js";
import type { Loss } from "../model/report.js";
import type { KeyedRow } from "../remote/feature-side.js";
import type { Workspace } from "../remote/workspace.js";
import { roundingOf } from "./classify-rounding.js";
import { tooLarge } from "./key-choice.js";
import { fillMapKeys, fillSourceKeys } from "./key-fill.js";
import { checkMatches, type KeyMatches } from "./key-match.js";
import type { UnfitKey } from "./key-value.js";
import type { PlanMode, SyncKey } from "./plan.js";
import { keepRejectedKeys, withholdUnlocated } from "./rejected-keys.js";
import { areAllTwins } from "./repeated-keys.js";
import type { SyncRequest } from "./request.js";
import { limitMap } from "./scope.js";
import type { ReadSource, SourceFeature } from "./source.js";
import { sourcePlaces } from "./source-place.js";

export interface KeyReport extends KeyMatches {
  /** Features of the source that `--on-duplicate` left out; another one with their key is there. */
  readonly repeated: number;
  /** Features of the source that `--on-missing-key` rejected: they are among the rejects. */
  readonly keyless: number;
  /** Features whose geometry could not be carried and whose match on the map has one: the map keeps it. */
  readonly withheld: number;
  /** Rejects whose key nobody knows: any feature of the map may be theirs. The keys of the others are in `rejected`. */
  readonly unknownRejects: number;
  readonly notices: readonly Loss[];
}

const shown = 3;

/**
 * Limits the map to the scope and fills `key` and `numeric` of both tables, with the indexes `source_key` and `map_key`, and the table
 * `rejected (key TEXT PRIMARY KEY)`: the keys of rejected features, whose match on the map must stay.
 * @param mode "delete" for a list of keys that shall be removed
 * @throws key-repeated-on-map, key-unfit, key-duplicate, key-other-letters, key-matches-nothing, interrupted
 */
export async function checkKeys(
  request: SyncRequest,
  source: ReadSource,
  workspace: Workspace,
  key: SyncKey,
  mode: PlanMode = request.mode,
  signal?: AbortSignal,
): Promise<KeyReport> {
  await limitMap(workspace, request.scope, signal);
  await fillMapKeys(workspace, key, signal);
  checkMap(workspace, request, key);
  const keyless = await fillSource(request, source, workspace, key, signal);
  const repeated = await settleRepeated(request, source, workspace, key);
  const names = { mode, source: source.inputs.join(", "), map: request.map, field: nameOf(key) };
  const matches = checkMatches(workspace, names);
  const unknownRejects = await keepRejectedKeys(request, source, workspace, key);
  const losesGeometry = mode === "delete" || request.guards.allowNullGeometry;
  const withheld = losesGeometry ? 0 : withholdUnlocated(workspace);
  const notices = [
    ...repeatedNotices(request, key, repeated),
    ...(mode === "delete" ? [] : newKeyNotices(request, workspace, key, matches)),
  ];
  return { ...matches, repeated, keyless, withheld, unknownRejects, notices };
}

function repeatedNotices({ source, onDuplicate }: SyncRequest, key: SyncKey, count: number): Loss[] {
  if (count === 0) return [];
  const example = `features with the "${nameOf(key)}" of another one were left out; of each the ${onDuplicate} was taken`;
  return [{ code: "key-repeated", layer: source.inputs.join(", "), field: nameOf(key), count, example }];
}

/** Features of the map without the key are not matched: what is meant to update them would be there twice. */
function newKeyNotices({ source }: SyncRequest, { database }: Workspace, key: SyncKey, matches: KeyMatches): Loss[] {
  const { held, features } = matches;
  const all = database.prepare<[], number>("SELECT count(*) FROM map").pluck().get()!;
  if (key.by === "id" || held > 0 || features === 0 || all === 0) return [];
  const example = `none of the features of the map has "${key.name}": all of the source are new to it`;
  return [{ code: "key-new-to-map", layer: source.inputs.join(", "), field: key.name, count: features, example }];
}

const nameOf = (key: SyncKey): string => (key.by === "id" ? "id" : key.name);

/** @throws key-repeated-on-map */
function checkMap(workspace: Workspace, { map, scope }: SyncRequest, key: SyncKey): void {
  const { database } = workspace;
  const repeated = database
    .prepare<[], { key: string; types: number }>(
      `SELECT key, count(DISTINCT numeric) AS types FROM map WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1`,
    )
    .all();
  if (repeated.length === 0) return;
  const ids = database.prepare<[string], string>("SELECT id FROM map WHERE key = ? ORDER BY seq LIMIT 5").pluck();
  const examples = repeated.slice(0, shown).map(({ key, types }) => {
    const how = types > 1 ? `${JSON.stringify(key)}, as text and as number,` : JSON.stringify(key);
    return `${how} on ${ids.all(key).join(", ")}`;
  });
  const twins = areAllTwins(workspace);
  throw fault("key-repeated-on-map", { map, field: nameOf(key), scope, keys: repeated.length, twins, examples });
}

const whyUnfit: Readonly<Record<UnfitKey["unfit"], string>> = {
  null: "it has none",
  empty: "it is empty",
  unsafe: "it is an integer beyond 2^53",
  type: "it is neither text nor an integer",
};

/** @returns features rejected for want of a key @throws key-unfit */
async function fillSource(
  request: SyncRequest,
  source: ReadSource,
  workspace: Workspace,
  key: SyncKey,
  signal: AbortSignal | undefined,
): Promise<number> {
  const field = nameOf(key);
  const rejects = request.onMissingKey === "reject";
  const remove = workspace.database.prepare("DELETE FROM source WHERE seq = ?");
  const examples: [KeyedRow, UnfitKey["unfit"]][] = [];
  let features = 0;
  const onUnfit = (row: KeyedRow, feature: SourceFeature, unfit: UnfitKey["unfit"]) => {
    // A feature without an id of the service is a new one.
    if (key.by === "id" && unfit === "null") return;
    features++;
    if (!rejects) {
      if (examples.length < shown) examples.push([row, unfit]);
      return;
    }
    remove.run(row.seq);
    source.rejects.add(feature, "key-unfit", `"${field}" is to identify the feature, and ${whyUnfit[unfit]}`);
  };
  const lostIntegers = key.by === "property" && tooLarge(source).has(key.name);
  await fillSourceKeys(workspace, key, { rounding: roundingOf(request.precision), lostIntegers, onUnfit, signal });
  if (rejects || features === 0) return features;
  const placeOf = await sourcePlaces(request, source);
  const why = (unfit: UnfitKey["unfit"]) => (key.by === "id" && unfit === "type" ? "it is no UUID" : whyUnfit[unfit]);
  throw fault("key-unfit", {
    source: source.inputs.join(", "),
    field,
    features,
    examples: examples.map(([row, unfit]) => `${placeOf(row)}: ${why(unfit)}`),
  });
}

/** @returns features left out since others have their keys @throws key-duplicate */
async function settleRepeated(
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
  const placeOf = await sourcePlaces(request, source);
  const rows = database.prepare<[string], KeyedRow>("SELECT * FROM source WHERE key = ? ORDER BY seq LIMIT 4");
  const first = database.prepare<[], string>(`SELECT key ${groups} ORDER BY min(seq) LIMIT ${shown}`).pluck().all();
  const examples = first.map((value) => `${JSON.stringify(value)} in ${rows.all(value).map(placeOf).join(" and ")}`);
  throw fault("key-duplicate", { source: source.inputs.join(", "), field: nameOf(key), features, keys, examples });
}
