/** Which features a layer has, before and after it is read. */
import { createError } from "../../../src/plugin/index.js";
import { integerOf, type Json, textOf } from "../../shared/json/values.js";
import { editDate, type ServiceLayer } from "./layer-list.js";
import type { Selection } from "./query-filter.js";
import type { ServiceClient } from "./service-client.js";

export interface LayerState {
  /** Object ids of the selected features, ascending; null if the layer has none. */
  readonly ids: Float64Array | null;
  readonly count: number;
  /** When the layer was edited last, in milliseconds since 1970; null if the service does not say it. */
  readonly edited: number | null;
}

/** How often count and ids are asked for until they agree: features may be added between the two. */
const maxTries = 3;

/** An object id; null if it is no integer that a number holds exactly. */
export function toObjectId(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : null;
}

/** @throws feature-service-incomplete if the service contradicts itself, and what the client throws */
export async function readLayerState(
  client: ServiceClient,
  layer: ServiceLayer,
  selection: Selection,
): Promise<LayerState> {
  const incomplete = (reason: string) => createError("feature-service-incomplete", { source: client.source, reason });
  for (let tries = 1; ; tries++) {
    const edited = layer.hasEditDate ? editDate(await client.get(`/${layer.id}`, {})) : null;
    const query = `/${layer.id}/query`;
    const count = integerOf((await client.get(query, { ...selection, returnCountOnly: "true" })).count);
    if (count === null || count < 0) throw incomplete("it does not say how many features the layer has");
    const listed = layer.idField === null ? null : await client.get(query, { ...selection, returnIdsOnly: "true" });
    const ids = listed && idsOf(listed);
    if (ids === null) return { ids, count, edited };
    const repeated = ids.findIndex((id, k) => k > 0 && id === ids[k - 1]);
    const isAll = ids.length === count && listed!.exceededTransferLimit !== true;
    if (isAll && repeated < 0) return { ids, count, edited };
    if (tries < maxTries) continue;
    throw incomplete(
      repeated < 0
        ? `it counts ${count} features and lists ${ids.length} object ids`
        : `it lists the object id ${ids[repeated]} more than once`,
    );
  }
}

/** The ids in an answer to `returnIdsOnly`; null if the layer has none. */
function idsOf(answer: Json): Float64Array | null {
  const { objectIds, objectIdFieldName } = answer;
  // Without features, services answer with null.
  if (objectIds === null || objectIds === undefined)
    return textOf(objectIdFieldName) === null ? null : new Float64Array();
  if (!Array.isArray(objectIds)) return null;
  const ids = new Float64Array(objectIds.length);
  for (let k = 0; k < ids.length; k++) {
    const id = toObjectId(objectIds[k]);
    if (id === null) return null;
    ids[k] = id;
  }
  return ids.sort();
}

/** What differs between two states, in words; null if nothing does. */
export function describeChange(before: LayerState, after: LayerState): string | null {
  if (before.ids && after.ids) {
    const [added, deleted] = [countMissing(after.ids, before.ids), countMissing(before.ids, after.ids)];
    if (added > 0 || deleted > 0) return `${added} were added and ${deleted} deleted`;
  } else if (before.count !== after.count) return `there were ${before.count} features, then ${after.count}`;
  return before.edited === after.edited ? null : "some were edited";
}

/** How many numbers of the first ascending list are not in the second. */
function countMissing(some: Float64Array, others: Float64Array): number {
  let missing = 0;
  for (let k = 0, other = 0; k < some.length; k++) {
    while (other < others.length && others[other]! < some[k]!) other++;
    if (others[other] !== some[k]) missing++;
  }
  return missing;
}
