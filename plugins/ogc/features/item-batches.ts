/** Decodes features of GeoJSON into batches. */
import {
  type Batch,
  type Feature,
  packFeatures,
  parseWithBigints,
  stringifyExactly,
} from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { parseFeatures } from "../../shared/json/parse-features.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { toGeometry } from "./geojson-geometry.js";

const batchSize = 1000;
/** Most bytes of a text in a reject. */
const maxRejectedText = 10_000;
/** Members of a feature that are read, or only describe it (OGC 17-069r4, 7.16). */
const knownMembers = new Set(["type", "id", "geometry", "properties", "links", "bbox"]);

/**
 * @param bytes JSON features with commas between them
 * @param firstRecord the record number of the first
 */
export function* decodeItems(
  source: string,
  bytes: Buffer,
  firstRecord: number,
  isNorthFirst: boolean,
  context: ReadContext,
): Generator<Batch> {
  const { values, malformed } = parseFeatures(bytes, parseWithBigints);
  if (malformed.length > 0)
    throw createError("input-corrupt", { source, place: { record: firstRecord }, reason: malformed[0]!.reason });
  for (let from = 0; from < values.length; from += batchSize) {
    context.signal.throwIfAborted();
    const features: Feature[] = [];
    const records: number[] = [];
    const unreadable: [row: number, reason: string][] = [];
    for (const [k, value] of values.slice(from, from + batchSize).entries()) {
      const record = firstRecord + from + k;
      const json = value as Json;
      const reason = flawOf(json);
      if (reason !== null) {
        const text = stringifyExactly(json).slice(0, maxRejectedText);
        context.reject({ code: "feature-invalid", reason, place: { record }, feature: null, text });
        continue;
      }
      features.push(toFeature(json, features.length, isNorthFirst, unreadable, context));
      records.push(record);
    }
    if (features.length === 0) continue;
    const batch = packFeatures(features, records[0]!).with({ recordNumbers: Uint32Array.from(records) });
    yield rejectUnreadableGeometries(batch, unreadable, context);
  }
}

function toFeature(
  json: Json,
  row: number,
  isNorthFirst: boolean,
  unreadable: [row: number, reason: string][],
  context: ReadContext,
): Feature {
  for (const name in json)
    if (!knownMembers.has(name))
      context.reportLoss("foreign-member", name, "a member beside properties and geometry was left out");
  const { id } = json;
  const properties = isObject(json.properties) ? { ...json.properties } : {};
  let geometry: Feature["geometry"] = null;
  try {
    geometry = toGeometry(json.geometry, isNorthFirst);
  } catch (error) {
    if (!(error instanceof GeometryParseError)) throw error;
    unreadable.push([row, error.message]);
  }
  const isId = typeof id === "string" || typeof id === "number";
  return { type: "Feature", ...(isId && { id }), geometry, properties };
}

/** Why a value is not a feature; null if it is one. */
function flawOf({ type, properties }: Json): string | null {
  if (type !== "Feature") return `its type is ${JSON.stringify(type) ?? "missing"} instead of "Feature"`;
  if (properties !== null && properties !== undefined && !isObject(properties))
    return "its properties are not an object";
  return null;
}
