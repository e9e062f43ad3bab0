import { type Crs, type Extent, type Field, type GeometryType, Kind, typesIn } from "../../../src/model/index.js";
import { createError, type OptionValues, type TargetLayer } from "../../../src/plugin/index.js";
import type { writeOptions } from "../index.js";
import { maxFields } from "../limits.js";
import { toTableName } from "./table-name.js";

export type WriteOptions = OptionValues<typeof writeOptions>;

/** The table of a layer. Derived from the layer alone, so that encoders and assembler agree on it. */
export interface TableDesign {
  readonly table: string;
  readonly fid: string;
  /** Null for an attributes table. */
  readonly geometry: {
    readonly column: string;
    /** The type of all geometries, GEOMETRY if they have several or there are none. */
    readonly type: string;
    readonly isEmpty: boolean;
  } | null;
  readonly fields: readonly Field[];
  readonly srsId: number;
  readonly crs: Crs | null;
  /** Min x, min y, max x, max y of all features, if known before writing. */
  readonly extent: Extent | null;
}

/** Appends a number until no field has the name, ignoring case. */
function uniqueName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? wanted : `${wanted}_${n}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}

/** The narrowest common geometry type (Annex E). */
function commonGeometryType(types: readonly GeometryType[]): string {
  return types.length === 1 ? types[0]!.toUpperCase() : "GEOMETRY";
}

/** @throws unsupported */
export function designTable(layer: TargetLayer, options: WriteOptions): TableDesign {
  const { summary, fields, crs } = layer;
  if (!summary || !fields)
    throw createError("internal", { reason: "writing a GeoPackage needs a summary of the layer" });
  if (fields.length > maxFields) {
    const reason = `${fields.length} fields exceed the limit of ${maxFields} per table; choose fields with --select`;
    throw createError("unsupported", { source: layer.name, reason });
  }
  const taken = new Set(fields.map((field) => field.name.toLowerCase()));
  const names = layer.columnNames ?? {};
  const fid = uniqueName(options.fid ?? names.id ?? "fid", taken);
  taken.add(fid.toLowerCase());
  const types = typesIn(summary);
  const isTable = types.length === 0 && (summary.kinds[Kind.none]!.count > 0 || crs === null);
  return {
    table: toTableName(layer.name),
    fid,
    geometry: isTable
      ? null
      : {
          column: uniqueName(options.geometry ?? names.geometry ?? "geom", taken),
          type: commonGeometryType(types),
          isEmpty: types.length === 0,
        },
    fields,
    srsId: chooseSrsId(crs, summary.extent),
    crs,
    extent: summary.extent,
  };
}

/** CRS without a known code get an srs_id derived from their definition, above the codes of EPSG and ESRI. */
const firstCustomSrsId = 900_000_000;

/** Without a CRS: -1 (undefined Cartesian) or 0 (undefined geographic). */
function chooseSrsId(crs: Crs | null, extent: readonly number[] | null): number {
  if (crs === null) {
    const [minX, minY, maxX, maxY] = extent ?? [0, 0, 0, 0];
    return minX! < -180 || minY! < -90 || maxX! > 180 || maxY! > 90 ? -1 : 0;
  }
  const [organization, code] = crsAuthority(crs);
  if (organization !== "NONE") return code;
  // Loaded lazily: rarely needed.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return firstCustomSrsId + (createHash("sha1").update(crs.definition).digest().readUInt32BE(0) % firstCustomSrsId);
}

/** Authority and code of a CRS, such as EPSG and 25832; NONE and 0 if it has none. */
export function crsAuthority(crs: Crs): readonly [organization: string, code: number] {
  // GeoPackage coordinates are x, y regardless of the axis order of the CRS (2.1.3.1.1), so the two are the same.
  if (crs.id === "OGC:CRS84") return ["EPSG", 4326];
  const found = /^(EPSG|ESRI|IGNF):(\d{1,9})$/.exec(crs.id ?? "");
  return found ? [found[1]!, Number(found[2])] : ["NONE", 0];
}
