import type { Confidence } from "../../src/plugin/format.js";
import { findTopology } from "../shared/json/topology-head.js";
import { detectSequenceForm } from "./scan/file-layout.js";

const geoJsonType =
  /"type"\s*:\s*"(FeatureCollection|Feature|Point|LineString|Polygon|MultiPoint|MultiLineString|MultiPolygon|GeometryCollection)"/;
const jsonOpening = /^\s*(\{|\[\s*\{)/;
/** Marks of Esri JSON, whose features have `attributes` in place of properties. */
const esriJson =
  /"(esriGeometry\w+|esriFieldType\w+|displayFieldName|fieldAliases)"|"features"\s*:\s*\[\s*\{\s*("geometry"\s*:\s*(\{[^{}]*\}|null)\s*,\s*)?"attributes"\s*:/;
const sequenceExtension = /\.(geojsonl|geojsons|ndjson|geojsonl\.json)$/i;

/** Rates how likely the head of a file is each of this plugin's two formats. */
export function rateGeoJson(
  head: Buffer,
  source: { readonly name: string; readonly size: number },
): { readonly geojson: Confidence; readonly geojsonseq: Confidence } {
  const bom = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const bytes = head.subarray(bom);
  const text = bytes.toString("latin1").replaceAll("\x1e", " ");
  // The writer's output for a layer without features.
  const isBlank = head.length > 0 && head.length >= source.size && text.trim() === "";
  if (isBlank && sequenceExtension.test(source.name)) return { geojson: "no", geojsonseq: "yes" };
  if (!jsonOpening.test(text) || findTopology(text) !== "no") return { geojson: "no", geojsonseq: "no" };
  const found = geoJsonType.exec(text);
  if (!found) return { geojson: "no", geojsonseq: "no" };
  if (esriJson.test(text.slice(0, found.index)) && !/"FeatureCollection"/.test(text)) {
    return { geojson: "no", geojsonseq: "no" };
  }
  const sure: Confidence = isFeatureLevelType(text, found.index) ? "yes" : "maybe";
  const byName = sequenceExtension.test(source.name);
  const form = detectSequenceForm(bytes, byName, head.length >= source.size);
  const unended = byName && form === null && !/^[^[]*"features"/.test(text);
  return form !== null || unended ? { geojson: "no", geojsonseq: sure } : { geojson: sure, geojsonseq: "no" };
}

/** Whether the type belongs to the top-level object, or to an object in its features. */
function isFeatureLevelType(text: string, index: number): boolean {
  const before = text.slice(0, index);
  return /^\s*\{[^{[]*$/.test(before) || /"(features|geometry|geometries)"\s*:\s*[[{]/.test(before);
}
