import type { ReadBack, TargetLayer } from "../../../src/plugin/format.js";

interface Options {
  readonly precision: number;
  readonly zPrecision: number;
  readonly ids: boolean;
  readonly idField?: string | undefined;
}

/** JSON has a type for each value. Ids that are those of a field are not the ones that were written. */
export const readBack = (_: readonly TargetLayer[], { precision, zPrecision, ids, idField }: Options): ReadBack => ({
  decimals: { xy: precision, z: zPrecision },
  types: "value",
  ...(ids && idField === undefined ? {} : { ids: false }),
});
