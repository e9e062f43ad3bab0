/**
 * The metadata of GeoParquet in the key `geo`. The types and the extent that it declares are not used: they may be
 * wrong, as those of other formats.
 */
import type { FileMetaData } from "hyparquet";
import type { Crs } from "../../../src/model/index.js";
import { GeoferryError, type ReadContext } from "../../../src/plugin/index.js";

type Json = { readonly [key: string]: unknown };
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface GeoColumn {
  readonly encoding: string;
  /** Undefined: OGC:CRS84; null: unknown. */
  readonly crs: unknown;
  readonly edges: string | null;
  readonly epoch: number | null;
  /** The paths of xmin, ymin, xmax and ymax of the covering column. */
  readonly covering: readonly (readonly string[])[] | null;
}

export interface GeoMetadata {
  readonly primary: string;
  readonly columns: ReadonlyMap<string, GeoColumn>;
}

export const metadataValue = (metadata: FileMetaData, key: string): string | null =>
  metadata.key_value_metadata?.find((entry) => entry.key === key)?.value ?? null;

/** The metadata; null, with a notice if it is malformed, if there is none. */
export function readGeoMetadata(metadata: FileMetaData, report: (example: string) => void): GeoMetadata | null {
  const text = metadataValue(metadata, "geo");
  if (text === null) return null;
  let geo: unknown;
  try {
    geo = JSON.parse(text);
  } catch {
    report("the metadata of GeoParquet is not JSON, and was ignored");
    return null;
  }
  const columns = new Map<string, GeoColumn>();
  if (isObject(geo) && isObject(geo.columns))
    for (const [name, column] of Object.entries(geo.columns))
      if (isObject(column)) columns.set(name, readColumn(column));
  const primary = isObject(geo) && typeof geo.primary_column === "string" ? geo.primary_column : null;
  const [first] = columns.keys();
  if (first === undefined) {
    report("the metadata of GeoParquet names no geometry column, and was ignored");
    return null;
  }
  if (primary !== null && columns.has(primary)) return { primary, columns };
  report(`the metadata of GeoParquet names no primary geometry column; "${first}" was taken`);
  return { primary: first, columns };
}

function readColumn(json: Json): GeoColumn {
  const { encoding, edges, epoch } = json;
  return {
    encoding: typeof encoding === "string" ? encoding.toLowerCase() : "wkb",
    crs: json.crs,
    edges: typeof edges === "string" ? edges : null,
    epoch: typeof epoch === "number" ? epoch : null,
    covering: readCovering(json.covering),
  };
}

function readCovering(json: unknown): string[][] | null {
  const box = isObject(json) && isObject(json.bbox) ? json.bbox : null;
  if (!box) return null;
  const paths = ["xmin", "ymin", "xmax", "ymax"].map((side) => box[side]);
  const isPath = (path: unknown): path is string[] =>
    Array.isArray(path) && path.every((step) => typeof step === "string");
  return paths.every(isPath) ? paths : null;
}

/**
 * The reference system of a `crs` member: PROJJSON, by its code if that is known. Null, with a notice, if it cannot be
 * parsed.
 */
export async function readProjJson(crs: unknown, context: ReadContext): Promise<Crs | null> {
  if (crs === undefined) return context.crs.wgs84;
  if (crs === null) return null;
  const id = isObject(crs) && isObject(crs.id) ? crs.id : null;
  const code = id ? `${id.authority}:${id.code}` : null;
  if (code === "OGC:CRS84") return context.crs.wgs84;
  const definitions = [...(code === null ? [] : [code]), typeof crs === "string" ? crs : JSON.stringify(crs)];
  return parseFirst(definitions, context);
}

/** The reference system of the logical types GEOMETRY and GEOGRAPHY (Parquet, Geospatial.md, "Coordinate Reference System"). */
export async function readLogicalCrs(text: string, metadata: FileMetaData, context: ReadContext): Promise<Crs | null> {
  const [, kind, rest] = /^(srid|projjson):(.*)$/s.exec(text) ?? [];
  if (text === "" || text === "OGC:CRS84") return context.crs.wgs84;
  if (kind === "srid" && rest === "0") return null;
  if (kind === "srid") return parseFirst([`EPSG:${rest}`], context);
  const stored = kind === "projjson" ? (metadataValue(metadata, rest!) ?? rest!) : text;
  try {
    return await readProjJson(JSON.parse(stored), context);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return parseFirst([stored], context);
  }
}

async function parseFirst(definitions: readonly string[], context: ReadContext): Promise<Crs | null> {
  for (const definition of definitions) {
    try {
      return await context.crs.parse(definition);
    } catch (error) {
      if (!(error instanceof GeoferryError)) throw error;
    }
  }
  context.reportNotice(
    "crs-unreadable",
    undefined,
    `its definition cannot be parsed: ${definitions.at(-1)!.slice(0, 80)}`,
  );
  return null;
}
