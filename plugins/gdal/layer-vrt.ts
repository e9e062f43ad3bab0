/** The layers to write as GDAL's driver OGR_VRT is told of them: types, ids, and where the geometry stands. */
import { type Field, type FieldType, Kind, type LayerSummary } from "../../src/model/index.js";
import { rowsLayer } from "./flatgeobuf.js";

/** Columns that the rows have besides those of the fields. */
export const geometryColumn = "g";
export const idColumn = "i";
export const fieldColumn = (index: number): string => `c${index}`;

const ogrTypes: Readonly<Record<FieldType, readonly [type: string, subtype?: string]>> = {
  boolean: ["Integer", "Boolean"],
  int32: ["Integer"],
  int64: ["Integer64"],
  double: ["Real"],
  text: ["String"],
  date: ["Date"],
  time: ["Time"],
  datetime: ["DateTime"],
  binary: ["Binary"],
  json: ["String", "JSON"],
};

const names: Readonly<Record<number, string>> = {
  [Kind.Point]: "Point",
  [Kind.LineString]: "LineString",
  [Kind.Polygon]: "Polygon",
  [Kind.MultiPoint]: "MultiPoint",
  [Kind.MultiLineString]: "MultiLineString",
  [Kind.MultiPolygon]: "MultiPolygon",
  [Kind.GeometryCollection]: "GeometryCollection",
};

/** Kinds that are one where a layer is of the kind of several. */
const pairs: readonly (readonly [number, number])[] = [
  [Kind.LineString, Kind.MultiLineString],
  [Kind.Polygon, Kind.MultiPolygon],
];

/**
 * The type of a layer, as GDAL names them (`wkbMultiPolygon25D`): that of all its geometries, else any.
 * @param joins lines and polygons may stand with several of their kind in a layer of the latter
 */
export function geometryTypeOf(summary: LayerSummary | null, joins: boolean): string {
  if (!summary) return "wkbUnknown";
  const present = Object.values(Kind).filter((kind) => kind !== Kind.none && summary.kinds[kind]!.count > 0);
  const suffix = summary.hasZ ? (summary.hasM ? "ZM" : "25D") : summary.hasM ? "M" : "";
  if (present.length === 0) return "wkbNone";
  const pair = pairs.find((both) => present.every((kind) => both.includes(kind)));
  const only = present.length === 1 ? present[0] : joins ? pair?.[1] : undefined;
  if (only !== undefined) return `wkb${names[only]}${suffix}`;
  // VRT has no name for any type with measures: `-nlt` says it then.
  return summary.hasZ ? "wkbUnknown25D" : "wkbUnknown";
}

/** What tells GDAL's translation that a layer of any type has measures; null where there is nothing to tell. */
export function measuredType(geometryType: string, summary: LayerSummary | null): string | null {
  if (!summary?.hasM || !geometryType.startsWith("wkbUnknown")) return null;
  return summary.hasZ ? "GEOMETRYZM" : "GEOMETRYM";
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);

export interface LayerDescription {
  readonly name: string;
  /** Where its rows are. */
  readonly path: string;
  /** WKT 2, or null. */
  readonly wkt: string | null;
  readonly geometryType: string;
  readonly fields: readonly Field[];
  readonly hasIds: boolean;
}

function fieldElement({ name, type, width, decimals }: Field, index: number): string {
  const [ogrType, subtype] = ogrTypes[type];
  const more = [
    ...(subtype ? [`subtype="${subtype}"`] : []),
    ...(type === "double" && width ? [`width="${width}" precision="${decimals ?? 0}"`] : []),
  ];
  return `<Field name="${escaped(name)}" src="${fieldColumn(index)}" type="${ogrType}" ${more.join(" ")}/>`;
}

function layerElement({ name, path, wkt, geometryType, fields, hasIds }: LayerDescription): string {
  const isTable = geometryType === "wkbNone";
  return [
    `<OGRVRTLayer name="${escaped(name)}">`,
    `<SrcDataSource>${escaped(path)}</SrcDataSource><SrcLayer>${rowsLayer}</SrcLayer>`,
    ...(hasIds ? [`<FID>${idColumn}</FID>`] : []),
    ...(isTable
      ? ["<GeometryType>wkbNone</GeometryType>"]
      : [
          `<GeometryType>${geometryType}</GeometryType>`,
          ...(wkt === null ? [] : [`<LayerSRS>${escaped(wkt)}</LayerSRS>`]),
          `<GeometryField encoding="WKB" field="${geometryColumn}"/>`,
        ]),
    ...fields.map(fieldElement),
    "</OGRVRTLayer>",
  ].join("\n");
}

export const vrtOf = (layers: readonly LayerDescription[]): string =>
  `<OGRVRTDataSource>\n${layers.map(layerElement).join("\n")}\n</OGRVRTDataSource>\n`;
