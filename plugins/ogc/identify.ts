import type { Confidence } from "../../src/plugin/index.js";
import { rootName } from "../shared/xml/root-name.js";

const gmlNamespace = /http:\/\/www\.opengis\.net\/gml(\/3\.\d)?["']/;
/** Roots of other documents that declare the namespace of GML. */
const otherRoots = new Set(["schema", "kml", "WFS_Capabilities", "StyledLayerDescriptor", "Filter", "GetFeature"]);
const exceptionRoots = new Set(["ExceptionReport", "ServiceExceptionReport"]);

/** Recognizes collections by the root element and GML's namespace, and what services send in their place. */
export function identifyGml(head: Buffer): Confidence {
  const root = rootName(head);
  if (root === null || otherRoots.has(root)) return "no";
  const isGml = gmlNamespace.test(head.toString("latin1").replaceAll("\0", ""));
  if (/(^|_)FeatureCollection$/.test(root) && isGml) return "yes";
  if (exceptionRoots.has(root)) return "maybe";
  return isGml ? "maybe" : "no";
}
