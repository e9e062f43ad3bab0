import type { Layer, Split } from "../../../src/model/layer.js";
import type { ReadContext, Source, SourceFile } from "../../../src/plugin/format.js";
import { fieldsOf, type TablePlan, type TableSplit } from "./plan/plan.js";
import { TableScan } from "./plan/table-scan.js";
import { BatchReader } from "./read/batch-reader.js";
import { splitRecordBlocks } from "./records/record-blocks.js";
import { type TextBlock, TextBlockReader } from "./records/text-blocks.js";

export interface TableSource {
  readonly source: Source;
  /** The source, opened. */
  readonly file: SourceFile;
  readonly plan: TablePlan;
  /** Size of splits in bytes. */
  readonly length: number;
}

/** The layer of a table that `makePlan` inspected. */
export function createTableLayer(name: string, table: TableSource, context: ReadContext): Layer {
  const { source, file, plan } = table;
  const blocks = new TextBlockReader(file, plan.encoding, context);
  async function* splits(): AsyncGenerator<TableSplit> {
    if (plan.splits) yield* plan.splits;
    else yield* splitUnscanned(blocks, table, context);
  }
  const read = ({ from, to }: TableSplit): Promise<TextBlock> => blocks.read(from, to - from);
  return {
    name,
    crs: plan.crs,
    fields: fieldsOf(plan),
    geometryTypes: plan.geometry.kind === "text" ? null : plan.geometry.kind === "none" ? [] : ["Point"],
    featureCount: plan.features,
    extent: null,
    likelyCoordinateFields: plan.candidates,
    bytes: source.size,
    splits,
    summary: async () => plan.summary,
    prefetch: (split: Split) => read(split as TableSplit),
    async *batches(split?: Split, fetched?: unknown) {
      const rows = new BatchReader(plan, source.name, context);
      for await (const current of split ? [split as TableSplit] : splits()) {
        const block = (fetched as TextBlock | undefined) ?? (await read(current));
        yield* rows.read(block, current);
        block.release();
      }
      rows.finish();
    },
  };
}

/** The splits of a file that was not scanned whole. @throws input-corrupt */
async function* splitUnscanned(
  blocks: TextBlockReader,
  { source, plan, length }: TableSource,
  context: ReadContext,
): AsyncGenerator<TableSplit> {
  const range = { from: plan.encoding.mark, to: source.size, size: source.size, length };
  // The types are not needed: a scan without columns finds record ends and damage.
  const scan = (isQuick: boolean) => {
    const survey = new TableScan(source.name, plan, 0, context.skipErrors, Number.POSITIVE_INFINITY);
    const visitor = isQuick ? survey.quickVisitor(plan.delimiter) : survey.visitor(plan.delimiter, false);
    return splitRecordBlocks(blocks, source.name, range, visitor);
  };
  try {
    yield* scan(true);
  } catch (error) {
    // The quick scan does not count lines, which the error names.
    for await (const _ of scan(false)) context.signal.throwIfAborted();
    throw error;
  }
}
