/** Filters that a service can apply without leaving out a feature that is wanted. */

import type { Extent, Geometry, SplitCondition, SplitFilter } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { createError } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { integerOf, isObject, type Json } from "../../shared/json/values.js";
import {
  boxAcross,
  chooseBox,
  comparesNumbers,
  extentOf,
  orderedFields,
  probedFeatures,
  widen,
} from "../../shared/selection-probes.js";
import { quoteLiteral } from "../../shared/sql-identifiers.js";
import { areAxesSwapped } from "../service/axis-check.js";
import { PagesIncomplete } from "../service/complete-download.js";
import { type OgcClient, RequestRefused } from "../service/service-client.js";
import type { Collection, Queryable } from "./collections.js";
import { toGeometry } from "./geojson-geometry.js";
import type { Selection } from "./item-pages.js";
import { requestJson } from "./json-client.js";

const plainName = /^[A-Za-z_]\w*$/;
/** Text whose equality means the same in every database, or more: no letters beyond ASCII, and no blanks at the ends. */
const plainText = /^[!-~]([ -~]*[!-~])?$/;
const plainNumber = /^-?\d+(\.\d+)?$/;
/** How far a stored number may be from its value in JSON, relative to it: a service may store it in 32 bits. */
const slack = 1e-5;

/** A condition in CQL2 text (OGC 21-065r2, 7); none if the service may understand it in another way. */
function termsOf({ name, type }: Queryable, { comparison, value }: SplitCondition): string[] {
  if (typeof value === "string") {
    if (type !== "string" || comparison !== "=" || !plainText.test(value)) return [];
    return [`${name} = ${quoteLiteral(value)}`];
  }
  if (type === "string") return [];
  const text = String(value);
  if (type === "integer") return plainNumber.test(text) ? [`${name} ${comparison} ${text}`] : [];
  const number = Number(value);
  const margin = Math.abs(number) * slack;
  const [low, high] = [String(number - margin), String(number + margin)];
  if (!plainNumber.test(low) || !plainNumber.test(high)) return [];
  if (comparison === "=") return [`${name} >= ${low}`, `${name} <= ${high}`];
  return [comparison.startsWith(">") ? `${name} >= ${low}` : `${name} <= ${high}`];
}

function filterOf({ queryables }: Collection, conditions: readonly SplitCondition[]): Selection {
  const terms = conditions.flatMap((condition) => {
    const queryable = queryables.find(({ name }) => name === condition.field);
    return queryable && plainName.test(queryable.name) ? termsOf(queryable, condition) : [];
  });
  return terms.length === 0 ? {} : { filter: terms.join(" AND "), "filter-lang": "cql2-text" };
}

function boxOf(
  { crsUri, isNorthFirst }: Collection,
  [west, south, east, north]: Extent,
  order = isNorthFirst,
): Selection {
  const bbox = (order ? [south, west, north, east] : [west, south, east, north]).join(",");
  return crsUri === null ? { bbox } : { bbox, "bbox-crs": crsUri };
}

/** What the service selects: all that the filter says, or the part of it that the service applies correctly. */
export async function selectItems(
  client: OgcClient,
  collection: Collection,
  filter: SplitFilter | undefined,
  context: ReadContext,
): Promise<Selection> {
  const sample = await readSample(client, collection, {});
  const around = sample.geometry && boxAround(sample.geometry);
  if (around) await refuseSwapped(client, collection, around, context);
  const base = await selectWhere(client, collection, filter?.conditions ?? []);
  const boxes = filter?.boxes ?? [];
  if (boxes.length === 0 || !sample.geometry || !around) return base;
  const count = async (selection: Selection): Promise<number | null> =>
    (await readSample(client, collection, selection)).count;
  // A service that takes the axes in another order finds nothing around its own feature, or something at the other place.
  const { isNorthFirst } = collection;
  if (!((await count(boxOf(collection, widen(around)))) ?? 0)) return base;
  if ((await count(boxOf(collection, widen(around), !isNorthFirst))) !== 0) return base;
  const across = boxAcross(sample.geometry);
  if (across && !((await count(boxOf(collection, across))) ?? 0)) return base;
  const selectionOf = (box: Extent): Selection => ({ ...base, ...boxOf(collection, box) });
  const box = await chooseBox(boxes, (each) => count(selectionOf(each)));
  return box === null ? base : selectionOf(box);
}

