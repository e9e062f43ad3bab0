import type { FieldType } from "../../src/model/index.js";

/**
 * The fields that KML has elements for, with the types of their values. The first type is the default when reading. Names
 * are those of @tmcw/togeojson, or of KML's elements where it has none.
 *
 * Values that an element cannot hold, and all other fields, are ExtendedData.
 */
export const elementFields = {
  name: ["text"],
  visibility: ["boolean"],
  open: ["boolean"],
  author: ["text"],
  link: ["text"],
  address: ["text"],
  phoneNumber: ["text"],
  snippet: ["text"],
  description: ["text"],
  timestamp: ["text", "date", "datetime"],
  timespan: ["json"],
  styleUrl: ["text"],
  icon: ["text"],
  "icon-color": ["text"],
  "icon-opacity": ["double", "int32"],
  "icon-scale": ["double", "int32"],
  "icon-heading": ["double", "int32"],
  "icon-offset": ["json"],
  "icon-offset-units": ["json"],
  "label-color": ["text"],
  "label-opacity": ["double", "int32"],
  "label-scale": ["double", "int32"],
  stroke: ["text"],
  "stroke-opacity": ["double", "int32"],
  "stroke-width": ["double", "int32"],
  fill: ["text"],
  "fill-opacity": ["double", "int32"],
  folder: ["text"],
  altitudeMode: ["text"],
  extrude: ["boolean"],
  tessellate: ["boolean"],
  interpolate: ["boolean"],
  coordinateProperties: ["json"],
  // Of overlays, which are read and not written.
  "@geometry-type": ["text"],
} as const satisfies Record<string, readonly FieldType[]>;

export type ElementField = keyof typeof elementFields;

const elementFieldNames: ReadonlySet<string> = new Set(Object.keys(elementFields));

/** A set, because looking names up in an object keeps very many of them in the engine's table of strings. */
export const isElementField = (name: string): name is ElementField => elementFieldNames.has(name);

/** The meanings of heights; the last two are from Google's extension (gx:altitudeMode). */
export const altitudeModes: readonly string[] = [
  "clampToGround",
  "relativeToGround",
  "absolute",
  "clampToSeaFloor",
  "relativeToSeaFloor",
];

/** Namespaces of KML and of Google's extension, with common typing errors. */
export const kmlNamespacePattern = /^\s*(https?:\/\/)?([\w-]+\.)*(opengis\.net|google\.com)\/.*kml/i;
export const kmlNamespace = "http://www.opengis.net/kml/2.2";
export const gxNamespace = "http://www.google.com/kml/ext/2.2";
export const atomNamespace = "http://www.w3.org/2005/Atom";
/** The namespace of geoferry's declarations in a document's ExtendedData, where KML allows other namespaces. */
export const geoferryNamespace = "urn:x-geoferry:kml";
