import { createError } from "../../src/errors.js";
import type { Dataset, Layer, Split } from "../../src/model/layer.js";
import type { ReadContext, ReaderModule, Source, SourceFile } from "../../src/plugin/format.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { BatchReader } from "./batch-reader.js";
import type { ReaderOptions } from "./options.js";
import { makePlan } from "./plan/make-plan.js";
import { type CsvPlan, type CsvSplit, fieldsOf } from "./plan/plan.js";
import { scanPart } from "./plan/scan-file.js";
import { TableScan } from "./plan/table-scan.js";
import { splitRecordBlocks } from "./records/record-blocks.js";
import { RecordScanner } from "./records/record-scanner.js";
import { type TextBlock, TextBlockReader } from "./records/text-blocks.js";

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
      (context.scanResult as CsvPlan | undefined) ?? (await makePlan(source, file, options, context, length));
    return {
      layers: [createLayer(source, file, plan, context, length)],
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

function createLayer(source: Source, file: SourceFile, plan: CsvPlan, context: ReadContext, length: number): Layer {
  const blocks = new TextBlockReader(file, plan.encoding, context);
  async function* splits(): AsyncGenerator<CsvSplit> {
    if (plan.splits) yield* plan.splits;
    else yield* splitUnscanned(blocks, source, plan, context, length);
  }
  const read = ({ from, to }: CsvSplit): Promise<TextBlock> => blocks.read(from, to - from);
  return {
    name: layerName(source),
    crs: plan.crs,
    fields: fieldsOf(plan),
    geometryTypes: plan.geometry.kind === "text" ? null : plan.geometry.kind === "none" ? [] : ["Point"],
    featureCount: plan.features,
    extent: null,
    likelyCoordinateFields: plan.candidates,
    bytes: source.size,
    splits,
    summary: async () => plan.summary,
    prefetch: (split: Split) => read(split as CsvSplit),
    async *batches(split?: Split, fetched?: unknown) {
      const rows = new BatchReader(plan, source.name, context);
      for await (const current of split ? [split as CsvSplit] : splits()) {
        yield* rows.read((fetched as TextBlock | undefined) ?? (await read(current)), current);
      }
      rows.finish();
    },
  };
}

/** The splits of a file that was not scanned whole. */
async function* splitUnscanned(
  blocks: TextBlockReader,
  source: Source,
  plan: CsvPlan,
  context: ReadContext,
  length: number,
): AsyncGenerator<CsvSplit> {
  // The types are not needed: a scan without columns finds record ends and damage.
  const survey = new TableScan(source.name, plan, 0, context.skipErrors, Number.POSITIVE_INFINITY);
  const range = { from: plan.encoding.mark, to: source.size, size: source.size, length };
  yield* splitRecordBlocks(blocks, source.name, range, survey.visitor(new RecordScanner(plan.delimiter), false));
}
