/** Makes a dataset of the layers that were put down for it, in the process of GDAL. */
import type { Dataset } from "gdal-async";
import { fieldPlans, wktOf } from "./layer-facts.js";
import type { Gdal } from "./library.js";
import type { GdalRequest, WrittenLayer } from "./protocol.js";

type WriteRequest = GdalRequest & { readonly kind: "write" };

/** What the layers became, read back from the file: that a driver takes something does not mean that it keeps it. */
function lookAt(gdal: Gdal, dataset: Dataset): WrittenLayer[] {
  return dataset.layers.map((layer) => ({
    name: layer.name,
    features: layer.features.count(true),
    wkt: wktOf(layer),
    fields: fieldPlans(gdal, dataset, layer).map(({ name, type }) => ({ name, type })),
  }));
}

/** @throws Error with what GDAL says */
export function write(
  gdal: Gdal,
  { source, path, driver, args }: WriteRequest,
): { kind: "write"; layers: WrittenLayer[] } {
  const layers = gdal.drivers.get("OGR_VRT").open(source);
  gdal.vectorTranslate(path, layers, ["-f", driver, ...args]).close();
  layers.close();
  let written: Dataset;
  try {
    written = gdal.drivers.get(driver).open(path);
  } catch {
    // What it can only write cannot be looked at.
    return { kind: "write", layers: [] };
  }
  const found = lookAt(gdal, written);
  written.close();
  return { kind: "write", layers: found };
}
