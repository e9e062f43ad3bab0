import type { ReadBack, TargetLayer } from "../../../src/plugin/format.js";
import { createLayout } from "../../shared/table/layout.js";
import type { WriteOptions } from "../options.js";

/** Cells have types. Tables without geometry are read without it, even if names of fields look like coordinates. */
export function readBack(layers: readonly TargetLayer[], options: WriteOptions): ReadBack {
  const isTable = layers.every((layer) => createLayout(layer, options).mode === "none");
  return {
    readerOptions: { header: "yes", ...(isTable ? { geometry: "none" } : {}) },
    decimals: { xy: options.precision ?? null, z: null },
    types: "value",
  };
}
