import { fault } from "../../src/errors.js";
import type { Dataset, Layer, Split } from "../../src/model/layer.js";
import type { ReadContext, ReaderModule, Source, SourceFile } from "../../src/plugin/format.js";
import { splitBytes } from "../shared/split-size.js";
import { makePlan } from "./make-plan.js";
import type { ReaderOptions } from "./options.js";
import { type CsvPlan, type CsvSplit, fieldsOf } from "./plan.js";
import { Rows } from "./rows.js";
import { Scanner } from "./scanner.js";
import { stretches } from "./stretches.js";
import { Survey } from "./survey.js";
import { prescan } from "./survey-pieces.js";
import { type TextBlock, TextBlocks } from "./text-blocks.js";

/** `length` is the size of splits in bytes, for tests. */
export async function open(
  source: Source,
  options: ReaderOptions,
  context: ReadContext,
  length = splitBytes,
): Promise<Dataset> {
  if (source.size === 0) throw fault("input-empty", { source: source.name });
  const file = await source.open();
  try {
    const plan = (context.blueprint as CsvPlan | undefined) ?? (await makePlan(source, file, options, context, length));
    return {
      layers: [layerOf(source, file, plan, context, length)],
      blueprint: plan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export default { open, prescan } satisfies ReaderModule<ReaderOptions>;

function layerName(source: Source): string {
  const base = source.name.split(/[/\\]/).at(-1)!;
  return base.replace(/\.[^.]*$/, "") || base;
}

function layerOf(source: Source, file: SourceFile, plan: CsvPlan, context: ReadContext, length: number): Layer {
  const blocks = new TextBlocks(file, plan.encoding, context);
  async function* splits(): AsyncGenerator<CsvSplit> {
    if (plan.splits) yield* plan.splits;
    else yield* cut(blocks, source, plan, context, length);
  }
  const read = ({ from, to }: CsvSplit): Promise<TextBlock> => blocks.read(from, to - from);
  return {
    name: layerName(source),
    crs: plan.crs,
    fields: fieldsOf(plan),
    geometryTypes: plan.geometry.kind === "text" ? null : plan.geometry.kind === "none" ? [] : ["Point"],
    featureCount: plan.features,
    extent: null,
    likelyCoordinates: plan.candidates,
    bytes: source.size,
    splits,
    summary: async () => plan.summary,
    fetch: (split: Split) => read(split as CsvSplit),
    async *batches(split?: Split, fetched?: unknown) {
      const rows = new Rows(plan, source.name, context);
      for await (const piece of split ? [split as CsvSplit] : splits()) {
        yield* rows.read((fetched as TextBlock | undefined) ?? (await read(piece)), piece);
      }
      rows.finish();
    },
  };
}

/** The splits of a file that was not scanned whole. */
async function* cut(
  blocks: TextBlocks,
  source: Source,
  plan: CsvPlan,
  context: ReadContext,
  length: number,
): AsyncGenerator<CsvSplit> {
  // Nobody looks at the types: a survey of no columns finds the ends of records and what is damaged.
  const survey = new Survey(source.name, plan, 0, context.skipErrors, Number.POSITIVE_INFINITY);
  const range = { from: plan.encoding.mark, to: source.size, size: source.size, length };
  yield* stretches(blocks, source.name, range, survey.visitor(new Scanner(plan.delimiter), false));
}
