import { type Crs, type Extent, type Field, type GeometryType, Kind, typesIn } from "../../../src/model/index.js";
import { createError, type OptionValues, type TargetLayer } from "../../../src/plugin/index.js";
import type { writeOptions } from "../index.js";
import { maxFields } from "../limits.js";
import { toTableName } from "./table-name.js";

export type WriteOptions = OptionValues<typeof writeOptions>;

/** What a layer is as a table: made from the layer alone, so that encoders and assembler agree on it. */
export interface TableDesign {
  readonly table: string;
  readonly fid: string;
  /** Null for a table of attributes. */
  readonly geometry: { readonly column: string; readonly type: string } | null;
  readonly fields: readonly Field[];
  readonly srsId: number;
  readonly crs: Crs | null;
  /** Least x, least y, greatest x, greatest y of all features, where it is known beforehand. */
  readonly extent: Extent | null;
}

/** The name, or one with a number, that no field has in any case of its letters. */
function uniqueName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? wanted : `${wanted}_${n}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}

/** The narrowest type that holds them all (Annex E): types without an ancestor of their own meet in GEOMETRY. */
function commonGeometryType(types: readonly GeometryType[]): string {
  return types.length === 1 ? types[0]!.toUpperCase() : "GEOMETRY";
}

/** @throws unsupported */
export function designTable(layer: TargetLayer, options: WriteOptions): TableDesign {
  const { summary, fields, crs } = layer;
  if (!summary || !fields)
    throw createError("internal", { reason: "a GeoPackage cannot be laid out without a summary" });
  if (fields.length > maxFields) {
    const reason = `${fields.length} fields are more than the ${maxFields} that a table can have; choose some with --select`;
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
      : { column: uniqueName(options.geometry ?? names.geometry ?? "geom", taken), type: commonGeometryType(types) },
    fields,
    srsId: chooseSrsId(crs, summary.extent),
    crs,
    extent: summary.extent,
  };
}

/** Systems of no known code get an id from their definition, above those that EPSG and ESRI use. */
const firstCustomSrsId = 900_000_000;

/** -1 and 0 are for coordinates of no known system: of a plane, or of a globe. */
function chooseSrsId(crs: Crs | null, extent: readonly number[] | null): number {
  if (crs === null) {
    const [minX, minY, maxX, maxY] = extent ?? [0, 0, 0, 0];
    return minX! < -180 || minY! < -90 || maxX! > 180 || maxY! > 90 ? -1 : 0;
  }
  const [organization, code] = crsAuthority(crs);
  if (organization !== "NONE") return code;
  // Loaded here: hardly a system needs it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return firstCustomSrsId + (createHash("sha1").update(crs.definition).digest().readUInt32BE(0) % firstCustomSrsId);
}

/** Who gave a system its code: EPSG and 25832; NONE and 0 where no one did. */
export function crsAuthority(crs: Crs): readonly [organization: string, code: number] {
  // Longitude comes first in a GeoPackage whatever the definition says (2.1.3.1.1): the two are one.
  if (crs.id === "OGC:CRS84") return ["EPSG", 4326];
  const found = /^(EPSG|ESRI|IGNF):(\d{1,9})$/.exec(crs.id ?? "");
  return found ? [found[1]!, Number(found[2])] : ["NONE", 0];
}
