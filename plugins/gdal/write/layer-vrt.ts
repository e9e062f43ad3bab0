/** Builds the OGR_VRT document that describes the layers to write: types, ids and geometry column. */
import { type Field, type FieldType, Kind, type LayerSummary } from "../../../src/model/index.js";
import { quoteOgrName } from "../read/ogr-sql.js";
import { rowsLayer } from "./flatgeobuf.js";

export const geometryColumn = "g";
export const idColumn = "i";
export const fieldColumnName = (index: number): string => `c${index}`;

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

const ogrGeometryTypeNames: Readonly<Record<number, string>> = {
  [Kind.Point]: "Point",
  [Kind.LineString]: "LineString",
  [Kind.Polygon]: "Polygon",
  [Kind.MultiPoint]: "MultiPoint",
  [Kind.MultiLineString]: "MultiLineString",
  [Kind.MultiPolygon]: "MultiPolygon",
  [Kind.GeometryCollection]: "GeometryCollection",
};

/** Single and multi types. */
const singleAndMulti: readonly (readonly [number, number])[] = [
  [Kind.LineString, Kind.MultiLineString],
  [Kind.Polygon, Kind.MultiPolygon],
];

/**
 * GDAL's geometry type of a layer (`wkbMultiPolygon25D`): the common type of its geometries, else unknown.
 * @param joins whether a layer of multi lines or polygons may hold single ones
 */
export function ogrGeometryType(summary: LayerSummary | null, joins: boolean): string {
  if (!summary) return "wkbUnknown";
  const present = Object.values(Kind).filter((kind) => kind !== Kind.none && summary.kinds[kind]!.count > 0);
  const suffix = summary.hasZ ? (summary.hasM ? "ZM" : "25D") : summary.hasM ? "M" : "";
  if (present.length === 0) return "wkbNone";
  const pair = singleAndMulti.find((both) => present.every((kind) => both.includes(kind)));
  const only = present.length === 1 ? present[0] : joins ? pair?.[1] : undefined;
  if (only !== undefined) return `wkb${ogrGeometryTypeNames[only]}${suffix}`;
  // VRT has no unknown type with measures; `-nlt` sets it.
  return summary.hasZ ? "wkbUnknown25D" : "wkbUnknown";
}

/** Value of `-nlt` for a layer of unknown type with measures; null if not needed. */
export function measuredType(geometryType: string, summary: LayerSummary | null): string | null {
  if (!summary?.hasM || !geometryType.startsWith("wkbUnknown")) return null;
  return summary.hasZ ? "GEOMETRYZM" : "GEOMETRYM";
}

const xmlEscapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => xmlEscapes[character]!);

export interface LayerDescription {
  readonly name: string;
  /** Path of its rows. */
  readonly path: string;
  /** WKT 2, or null. */
  readonly wkt: string | null;
  readonly geometryType: string;
  readonly fields: readonly Field[];
  /** `given`: from the rows; `counted`: from 1; null: assigned by the driver. */
  readonly ids: "given" | "counted" | null;
}

/** A name for the id column that no field has. */
function uniqueIdName(fields: readonly Field[]): string {
  const taken = new Set(fields.map(({ name }) => name.toLowerCase()));
  for (let n = 0; ; n++) {
    const name = n === 0 ? "fid" : `fid_${n}`;
    if (!taken.has(name)) return name;
  }
}

/** Source of the rows, and whether it defines names and types of all fields. */
function layerSource({ fields, ids, geometryType }: LayerDescription): {
  readonly element: string;
  readonly isWhole: boolean;
} {
  // VRT does not support declared binary fields, so SQL selects them.
  const isWhole = fields.some(({ type }) => type === "binary");
  if (!isWhole && ids !== "counted") return { element: `<SrcLayer>${rowsLayer}</SrcLayer>`, isWhole };
  // FID counts from 0.
  const id = ids === null ? [] : [`${ids === "given" ? idColumn : "FID + 1"} AS ${quoteOgrName(uniqueIdName(fields))}`];
  const values = fields.map(({ name, type }, index) => {
    const column = fieldColumnName(index);
    const typed = type === "date" || type === "time" ? `CAST(${column} AS ${type.toUpperCase()})` : column;
    return `${typed} AS ${quoteOgrName(name)}`;
  });
  const geometry = geometryType === "wkbNone" ? [] : [geometryColumn];
  const columns = isWhole ? [...geometry, ...id, ...values] : ["*", ...id];
  const sql = `SELECT ${columns.join(", ")} FROM ${rowsLayer}`;
  return { element: `<SrcSQL dialect="OGRSQL">${escapeXml(sql)}</SrcSQL>`, isWhole };
}

function fieldElement({ name, type, width, decimals }: Field, index: number): string {
  const [ogrType, subtype] = ogrTypes[type];
  const more = [
    ...(subtype ? [`subtype="${subtype}"`] : []),
    ...(type === "double" && width ? [`width="${width}" precision="${decimals ?? 0}"`] : []),
  ];
  return `<Field name="${escapeXml(name)}" src="${fieldColumnName(index)}" type="${ogrType}" ${more.join(" ")}/>`;
}

function layerElement(layer: LayerDescription): string {
  const { name, path, wkt, geometryType, fields, ids } = layer;
  const isTable = geometryType === "wkbNone";
  const { element, isWhole } = layerSource(layer);
  const idSource = isWhole || ids === "counted" ? uniqueIdName(fields) : idColumn;
  return [
    `<OGRVRTLayer name="${escapeXml(name)}">`,
    `<SrcDataSource>${escapeXml(path)}</SrcDataSource>`,
    element,
    ...(ids === null ? [] : [`<FID name="${uniqueIdName(fields)}">${idSource}</FID>`]),
    ...(isTable
      ? ["<GeometryType>wkbNone</GeometryType>"]
      : [
          `<GeometryType>${geometryType}</GeometryType>`,
          ...(wkt === null ? [] : [`<LayerSRS>${escapeXml(wkt)}</LayerSRS>`]),
          `<GeometryField encoding="WKB" field="${geometryColumn}" reportSrcColumn="false"/>`,
        ]),
    ...(isWhole ? [] : fields.map(fieldElement)),
    "</OGRVRTLayer>",
  ].join("\n");
}

export const buildVrt = (layers: readonly LayerDescription[]): string =>
  `<OGRVRTDataSource>\n${layers.map(layerElement).join("\n")}\n</OGRVRTDataSource>\n`;
