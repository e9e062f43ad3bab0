import { Kind } from "../../model/geometry.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { RemoteKey } from "../../remote/wire.js";
import type { SyncKey } from "../plan/plan.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource } from "../source/read-source.js";
import type { RejectedFeature } from "../source/source-rejects.js";
import { isInvalidKey, parseKey } from "./key-value.js";

/**
 * Keeps the keys of rejected features in the table `rejected (key TEXT PRIMARY KEY)`. What features on the map have one
 * of these must not be taken for gone from the source.
 * @returns rejects without a known key
 */
export async function storeRejectedKeys(
  request: SyncRequest,
  { rejects }: ReadSource,
  { database }: Workspace,
  key: SyncKey,
): Promise<number> {
  database.exec("CREATE TABLE IF NOT EXISTS rejected (key TEXT PRIMARY KEY) WITHOUT ROWID");
  const insert = database.prepare("INSERT OR IGNORE INTO rejected VALUES (?)");
  const names = key.by === "property" ? namesBeforeRename(request, key.name) : null;
  let unknown = 0;
  for await (const rejected of rejects.readFeatures()) {
    const keys = names === null ? lowerCaseId(rejected) : readRejectKeys(rejected, names);
    for (const one of keys) insert.run(String(one));
    // A feature that went on without its geometry is found by its key on the other side of the comparison.
    if (keys.length === 0 && !rejected.reject.kept) unknown++;
  }
  return unknown;
}

/**
 * Takes features out of the source that have no geometry only since theirs could not be carried, where the map has one
 * for them: their keys are among the rejected ones, so that the map keeps what it has.
 * @returns how many
 */
export function excludeLostGeometries({ database }: Workspace): number {
  return database
    .prepare(
      `DELETE FROM source WHERE kind = ${Kind.none} AND key IN (SELECT key FROM rejected)
       AND EXISTS (SELECT 1 FROM map WHERE map.key = source.key AND map.kind <> ${Kind.none})`,
    )
    .run().changes;
}

const lowerCaseId = ({ id }: RejectedFeature): RemoteKey[] =>
  id === undefined || id === null ? [] : [String(id).toLowerCase()];

/**
 * What the property was called where a feature may have been rejected: before and after `--rename`. None where its
 * values became another type than text on the way: what stands in a reject is then perhaps not what the map has.
 */
function namesBeforeRename({ source: { rename = {}, cast = {} } }: SyncRequest, name: string): readonly string[] {
  const before = Object.keys(rename).filter((from) => rename[from] === name);
  const names = [name, ...before];
  return names.some((one) => (cast[one] ?? "text") !== "text") ? [] : names;
}

function readRejectKeys({ properties }: RejectedFeature, names: readonly string[]): RemoteKey[] {
  return names.flatMap((name) => {
    const key = parseKey(properties?.[name]);
    return isInvalidKey(key) ? [] : [key];
  });
}
