import type { FieldType } from "../../src/model/index.js";

/** The three kinds of features (GPX 1.1, gpxType), by the names of their elements. */
export const gpxTypes = ["wpt", "rte", "trk"] as const;
export const Gpx = { wpt: 0, rte: 1, trk: 2 } as const;

/** Codes of the elements and attributes of GPX 1.0 and 1.1, and of extensions that the reader knows. */
export const ElementCode = {
  gpx: 1,
  wpt: 2,
  rte: 3,
  trk: 4,
  trkseg: 5,
  rtept: 6,
  trkpt: 7,
  metadata: 8,
  extensions: 9,
  link: 10,
  lat: 11,
  lon: 12,
  href: 13,
  text: 14,
  url: 15,
  urlname: 16,
  ele: 17,
  TrackPointExtension: 18,
  bounds: 19,
  author: 20,
  email: 21,
  copyright: 22,
  keywords: 23,
  rpt: 24,
  Subclass: 25,
} as const;

/** The first of the codes of `standardFields`, in their order. */
const firstFieldCode = 32;

export interface StandardField {
  readonly name: string;
  readonly type: FieldType;
  /** Which of wpt, rte and trk have it in GPX 1.1. */
  readonly of: readonly (0 | 1 | 2)[];
}

const allFeatureTypes = [Gpx.wpt, Gpx.rte, Gpx.trk] as const;
const waypointOnly = [Gpx.wpt] as const;
const lineTypes = [Gpx.rte, Gpx.trk] as const;

/**
 * The simple elements of wptType, rteType and trkType (GPX 1.1), each of which occurs at most once. The order is that of
 * the schema for each type; links come between `src` and `sym` or `number`, and `ele`, the height, comes first.
 */
export const standardFields: readonly StandardField[] = [
  { name: "time", type: "datetime", of: waypointOnly },
  { name: "magvar", type: "double", of: waypointOnly },
  { name: "geoidheight", type: "double", of: waypointOnly },
  { name: "name", type: "text", of: allFeatureTypes },
  { name: "cmt", type: "text", of: allFeatureTypes },
  { name: "desc", type: "text", of: allFeatureTypes },
  { name: "src", type: "text", of: allFeatureTypes },
  { name: "number", type: "int32", of: lineTypes },
  { name: "sym", type: "text", of: waypointOnly },
  { name: "type", type: "text", of: allFeatureTypes },
  { name: "fix", type: "text", of: waypointOnly },
  { name: "sat", type: "int32", of: waypointOnly },
  { name: "hdop", type: "double", of: waypointOnly },
  { name: "vdop", type: "double", of: waypointOnly },
  { name: "pdop", type: "double", of: waypointOnly },
  { name: "ageofdgpsdata", type: "double", of: waypointOnly },
  { name: "dgpsid", type: "int32", of: waypointOnly },
];

/** Names of the fields that are not the text of one element. */
export const gpxTypeField = "_gpxType";
export const linksField = "links";
export const coordinateField = "coordinateProperties";
export const segmentField = "segmentProperties";

/** All names with their codes. */
export const vocabulary: Readonly<Record<string, number>> = {
  ...ElementCode,
  ...Object.fromEntries(standardFields.map(({ name }, index) => [name, firstFieldCode + index])),
};

/**
 * The namespaces of elements that geoferry adds: fields by their names, and the type of a geometry before it was converted
 * to one of GPX.
 */
export const fieldsNamespace = "urn:geoferry:gpx:fields";
export const structureNamespace = "urn:geoferry:gpx:structure";

/** The namespace of the elements that are written. */
export const gpxNamespace = "http://www.topografix.com/GPX/1/1";
/** Namespaces of GPX 1.0, 1.1 and later versions, with common typing errors. Topografix's extensions do not match. */
export const gpxNamespaces = /topografix\.com\/gpx\/1\/\d/i;
