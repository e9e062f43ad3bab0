import type { Workspace } from "../../compare/workspace.js";
import { Kind } from "../../model/geometry.js";
import type { RemoteKey } from "../../remote/wire.js";
import type { SyncKey } from "../plan/plan.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource } from "../source/read-source.js";
import type { RejectLine } from "../source/source-rejects.js";
import { isInvalidKey, isUuid, parseKey } from "./key-value.js";

/**
 * Stores the keys of rejected features in the table `rejected (key TEXT PRIMARY KEY)`, so that map features with these
 * keys are not treated as removed from the source.
 * @returns number of rejects without a known key
 */
export async function storeRejectedKeys(
  request: SyncRequest,
  { rejects, idField }: Pick<ReadSource, "rejects" | "idField">,
  { database }: Workspace,
  key: SyncKey,
): Promise<number> {
  database.exec("CREATE TABLE IF NOT EXISTS rejected (key TEXT PRIMARY KEY) WITHOUT ROWID");
  const insert = database.prepare("INSERT OR IGNORE INTO rejected VALUES (?)");
  const field = key.by === "property" ? key.name : idField;
  const names = field === null ? [] : namesBeforeRename(request, field);
  let unknown = 0;
  for await (const rejected of rejects.readFeatures()) {
    const keys = key.by === "property" ? readRejectKeys(rejected, names) : readRejectIds(rejected, names);
    for (const one of keys) insert.run(String(one));
    // A feature that was kept without its geometry is matched by its key in the comparison.
    if (keys.length === 0 && !rejected.reject.kept) unknown++;
  }
  return unknown;
}

/**
 * Removes source features that lost their geometry in conversion and whose map feature has one. Their keys are among
 * the rejected ones, so that the map keeps its features.
 * @returns number of removed features
 */
export function excludeLostGeometries({ database }: Workspace): number {
  return database
    .prepare(
      `DELETE FROM source WHERE kind = ${Kind.none} AND key IN (SELECT key FROM rejected)
       AND EXISTS (SELECT 1 FROM map WHERE map.key = source.key AND map.kind <> ${Kind.none})`,
    )
    .run().changes;
}

/** @param names of the field that has the ids of the source, if it has one */
function readRejectIds({ id, properties }: RejectLine, names: readonly string[]): RemoteKey[] {
  const found = [id, ...names.map((name) => properties?.[name])];
  return found.flatMap((one) => (typeof one === "string" && isUuid(one) ? [one.toLowerCase()] : []));
}

/**
 * The names of the property at the points where a feature may have been rejected: before and after `--rename`. Empty if
 * `--cast` changes its values to a type other than text, since a reject may then contain another value than the map.
 */
function namesBeforeRename({ source: { rename = {}, cast = {} } }: SyncRequest, name: string): readonly string[] {
  const before = Object.keys(rename).filter((from) => rename[from] === name);
  const names = [name, ...before];
  return names.some((one) => (cast[one] ?? "text") !== "text") ? [] : names;
}

function readRejectKeys({ properties }: RejectLine, names: readonly string[]): RemoteKey[] {
  return names.flatMap((name) => {
    const key = parseKey(properties?.[name]);
    return isInvalidKey(key) ? [] : [key];
  });
}
