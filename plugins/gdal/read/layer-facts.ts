/** Reads the properties of layers. Runs in the GDAL process. */
import type { Dataset, Layer } from "gdal-async";
import type { FieldType } from "../../../src/model/index.js";
import type { Gdal } from "../process/library.js";
import type { GdalLog } from "../process/log.js";
import type { FieldPlan, LayerInfo } from "../process/protocol.js";
import { hasSeveralSystems } from "./gml-systems.js";
import { type LayerDefinition, readLayerDefinition } from "./layer-definition.js";
import { quoteOgrName } from "./ogr-sql.js";

/** Field types by OGR type; lists become JSON. */
const fieldTypeByOgrType: Readonly<Record<string, FieldType>> = {
  OFTInteger: "int32",
  OFTInteger64: "int64",
  OFTReal: "double",
  OFTString: "text",
  OFTDate: "date",
  OFTTime: "time",
  OFTDateTime: "datetime",
  OFTBinary: "binary",
  OFTIntegerList: "json",
  OFTInteger64List: "json",
  OFTRealList: "json",
  OFTStringList: "json",
};

/** OGR types by gdal-async's name. */
const ogrTypeByName: Readonly<Record<string, string>> = {
  integer: "OFTInteger",
  "integer[]": "OFTIntegerList",
  integer64: "OFTInteger64",
  "integer64[]": "OFTInteger64List",
  real: "OFTReal",
  "real[]": "OFTRealList",
  string: "OFTString",
  "string[]": "OFTStringList",
  binary: "OFTBinary",
  date: "OFTDate",
  time: "OFTTime",
  dateTime: "OFTDateTime",
};

/** Drivers that store feature ids without an id column. */
const idPreservingDrivers = new Set([
  "GeoJSON",
  "GeoJSONSeq",
  "TopoJSON",
  "ESRIJSON",
  "MVT",
  "MBTiles",
  "PMTiles",
  "JSONFG",
]);

export function createFieldPlans(layer: Layer, { subtypes }: LayerDefinition): FieldPlan[] {
  const fields: FieldPlan[] = layer.fields.map(({ name, type, width, precision }) => {
    const ogrType = ogrTypeByName[type] ?? type;
    return { name, ogrType, type: fieldTypeByOgrType[ogrType] ?? "text", width, decimals: precision };
  });
  const subtyped = (ogrType: string) => ogrType === "OFTInteger" || ogrType === "OFTString";
  return fields.map((field) =>
    subtyped(field.ogrType) ? { ...field, type: subtypes.get(field.name) ?? field.type } : field,
  );
}

/** WKT 2 of a layer's CRS; empty if it has none. */
export function layerWkt(layer: Layer): string {
  try {
    return layer.srs?.toWKT() ?? "";
  } catch {
    return "";
  }
}

/** A layer to read: one per geometry column. */
export interface ReadLayer {
  readonly facts: LayerInfo;
  /** Index of the layer in the dataset. */
  readonly index: number;
  /** Null if it is the only one. */
  readonly geometryColumn: string | null;
  readonly isFirst: boolean;
}

/** WKT 2 of a geometry column other than the first. */
function columnWkt(dataset: Dataset, layer: Layer, column: string): string {
  return layerWkt(selectLayer(dataset, `SELECT ${quoteOgrName(column)} FROM ${quoteOgrName(layer.name)}`));
}

/**
 * Keeps selections alive as long as their dataset: when GDAL releases one, it rewinds the underlying layer, even if that
 * is being read.
 */
const selectionsByDataset = new WeakMap<Dataset, Layer[]>();

/**
 * Runs an SQL selection, by default in the OGR SQL dialect, which every driver supports. Fields that are not selected are
 * also ignored when reading the layer directly, until the next selection. @throws Error
 */
export function selectLayer(dataset: Dataset, sql: string, dialect = "OGRSQL"): Layer {
  // The type declaration lacks the dialect.
  const typed = dataset as Dataset & { executeSQL(sql: string, filter: null, dialect: string): Layer };
  const selection = typed.executeSQL(sql, null, dialect);
  const all = selectionsByDataset.get(dataset) ?? [];
  selectionsByDataset.set(dataset, all);
  all.push(selection);
  return selection;
}

/** In GML, GDAL assigns one CRS to all geometries of a feature. */
function hasSingleCrsPerFeature(dataset: Dataset): boolean {
  return dataset.driver?.description !== "GML" || !hasSeveralSystems(dataset.description ?? "");
}

/** The number of features; −1 if GDAL would have to read the whole layer to count. */
function quickCount(layer: Layer): number {
  try {
    return layer.features.count(false);
  } catch {
    return -1;
  }
}

export function readLayers(gdal: Gdal, log: GdalLog, dataset: Dataset, layer: Layer, index: number): ReadLayer[] {
  log.takeErrors();
  // GDAL opens the table here. If it cannot, the layer has no fields and no features.
  layer.fields.count();
  const featureCount = quickCount(layer);
  const [error = null] = log.takeErrors();
  const definition = readLayerDefinition(gdal, dataset, layer.name);
  // Errors of the dump are not those of the layer.
  log.takeErrors();
  const count = featureCount < 0 || error !== null ? null : featureCount;
  const facts = { ...readLayerInfo(gdal, dataset, layer, definition), featureCount: count, error };
  const { geometryColumns } = definition;
  if (geometryColumns.length < 2) return [{ facts, index, geometryColumn: null, isFirst: true }];
  const isSure = hasSingleCrsPerFeature(dataset);
  return geometryColumns.map((geometryColumn, n) => {
    const isFirst = n === 0;
    const name = isFirst ? facts.name : `${facts.name} (${geometryColumn})`;
    const wkt = !isSure ? "" : isFirst ? facts.wkt : columnWkt(dataset, layer, geometryColumn);
    return { facts: { ...facts, name, wkt, isTable: false }, index, geometryColumn, isFirst };
  });
}

function readLayerInfo(
  gdal: Gdal,
  dataset: Dataset,
  layer: Layer,
  definition: LayerDefinition,
): Omit<LayerInfo, "featureCount" | "error"> {
  return {
    name: layer.name,
    wkt: layerWkt(layer),
    fields: createFieldPlans(layer, definition),
    isTable: layer.geomType === gdal.wkbNone,
    keepsIds: layer.fidColumn !== "" || idPreservingDrivers.has(dataset.driver?.description ?? ""),
  };
}
