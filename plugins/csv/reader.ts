/**
 * Reads tables. The path of a record: `TextBlockReader.read` (bytes of a split, as UTF-8) → `BatchReader.read` →
 * `RecordScanner.scan` (finds its cells) → `RowGeometryReader.read` and, for each attribute, `CellColumnBuilder.push` →
 * `Batch`. The plan, with the delimiter, the types of columns and the geometry, comes from `makePlan`, which scans the file; `chooseGeometry`
 * decides which columns are coordinates: those of options, of a `.csvt`, or of `detectGeometry`, by names and values.
 */

import { createError } from "../../src/errors.js";
import type { Dataset } from "../../src/model/layer.js";
import type { ReadContext, Source } from "../../src/plugin/format.js";
import { fileStem } from "../shared/file-stem.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { makePlan } from "../shared/table/plan/make-plan.js";
import type { TablePlan } from "../shared/table/plan/plan.js";
import { createTableLayer } from "../shared/table/table-layer.js";
import type { ReadOptions } from "./options.js";

export { scanPart } from "../shared/table/plan/scan-file.js";

/** Opens a table. `length` is the size of splits in bytes, for tests. */
export async function open(
  source: Source,
  options: ReadOptions,
  context: ReadContext,
  length = defaultSplitBytes,
): Promise<Dataset> {
  if (source.size === 0) throw createError("input-empty", { source: source.name });
  const file = await source.open();
  try {
    const plan =
      (context.scanResult as TablePlan | undefined) ??
      (await makePlan(source, file, { ...options, cells: "text" }, context, length));
    return {
      layers: [createTableLayer(fileStem(source.name), { source, file, plan, length }, context)],
      scanResult: plan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
