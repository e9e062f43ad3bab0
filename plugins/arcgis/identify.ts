import type { Confidence } from "../../src/plugin/index.js";
import { findTopology } from "../shared/json/topology-head.js";

/** Members of a feature set that no other format has (ArcGIS REST API, "Feature set"). */
const featureSetMembers =
  /"(esriGeometry(Point|Multipoint|Polyline|Polygon|Envelope)|esriFieldType\w+|objectIdFieldName|fieldAliases|displayFieldName|geometryType)"/;
const featureStart = /"features"\s*:\s*\[\s*(\{\s*"(attributes|geometry)"\s*:|\]|$)/;
const geoJsonFeature = /"features"\s*:\s*\[\s*\{[^[]*"type"\s*:\s*"Feature"|"type"\s*:\s*"FeatureCollection"/;
const serviceError = /^\s*\{\s*"error"\s*:\s*\{[^{]*"(code|message)"\s*:/;

/** Recognizes feature sets, and the errors that a service sends in their place. */
export function identifyEsriJson(head: Buffer): Confidence {
  const bom = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const text = head.toString("latin1", bom);
  if (!/^\s*\{/.test(text)) return "no";
  if (serviceError.test(text)) return "maybe";
  if (geoJsonFeature.test(text) || findTopology(text) !== "no") return "no";
  const hasAttributes = /"features"\s*:\s*\[\s*\{[\s\S]*?"attributes"\s*:\s*\{/.test(text);
  if (featureSetMembers.test(text) && (hasAttributes || featureStart.test(text))) return "yes";
  if (hasAttributes) return "maybe";
  // The members before the features fill the head.
  return /"esri(FieldType|Geometry)\w+"/.test(text) ? "maybe" : "no";
}
