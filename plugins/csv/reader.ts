import { createError } from "../../src/errors.js";
import type { Dataset } from "../../src/model/layer.js";
import type { ReadContext, ReaderModule, Source } from "../../src/plugin/format.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { makePlan } from "../shared/table/plan/make-plan.js";
import type { TablePlan } from "../shared/table/plan/plan.js";
import { scanPart } from "../shared/table/plan/scan-file.js";
import { createTableLayer } from "../shared/table/table-layer.js";
import type { ReaderOptions } from "./options.js";

/** Opens a table. `length` is the size of splits in bytes, for tests. */
export async function open(
  source: Source,
  options: ReaderOptions,
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
      layers: [createTableLayer(layerName(source), { source, file, plan, length }, context)],
      scanResult: plan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export default { open, scanPart } satisfies ReaderModule<ReaderOptions>;

function layerName(source: Source): string {
  const base = source.name.split(/[/\\]/).at(-1)!;
  return base.replace(/\.[^.]*$/, "") || base;
}
