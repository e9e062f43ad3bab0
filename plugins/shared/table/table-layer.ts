import type { Layer, Split } from "../../../src/model/layer.js";
import type { ReadContext, Source, SourceFile } from "../../../src/plugin/format.js";
import { BatchReader } from "./batch-reader.js";
import { fieldsOf, type TablePlan, type TableSplit } from "./plan/plan.js";
import { TableScan } from "./plan/table-scan.js";
import { splitRecordBlocks } from "./records/record-blocks.js";
import { RecordScanner } from "./records/record-scanner.js";
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
        yield* rows.read((fetched as TextBlock | undefined) ?? (await read(current)), current);
      }
      rows.finish();
    },
  };
}

/** The splits of a file that was not scanned whole. */
async function* splitUnscanned(
  blocks: TextBlockReader,
  { source, plan, length }: TableSource,
  context: ReadContext,
): AsyncGenerator<TableSplit> {
  // The types are not needed: a scan without columns finds record ends and damage.
  const survey = new TableScan(source.name, plan, 0, context.skipErrors, Number.POSITIVE_INFINITY);
  const range = { from: plan.encoding.mark, to: source.size, size: source.size, length };
  yield* splitRecordBlocks(blocks, source.name, range, survey.visitor(new RecordScanner(plan.delimiter), false));
}
