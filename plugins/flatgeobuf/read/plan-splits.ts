/** Divides the features of a file into splits. */
import type { Extent, Split, SplitFilter } from "../../../src/model/index.js";
import { createError, type ReadContext, type Source, type SourceFile } from "../../../src/plugin/index.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import { FlatDamage } from "../header/flat-reader.js";
import { entryBytes, entryOffsetAt } from "../index/levels.js";
import { RangeMerger } from "../index/merge-ranges.js";
import { searchTree } from "../index/search.js";
import type { FgbPlan, IndexPlan } from "./plan.js";

/** A part of the features: bytes to read, in ranges, and the records that they stand for. */
export interface FgbSplit extends Split {
  /** Each is where it begins and ends in the file, and the number of features of the split before it. */
  readonly ranges: readonly (readonly [from: number, to: number, record: number])[];
  /** Features between the start and the end of the split, also those that are not read; null if unknown. */
  readonly records: number | null;
}

/** A split with more bytes is divided, if it has more than one feature. */
const maxSplitBytes = 4 * defaultSplitBytes;
const walkBytes = 1 << 20;
const sizeBytes = 4;

/** A file that is open, and how it is read. */
export interface OpenFile {
  readonly source: Source;
  readonly file: SourceFile;
  readonly plan: FgbPlan;
  readonly context: ReadContext;
}

/** What dividing a file needs of it. */
export type DividedFile = Omit<OpenFile, "context"> & {
  readonly context: Pick<ReadContext, "signal" | "skipErrors" | "skipRange" | "reportNotice">;
};

/** @throws input-corrupt, input-truncated */
export async function* planSplits(open: DividedFile, filter: SplitFilter | undefined): AsyncGenerator<FgbSplit> {
  const { plan, source } = open;
  const { index } = plan;
  try {
    if (index && filter?.boxes) yield* searchSplits(open, index, filter.boxes);
    else if (index) yield* indexedSplits(open, index, 0, plan.featureCount);
    else yield* walkSplits(open);
  } catch (error) {
    if (!(error instanceof FlatDamage)) throw error;
    throw createError("input-corrupt", { source: source.name, place: {}, reason: error.message }, error);
  }
}

/** The position of a feature by its number; for that after the last one, the end of the file. */
async function featureAt({ file, plan }: DividedFile, { at, levels }: IndexPlan, feature: number): Promise<number> {
  if (feature === plan.featureCount) return file.size;
  const position = at + (levels[0]!.from + feature) * entryBytes + entryOffsetAt;
  const bytes = await file.read(position, 8);
  if (bytes.length < 8) throw new FlatDamage("the file ends within its index");
  const offset = Number(bytes.readBigUInt64LE());
  if (plan.featuresAt + offset > file.size || (feature === 0 && offset !== 0))
    throw new FlatDamage(`the index has feature ${feature + 1} at a place where it cannot be`);
  return plan.featuresAt + offset;
}

/** The features `first … end`, divided at places that the index knows. */
async function* indexedSplits(
  open: DividedFile,
  index: IndexPlan,
  first: number,
  end: number,
): AsyncGenerator<FgbSplit> {
  const { plan, file } = open;
  const each = (file.size - plan.featuresAt) / plan.featureCount;
  const step = Math.max(1, Math.round(defaultSplitBytes / Math.max(1, each)));
  let from = await featureAt(open, index, first);
  for (let feature = first; feature < end; feature += step) {
    const next = Math.min(end, feature + step);
    const to = await featureAt(open, index, next);
    yield* divide(open, index, feature, next, from, to);
    from = to;
  }
}

/** Divides a split that is too large. */
async function* divide(
  open: DividedFile,
  index: IndexPlan,
  first: number,
  end: number,
  from: number,
  to: number,
): AsyncGenerator<FgbSplit> {
  if (to <= from) throw new FlatDamage("the features in the index are not in the order of their places");
  if (to - from <= maxSplitBytes || end - first === 1) {
    yield { bytes: to - from, ranges: [[from, to, 0]], records: end - first };
    return;
  }
  const middle = (first + end) >>> 1;
  const at = await featureAt(open, index, middle);
  yield* divide(open, index, first, middle, from, at);
  yield* divide(open, index, middle, end, at, to);
}

/** The features that meet a box, with neighbors where reading them, too, costs little. */
async function* searchSplits(open: DividedFile, index: IndexPlan, boxes: readonly Extent[]): AsyncGenerator<FgbSplit> {
  const { plan, file } = open;
  const { featuresAt, featureCount } = plan;
  const merger = new RangeMerger(defaultSplitBytes);
  let ranges: [from: number, to: number, record: number][] = [];
  let size = 0;
  let start = 0;
  let startAt = featuresAt;
  /** The first feature of the range that is not finished. */
  let first = 0;
  let last = featuresAt;
  const add = ([from, to]: readonly [number, number]) => {
    ranges.push([from, to, first - start]);
    size += to - from;
  };
  for await (const hit of searchTree(file, index, boxes)) {
    const from = featuresAt + hit.from;
    const to = hit.to === null ? file.size : featuresAt + hit.to;
    if (from < last || to <= from || to > file.size)
      throw new FlatDamage(`the index has feature ${hit.feature + 1} at a place where it cannot be`);
    const finished = merger.add(from, to);
    if (finished) add(finished);
    if (finished || last === featuresAt) first = hit.feature;
    last = to;
    if (size < defaultSplitBytes) continue;
    yield { bytes: from - startAt, ranges, records: hit.feature - start };
    ranges = [];
    size = 0;
    start = hit.feature;
    startAt = from;
  }
  const rest = merger.finish();
  if (rest) add(rest);
  yield { bytes: file.size - startAt, ranges, records: featureCount - start };
}

/** The features of a file without an index, which are found one after the other by their sizes. */
async function* walkSplits({ source, file, plan, context }: DividedFile): AsyncGenerator<FgbSplit> {
  const { size } = file;
  let [from, at, records, total] = [plan.featuresAt, plan.featuresAt, 0, 0];
  let window: Buffer = Buffer.alloc(0);
  let windowAt = at;
  const split = (): FgbSplit => ({ bytes: at - from, ranges: [[from, at, 0]], records });
  while (at < size) {
    context.signal.throwIfAborted();
    if (at + sizeBytes > windowAt + window.length) {
      window = await file.read(at, walkBytes);
      windowAt = at;
    }
    const end = at + sizeBytes > size ? size + 1 : at + sizeBytes + window.readUInt32LE(at - windowAt);
    if (end > size) {
      if (records > 0) yield split();
      // The reader of this split reports that the file ends early.
      yield { bytes: size - at, ranges: [[at, size, 0]], records: null };
      return;
    }
    at = end;
    records++;
    total++;
    if (at - from < defaultSplitBytes) continue;
    yield split();
    from = at;
    records = 0;
  }
  if (records > 0) yield split();
  checkCount({ source, plan, context }, total);
}

/** @throws input-truncated if there are fewer features than the header declares */
function checkCount({ source, plan, context }: Pick<DividedFile, "source" | "plan" | "context">, found: number): void {
  const { featureCount } = plan;
  if (featureCount === 0 || found === featureCount) return;
  const counts = `its header declares ${featureCount} features, and there are ${found}`;
  if (found > featureCount) context.reportNotice("record-count-mismatch", undefined, counts);
  else if (context.skipErrors)
    context.skipRange({ source: source.name, place: { byte: source.size }, bytes: null, reason: counts });
  else
    throw createError("input-truncated", {
      source: source.name,
      place: { byte: source.size },
      reason: counts,
      canSkip: true,
    });
}
