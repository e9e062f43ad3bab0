/** What a layer says of itself before its features are read, in the process of GDAL. */
import type { Dataset, Layer } from "gdal-async";
import type { FieldType } from "../../src/model/index.js";
import { columnTypesOf } from "./flatgeobuf.js";
import type { Gdal } from "./library.js";
import type { FieldPlan, LayerFacts } from "./protocol.js";

/** The types of OGR; lists become JSON. */
const types: Readonly<Record<string, FieldType>> = {
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
const names: Readonly<Record<string, string>> = {
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
const keepIds = new Set(["GeoJSON", "GeoJSONSeq", "TopoJSON", "ESRIJSON", "MVT", "MBTiles", "PMTiles", "JSONFG"]);

/**
 * gdal-async does not say which integers are booleans, nor which texts are JSON. The header of an empty FlatGeobuf that
 * GDAL makes of the layer does.
 */
function subtypesOf(gdal: Gdal, dataset: Dataset, layer: Layer): Map<string, FieldType> {
  const path = `/vsimem/geoferry-${process.pid}-fields.fgb`;
  const found = new Map<string, FieldType>();
  try {
    const args = ["-f", "FlatGeobuf", "-nlt", "NONE", "-limit", "0", layer.name];
    gdal.vectorTranslate(path, dataset, args).close();
    const header = gdal.vsimem.release(path);
    for (const { name, type } of columnTypesOf(header)) {
      if (type === "boolean" || type === "json") found.set(name, type);
    }
  } catch {
    // Without the driver, or for a layer that it does not take, booleans stay the integers that they are.
  }
  return found;
}

export function fieldPlans(gdal: Gdal, dataset: Dataset, layer: Layer): FieldPlan[] {
  const fields: FieldPlan[] = layer.fields.map(({ name, type, width, precision }) => {
    const ogrType = names[type] ?? type;
    return { name, ogrType, type: types[ogrType] ?? "text", width, decimals: precision };
  });
  const subtyped = (ogrType: string) => ogrType === "OFTInteger" || ogrType === "OFTString";
  if (!fields.some(({ ogrType }) => subtyped(ogrType))) return fields;
  const subtypes = subtypesOf(gdal, dataset, layer);
  return fields.map((field) =>
    subtyped(field.ogrType) ? { ...field, type: subtypes.get(field.name) ?? field.type } : field,
  );
}

/** @returns WKT 2 of a layer's reference system; empty where it has none */
export function wktOf(layer: Layer): string {
  try {
    return layer.srs?.toWKT() ?? "";
  } catch {
    return "";
  }
}

export function layerFacts(gdal: Gdal, dataset: Dataset, layer: Layer): LayerFacts {
  let featureCount = -1;
  try {
    featureCount = layer.features.count(false);
  } catch {
    // It would have to read all.
  }
  return {
    name: layer.name,
    wkt: wktOf(layer),
    fields: fieldPlans(gdal, dataset, layer),
    isTable: layer.geomType === gdal.wkbNone,
    featureCount: featureCount < 0 ? null : featureCount,
    keepsIds: layer.fidColumn !== "" || keepIds.has(dataset.driver?.description ?? ""),
  };
}
