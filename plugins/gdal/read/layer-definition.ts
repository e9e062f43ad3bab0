/**
 * Reads field subtypes (boolean, JSON) and further geometry columns, which gdal-async does not expose, from the table
 * definitions of an empty SQL dump (driver PGDUMP).
 */
import type { Dataset } from "gdal-async";
import type { FieldType } from "../../../src/model/index.js";
import type { Gdal } from "../process/library.js";

export interface LayerDefinition {
  /** Geometry columns, in order; the dump generates a name for one without. */
  readonly geometryColumns: readonly string[];
  readonly subtypes: ReadonlyMap<string, FieldType>;
}

/** An unlikely name: the dump omits a field with the name of its key. */
const unusedKeyColumn = "geoferry_no_such_column";

const quotedPattern = (quote: string): string => `${quote}((?:[^${quote}]|${quote}${quote})*)${quote}`;
const literalPattern = quotedPattern("'");
const addColumnPattern = new RegExp(`ADD COLUMN ${quotedPattern('"')} (\\w+)`, "g");
const addGeometryColumnPattern = new RegExp(
  `AddGeometryColumn\\(${literalPattern},${literalPattern},${literalPattern}`,
  "g",
);

/** The capability of drivers that read the features of all layers in one pass (GDAL, `ODsCRandomLayerRead`). */
const interleavedReading = "RandomLayerRead";

const subtypeFieldTypes: Readonly<Record<string, FieldType>> = { boolean: "boolean", json: "json", jsonb: "json" };

export function readLayerDefinition(gdal: Gdal, dataset: Dataset, layer: string): LayerDefinition {
  const subtypes = new Map<string, FieldType>();
  const geometries: string[] = [];
  // Layers whose features are interleaved in the file (OpenStreetMap) give none after a dump of another reading.
  if (dataset.testCapability(interleavedReading)) return { geometryColumns: geometries, subtypes };
  try {
    const path = `/vsimem/geoferry-${process.pid}-definition.sql`;
    const options = ["LAUNDER=NO", "SPATIAL_INDEX=NONE", `FID=${unusedKeyColumn}`].flatMap((each) => ["-lco", each]);
    gdal.vectorTranslate(path, dataset, ["-f", "PGDump", "-limit", "0", ...options, layer]).close();
    const sql = gdal.vsimem.release(path).toString("utf8");
    for (const [, , , name] of sql.matchAll(addGeometryColumnPattern)) geometries.push(name!.replaceAll("''", "'"));
    for (const [, quoted, type] of sql.matchAll(addColumnPattern)) {
      const name = quoted!.replaceAll('""', '"');
      const subtype = subtypeFieldTypes[type!.toLowerCase()];
      if (subtype) subtypes.set(name, subtype);
      if (type!.toLowerCase() === "geometry") geometries.push(name);
    }
  } catch {
    // Without the driver, or if it fails, booleans are read as integers.
  }
  return { geometryColumns: geometries, subtypes };
}
