/** Writes a dataset from the staged layers. Runs in the GDAL process. */
import type { Dataset, Layer } from "gdal-async";
import { quoteIdentifier as quotedName } from "../../shared/sql-identifiers.js";
import type { Gdal } from "../process/library.js";
import type { FieldPlan, GdalRequest, WrittenLayer, WrittenValues } from "../process/protocol.js";
import { readLayerDefinition } from "../read/layer-definition.js";
import { createFieldPlans, layerWkt, selectLayer } from "../read/layer-facts.js";
import { quoteOgrName } from "../read/ogr-sql.js";

type WriteRequest = GdalRequest & { readonly kind: "write" };

const isNumber = ({ ogrType }: FieldPlan): boolean => /^OFT(Integer|Integer64|Real)$/.test(ogrType);
const isText = ({ ogrType }: FieldPlan): boolean => ogrType === "OFTString";

type NumberRow = readonly (number | null)[];

/** The single row of a query; null if the query fails. */
function readRow(ask: () => Layer): NumberRow | null {
  try {
    return ask().features.first()?.fields.toArray() as NumberRow;
  } catch {
    return null;
  }
}

/** Whether OGR SQL has limited a sum of 32-bit integers to their range. */
const isSaturated = (sum: number | null | undefined): boolean => sum === 2 ** 31 - 1 || sum === -(2 ** 31);

const sumInSqlite = (dataset: Dataset, layer: Layer, { name }: FieldPlan): number | null => {
  const sql = `SELECT SUM(CAST(${quotedName(name)} AS REAL)) FROM ${quotedName(layer.name)}`;
  return readRow(() => selectLayer(dataset, sql, "SQLITE"))?.[0] ?? null;
};

/** Counts features and values, and sums numbers and text sizes by field. */
function readCounts(
  dataset: Dataset,
  layer: Layer,
  fields: readonly FieldPlan[],
): { readonly features: number; readonly fields: readonly WrittenValues[] } {
  const asked = fields.map(({ name }) => quoteOgrName(name));
  const sums = fields.flatMap((field, f) => (isNumber(field) ? [`SUM(${asked[f]})`] : []));
  const counts = asked.map((column) => `COUNT(${column})`);
  const sql = `SELECT ${["COUNT(*)", ...counts, ...sums].join(", ")} FROM ${quoteOgrName(layer.name)}`;
  const found = readRow(() => selectLayer(dataset, sql));
  const texts = fields.filter(isText);
  // OGR SQL has no LENGTH; the SQLite dialect treats NaN as null.
  const lengths = texts.map(({ name }) => `SUM(LENGTH(CAST(${quotedName(name)} AS BLOB)))`);
  const bytes =
    texts.length === 0
      ? []
      : readRow(() => selectLayer(dataset, `SELECT ${lengths.join(", ")} FROM ${quotedName(layer.name)}`, "SQLITE"));
  const read = [...(found ?? [])];
  fields.filter(isNumber).forEach((field, f) => {
    const at = 1 + fields.length + f;
    if (isSaturated(read[at])) read[at] = sumInSqlite(dataset, layer, field);
  });
  let [sumAt, textAt] = [1 + fields.length, 0];
  return {
    features: found?.[0] ?? layer.features.count(true),
    fields: fields.map((field, f) => ({
      count: found?.[1 + f] ?? null,
      sum: isNumber(field) ? (read[sumAt++] ?? null) : isText(field) ? (bytes?.[textAt++] ?? null) : null,
    })),
  };
}

function readExtent(layer: Layer): number[] | null {
  try {
    const { minX, minY, maxX, maxY } = layer.getExtent(true);
    return [minX, minY, maxX, maxY];
  } catch {
    return null;
  }
}

/** Reads the output back: drivers may accept data without keeping it. */
function inspectOutput(gdal: Gdal, dataset: Dataset): WrittenLayer[] {
  return dataset.layers.map((layer) => {
    const plans = createFieldPlans(layer, readLayerDefinition(gdal, dataset, layer.name));
    // Before the query, after which the layer ignores fields and geometries that were not selected.
    const extent = readExtent(layer);
    const { features, fields } = readCounts(dataset, layer, plans);
    return {
      name: layer.name,
      features,
      wkt: layerWkt(layer),
      isTable: layer.geomType === gdal.wkbNone,
      extent,
      fields: plans.map(({ name, type }, f) => ({ name, type, values: fields[f]! })),
    };
  });
}

/** @throws Error with GDAL's message */
export function translate(
  gdal: Gdal,
  { source, path, driver, args }: WriteRequest,
): { kind: "write"; layers: WrittenLayer[] | null } {
  const layers = gdal.drivers.get("OGR_VRT").open(source);
  gdal.vectorTranslate(path, layers, ["-f", driver, ...args]).close();
  layers.close();
  let written: Dataset;
  try {
    written = gdal.drivers.get(driver).open(path);
  } catch {
    return { kind: "write", layers: null };
  }
  const found = inspectOutput(gdal, written);
  written.close();
  return { kind: "write", layers: found };
}