/** The conditions that the service applies correctly; none if it refuses them, or compares numbers as texts. */
async function selectWhere(
  client: OgcClient,
  collection: Collection,
  conditions: readonly SplitCondition[],
): Promise<Selection> {
  const where = filterOf(collection, conditions);
  if (!("filter" in where) || (await readSample(client, collection, where)).count === null) return {};
  const isSent = ({ field }: SplitCondition) => collection.queryables.some(({ name }) => name === field);
  const fields = orderedFields(conditions.filter(isSent));
  if (fields.length === 0) return where;
  const { properties } = await readSample(client, collection, {}, probedFeatures);
  const count = async (probe: readonly SplitCondition[]): Promise<number | null> =>
    (await readSample(client, collection, filterOf(collection, probe))).count;
  return (await comparesNumbers(fields, properties, count)) ? where : {};
}

interface Sample {
  /** The number of features; null if the service does not say it, or refuses the request. */
  readonly count: number | null;
  /** The geometry of the first feature. */
  readonly geometry: Geometry | null;
  readonly properties: readonly Json[];
}

async function readSample(client: OgcClient, collection: Collection, selection: Selection, limit = 1): Promise<Sample> {
  const url = new URL(collection.items);
  url.searchParams.set("limit", String(limit));
  if (collection.crsUri !== null) url.searchParams.set("crs", collection.crsUri);
  for (const [name, value] of Object.entries(selection)) url.searchParams.set(name, value);
  try {
    const { json } = await requestJson(client, url, "features");
    const features = Array.isArray(json.features) ? json.features.filter(isObject) : [];
    return {
      count: integerOf(json.numberMatched),
      geometry: features[0] ? geometryOf(features[0], collection) : null,
      properties: features.flatMap(({ properties }) => (isObject(properties) ? [properties] : [])),
    };
  } catch (error) {
    if (error instanceof RequestRefused) return { count: null, geometry: null, properties: [] };
    throw error;
  }
}

/** The box of a geometry; null if it has no positions. */
function boxAround(geometry: Geometry): Extent | null {
  const box = extentOf(geometry);
  return box.every((value) => Number.isFinite(value)) ? box : null;
}

function geometryOf({ geometry }: Json, { isNorthFirst }: Collection): Geometry | null {
  try {
    return toGeometry(geometry, isNorthFirst);
  } catch (error) {
    if (error instanceof GeometryParseError) return null;
    throw error;
  }
}

/** Checks the first geometry of a page, since a service may have the order of the axes right on some pages only. */
export async function checkPlace(
  collection: Collection,
  features: readonly Json[],
  context: ReadContext,
): Promise<void> {
  if (context.swapsXy) return;
  for (const feature of features) {
    const geometry = geometryOf(feature, collection);
    const box = geometry && boxAround(geometry);
    if (!box) continue;
    if (await areAxesSwapped(collection.crs, collection.bounds, box, context))
      throw new PagesIncomplete("a page has coordinates that are plausible only after swapping the axes");
    return;
  }
}

/** @throws unsupported for coordinates that are plausible only after swapping the axes */
async function refuseSwapped(
  client: OgcClient,
  { name, crs, bounds, crsUri }: Collection,
  box: Extent,
  context: ReadContext,
): Promise<void> {
  if (context.swapsXy || !(await areAxesSwapped(crs, bounds, box, context))) return;
  throw createError("unsupported", {
    source: client.source,
    reason: `the coordinates of "${name}" are in another order than ${crsUri ?? "longitude and latitude"} means, since they are plausible only after swapping the axes; swap them with --swap-xy`,
  });
}
