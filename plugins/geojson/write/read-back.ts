import type { ReadBack, TargetLayer } from "../../../src/plugin/format.js";

interface Options {
  readonly precision: number;
  readonly zPrecision: number;
  readonly ids: boolean;
  readonly idField?: string | undefined;
}

/** JSON has a type for each value. Ids that a field became are read as that field again. */
export const readBack = (_: readonly TargetLayer[], { precision, zPrecision, ids, idField }: Options): ReadBack => ({
  decimals: { xy: precision, z: zPrecision },
  types: "value",
  ...(idField === undefined ? {} : { readerOptions: { fid: idField }, addedFields: [idField] }),
  ...(ids && idField === undefined ? {} : { ids: false }),
});
