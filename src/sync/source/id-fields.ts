/**
 * Ids of the service in a field of the source, where `pull` puts them in formats without ids of that type: `id`, `fid`
 * in GPX, `id_1` where that was taken. They identify features, and are no property of theirs.
 */
import type { Loss } from "../../model/report.js";
import type { Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { Properties } from "../../remote/wire.js";
import { readRowBatches } from "../diff/row-batches.js";
import type { FieldStats } from "./field-stats.js";
import type { ReadSource } from "./read-source.js";

/** Fields that may be such, by their names and values, in their order. */
export const findIdFields = (fields: readonly FieldStats[]): string[] =>
  fields
    .filter(
      ({ name, uuids, values, emptyTexts }) =>
        /^(id|fid)(_\d+)?$/i.test(name) && uuids > 0 && uuids === values - emptyTexts,
    )
    .map(({ name }) => name);

/**
 * The field that has ids of this map's features, which no property of theirs is called like. A property that happens to
 * have UUIDs has others than the service gave.
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

/** Whether the map has the id that one of the first features has in a field. */
async function hasIdsOfMap(field: string, { source, database }: Workspace): Promise<boolean> {
  for await (const rows of readRowBatches(source, undefined)) {
    const ids = rows.map(
      (row) => (JSON.parse(source.textOf(row)) as { properties: Properties | null }).properties?.[field],
    );
    const known = database.prepare("SELECT 1 FROM map WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1");
    return known.get(JSON.stringify(ids)) !== undefined;
  }
  return false;
}

/** What a person is told of it. */
export const createIdFieldNotice = ({ inputs }: ReadSource, field: string, count: number): Loss => ({
  code: "ids-of-map",
  layer: inputs.join(", "),
  field,
  count,
  example: `"${field}" has the ids that the service gave the features, as pull wrote them: it is not taken for a property`,
});
