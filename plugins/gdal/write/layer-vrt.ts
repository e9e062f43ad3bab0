/** The layers to write as GDAL's driver OGR_VRT is told of them: types, ids, and where the geometry stands. */
import { type Field, type FieldType, Kind, type LayerSummary } from "../../../src/model/index.js";
import { quoteOgrName } from "../read/ogr-sql.js";
import { rowsLayer } from "./flatgeobuf.js";

/** Columns that the rows have besides those of the fields. */
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

/** Kinds that are one where a layer is of the kind of several. */
const singleAndMulti: readonly (readonly [number, number])[] = [
  [Kind.LineString, Kind.MultiLineString],
  [Kind.Polygon, Kind.MultiPolygon],
];

/**
 * The type of a layer, as GDAL names them (`wkbMultiPolygon25D`): that of all its geometries, else any.
 * @param joins lines and polygons may stand with several of their kind in a layer of the latter
 */
export function ogrGeometryType(summary: LayerSummary | null, joins: boolean): string {
  if (!summary) return "wkbUnknown";
  const present = Object.values(Kind).filter((kind) => kind !== Kind.none && summary.kinds[kind]!.count > 0);
  const suffix = summary.hasZ ? (summary.hasM ? "ZM" : "25D") : summary.hasM ? "M" : "";
  if (present.length === 0) return "wkbNone";
  const pair = singleAndMulti.find((both) => present.every((kind) => both.includes(kind)));
  const only = present.length === 1 ? present[0] : joins ? pair?.[1] : undefined;
  if (only !== undefined) return `wkb${ogrGeometryTypeNames[only]}${suffix}`;
  // VRT has no name for any type with measures: `-nlt` says it then.
  return summary.hasZ ? "wkbUnknown25D" : "wkbUnknown";
}

/** What tells GDAL's translation that a layer of any type has measures; null where there is nothing to tell. */
export function measuredType(geometryType: string, summary: LayerSummary | null): string | null {
  if (!summary?.hasM || !geometryType.startsWith("wkbUnknown")) return null;
  return summary.hasZ ? "GEOMETRYZM" : "GEOMETRYM";
}

const xmlEscapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => xmlEscapes[character]!);

export interface LayerDescription {
  readonly name: string;
  /** Where its rows are. */
  readonly path: string;
  /** WKT 2, or null. */
  readonly wkt: string | null;
  readonly geometryType: string;
  readonly fields: readonly Field[];
  /** `given`: as they stand in the rows; `counted`: from 1 on; null: whatever the driver gives. */
  readonly ids: "given" | "counted" | null;
}

/** What the ids are called, where the output has a name for them: as no field is. */
function uniqueIdName(fields: readonly Field[]): string {
  const taken = new Set(fields.map(({ name }) => name.toLowerCase()));
  for (let n = 0; ; n++) {
    const name = n === 0 ? "fid" : `fid_${n}`;
    if (!taken.has(name)) return name;
  }
}

/** What the rows are taken from, and whether that names and types them as the layer has them. */
function layerSource({ fields, ids, geometryType }: LayerDescription): {
  readonly element: string;
  readonly isWhole: boolean;
} {
  // GDAL's VRT leaves bytes out of fields that are declared to it: then SQL says what they are.
  const isWhole = fields.some(({ type }) => type === "binary");
  if (!isWhole && ids !== "counted") return { element: `<SrcLayer>${rowsLayer}</SrcLayer>`, isWhole };
  // The rows themselves are numbered from 0.
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
