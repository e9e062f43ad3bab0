/**
 * Finds service ids in a source field. `pull` writes them to a field in formats without suitable ids: `id`, `fid` in
 * GPX, or `id_1` if that name was taken. They identify features and are not properties.
 */

import type { Workspace } from "../../compare/workspace.js";
import type { Loss } from "../../model/report.js";
import type { Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { Properties } from "../../remote/wire.js";
import { readRowBatches } from "../diff/row-batches.js";
import type { FieldStats } from "./field-stats.js";
import type { ReadSource } from "./read-source.js";

/** Candidate fields by name and values, in field order. */
export const findIdFields = (fields: readonly FieldStats[]): string[] =>
  fields
    .filter(
      ({ name, uuids, values, emptyTexts }) =>
        /^(id|fid)(_\d+)?$/i.test(name) && uuids > 0 && uuids === values - emptyTexts,
    )
    .map(({ name }) => name);

/**
 * The field with ids of this map's features, if the map has no property of that name. A property that happens to
 * contain UUIDs does not match the ids of the service.
 */
export async function findMapIdField(
  source: ReadSource,
  snapshot: Pick<Snapshot, "fields" | "features">,
  workspace: Workspace,
): Promise<string | null> {
  if (source.hasIds || snapshot.features === 0) return null;
  for (const name of findIdFields(source.fields))
    if (!snapshot.fields.has(name) && (await hasIdsOfMap(name, workspace))) return name;
  return null;
}

/** Whether the map has an id that one of the first features has in the field. */
async function hasIdsOfMap(field: string, { source, database }: Workspace): Promise<boolean> {
  for await (const rows of readRowBatches(source, undefined)) {
    const ids = rows.map(
      (row) => (JSON.parse(source.textOf(row)) as { properties: Properties | null }).properties?.[field],
    );
    const findAny = database.prepare("SELECT 1 FROM map WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1");
    return findAny.get(JSON.stringify(ids)) !== undefined;
  }
  return false;
}

/** The notice for the user. */
export const createIdFieldNotice = ({ inputs }: ReadSource, field: string, count: number): Loss => ({
  code: "ids-of-map",
  layer: inputs.join(", "),
  field,
  count,
  example: `"${field}" contains service ids, as written by pull; it is used as the id, not as a property`,
});
