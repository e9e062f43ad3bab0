/** `diff` for programs: changes as GeoJSON features. */
import type { FeatureChange, RowReference } from "../compare/changes/feature-change.js";
import { type ComparedLayer, type CompareReport, compare } from "../compare/compare.js";
import type { CompareRequest } from "../compare/request.js";
import { createError } from "../errors.js";
import type { Feature } from "../model/batch.js";
import type { Host } from "../pipeline/request.js";
import { markErrors } from "./callbacks.js";
import { checkOptions, describeValue } from "./check-options.js";
import { rewriteFlagsAsOptions, rewriteReport, withLibraryErrors } from "./rewrite-messages.js";

/** A feature of a difference, in the coordinates of the comparison (`DiffLayer.comparedCrs`). */
export interface DiffFeature extends Feature {
  /** Position in its layer, from 1. */
  readonly record: number;
}

/** A difference; `old` is null for an added feature, `new` for a removed one. */
export interface DiffChange extends Omit<FeatureChange, "old" | "new"> {
  readonly old: DiffFeature | null;
  readonly new: DiffFeature | null;
}

export type DiffLayer = Omit<ComparedLayer, "toDegrees">;

export interface DiffCall {
  /** Called with each difference, and awaited. */
  readonly onChange?: (change: DiffChange, layer: DiffLayer) => void | Promise<void>;
}

const ownOptions = ["old", "new", "oldOptions", "newOptions", "key", "match", "precision", "ignore"];

export function diffInputs(request: CompareRequest, call: DiffCall, host: Host): Promise<CompareReport> {
  const onChange = call.onChange && markErrors(call.onChange);
  return withLibraryErrors(async () => {
    checkOptions("diff", request, ownOptions);
    for (const side of ["old", "new"] as const) {
      const value: unknown = request[side];
      if (typeof value === "string") continue;
      throw createError("option-invalid", {
        option: side,
        value: describeValue(value),
        expected: "a path or an address",
      });
    }
    const report = await compare(
      request,
      { ...host, rewriteMessage: rewriteFlagsAsOptions },
      onChange ? { onChange: (change, layer) => onChange(toDiffChange(change), layer) } : {},
    );
    return rewriteReport(report);
  }, host.signal);
}

const toDiffChange = (change: FeatureChange): DiffChange => ({
  ...change,
  old: toDiffFeature(change.old),
  new: toDiffFeature(change.new),
});

const toDiffFeature = (row: RowReference | null): DiffFeature | null =>
  row && { ...row.batch.featureAt(row.row), record: row.record };
