/** What a layer says of itself before its features are read, in the process of GDAL. */
import type { Dataset, Layer } from "gdal-async";
import type { FieldType } from "../../../src/model/index.js";
import type { Gdal } from "../process/library.js";
import type { FieldPlan, LayerInfo } from "../process/protocol.js";
import { hasSeveralSystems } from "./gml-systems.js";
import { type LayerDefinition, readLayerDefinition } from "./layer-definition.js";
import { quoteOgrName } from "./ogr-sql.js";

/** The types of OGR; lists become JSON. */
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

/** What gdal-async calls them. */
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

/** Drivers whose feature ids stand in the file, though they have no column for them. */
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

/** @returns WKT 2 of a layer's reference system; empty where it has none */
export function layerWkt(layer: Layer): string {
  try {
    return layer.srs?.toWKT() ?? "";
  } catch {
    return "";
  }
}

/** The layers of a dataset as they are read: one for each column with geometry. */
export interface ReadLayer {
  readonly facts: LayerInfo;
  /** Of the dataset. */
  readonly index: number;
  /** Null for the only one. */
  readonly geometryColumn: string | null;
  readonly isFirst: boolean;
}

/** The reference system of another column than the first. */
function columnWkt(dataset: Dataset, layer: Layer, column: string): string {
  return layerWkt(selectLayer(dataset, `SELECT ${quoteOgrName(column)} FROM ${quoteOgrName(layer.name)}`));
}

/**
 * Selections stay until their dataset goes: when GDAL lets one go, it sets the layer back to its first feature, whoever
 * is reading it.
 */
const selectionsByDataset = new WeakMap<Dataset, Layer[]>();

/**
 * By default in GDAL's own dialect, which every driver has. What it does not select the layer itself leaves out as well,
 * until the next selection. @throws Error
 */
export function selectLayer(dataset: Dataset, sql: string, dialect = "OGRSQL"): Layer {
  // Typed as without a dialect.
  const typed = dataset as Dataset & { executeSQL(sql: string, filter: null, dialect: string): Layer };
  const selection = typed.executeSQL(sql, null, dialect);
  const all = selectionsByDataset.get(dataset) ?? [];
  selectionsByDataset.set(dataset, all);
  all.push(selection);
  return selection;
}

/** GDAL gives all geometries of a GML's feature the system of one of them. */
function hasSingleCrsPerFeature(dataset: Dataset): boolean {
  return dataset.driver?.description !== "GML" || !hasSeveralSystems(dataset.description ?? "");
}

export function readLayers(gdal: Gdal, dataset: Dataset, layer: Layer, index: number): ReadLayer[] {
  const definition = readLayerDefinition(gdal, dataset, layer.name);
  const facts = readLayerInfo(gdal, dataset, layer, definition);
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

function readLayerInfo(gdal: Gdal, dataset: Dataset, layer: Layer, definition: LayerDefinition): LayerInfo {
  let featureCount = -1;
  try {
    featureCount = layer.features.count(false);
  } catch {
    // It would have to read all.
  }
  return {
    name: layer.name,
    wkt: layerWkt(layer),
    fields: createFieldPlans(layer, definition),
    isTable: layer.geomType === gdal.wkbNone,
    featureCount: featureCount < 0 ? null : featureCount,
    keepsIds: layer.fidColumn !== "" || idPreservingDrivers.has(dataset.driver?.description ?? ""),
  };
}
