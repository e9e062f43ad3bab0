import {
  Batch,
  type Column,
  type Dataset,
  GeometryBuilder,
  type GeometryColumn,
  type Layer,
  type Split,
  type SplitFilter,
} from "../../src/model/index.js";
import {
  createError,
  type OptionValues,
  type ReadContext,
  type Source,
  type SourceFile,
} from "../../src/plugin/index.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import { rejectUnreadableGeometries } from "../shared/unreadable-geometries.js";
import type { readOptions } from "./index.js";
import { LeafReader } from "./parquet/leaf-reader.js";
import type { Leaf } from "./parquet/schema.js";
import { FieldColumns } from "./read/field-columns.js";
import { readFooter } from "./read/footer.js";
import { GeometryColumns, type UnreadableRows } from "./read/geometry-columns.js";
import { toInputError } from "./read/input-error.js";
import { makePlan } from "./read/make-plan.js";
import { NestedColumns } from "./read/nested-columns.js";
import { type GroupPlan, nativeEncodings, type ParquetPlan } from "./read/plan.js";
import { mayContain } from "./read/split-filter.js";

export type ReadOptions = OptionValues<typeof readOptions>;

/** Rows `from … to` of a row group; `isSkipped` if none of them is wanted. */
interface RowSplit extends Split {
  readonly group: number;
  readonly from: number;
  readonly to: number;
  readonly isSkipped: boolean;
}

const maxBatchRows = 1024;
const minBatchRows = 16;
/** Compressed bytes of a batch. */
const batchBytes = 1 << 18;
/** A row group with more of either is read in several splits. */
const maxSplitRows = 1 << 17;
const maxSplitBytes = 4 * defaultSplitBytes;

/** @throws input-corrupt, input-truncated, unsupported, option-invalid */
export async function open(source: Source, options: ReadOptions, context: ReadContext): Promise<Dataset> {
  if (source.size === 0) throw createError("input-empty", { source: source.name });
  const file = await source.open();
  try {
    const plan =
      (context.scanResult as ParquetPlan | undefined) ??
      (await makePlan(source, await readFooter(source, file, context), options, context));
    return {
      layers: [createLayer(source, file, plan, context)],
      scanResult: plan,
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw toInputError(error, source, { byte: source.size }, context);
  }
}

function createLayer(source: Source, file: SourceFile, plan: ParquetPlan, context: ReadContext): Layer {
  const { geometry, groups } = plan;
  const reader = new GroupReader(source, file, plan, context);
  const splits = (filter?: SplitFilter) => planSplits(source, file, plan, context, filter);
  return {
    name: plan.name,
    crs: plan.crs,
    fields: plan.fields.map(({ field }) => field),
    geometryTypes: geometry === null ? [] : geometry.encoding === "wkb" ? null : [nativeEncodings[geometry.encoding]],
    featureCount: plan.rows,
    extent: null,
    ...(geometry && { columnNames: { geometry: geometry.name } }),
    bytes: groups.reduce((sum, { bytes }) => sum + bytes, 0),
    splits,
    async *batches(split?: Split) {
      if (split) {
        yield* reader.read(split as RowSplit, 1);
        return;
      }
      let firstRecord = 1;
      for await (const each of splits()) {
        yield* reader.read(each, firstRecord);
        firstRecord += each.to - each.from;
      }
    },
  };
}

async function* planSplits(
  source: Source,
  file: SourceFile,
  plan: ParquetPlan,
  context: ReadContext,
  filter: SplitFilter | undefined,
): AsyncGenerator<RowSplit> {
  for (const [index, group] of plan.groups.entries()) {
    if (group.rows === 0) continue;
    if (filter && !mayContain(plan, group, filter)) {
      yield { bytes: group.bytes, group: index, from: 0, to: group.rows, isSkipped: true };
      continue;
    }
    const step = await splitRows(source, file, plan, group, context);
    for (let from = 0; from < group.rows; from += step) {
      const to = Math.min(group.rows, from + step);
      yield { bytes: (group.bytes * (to - from)) / group.rows, group: index, from, to, isSkipped: false };
    }
  }
}

/** The rows of a split: as few as fit the limits, but not fewer than the pages have, which are decompressed as a whole. */
async function splitRows(
  source: Source,
  file: SourceFile,
  plan: ParquetPlan,
  group: GroupPlan,
  context: ReadContext,
): Promise<number> {
  const parts = Math.ceil(Math.max(group.rows / maxSplitRows, group.bytes / maxSplitBytes));
  if (parts <= 1) return group.rows;
  const wanted = Math.ceil(group.rows / parts / maxBatchRows) * maxBatchRows;
  const leaves = [...(plan.geometry?.leaves ?? []), ...plan.fields.flatMap((field) => field.leaves)];
  // To find a row among lists, all pages before it must be decoded.
  if (leaves.some(({ maxRepetition }) => maxRepetition > 0)) return group.rows;
  const sizeOf = ({ column }: Leaf) => group.chunks[column]!.to - group.chunks[column]!.from;
  const largest = leaves.reduce((most, leaf) => (sizeOf(leaf) > sizeOf(most) ? leaf : most), leaves[0]!);
  try {
    const rows = await new LeafReader(file, largest, group.chunks[largest.column]!).firstPageRows();
    return Math.min(group.rows, Math.max(wanted, rows));
  } catch (error) {
    throw toInputError(error, source, {}, context);
  }
}

/** Reads the rows of a split into batches. */
class GroupReader {
  private readonly geometry: GeometryColumns | null;
  private readonly fields: readonly (FieldColumns | NestedColumns)[];

  constructor(
    private readonly source: Source,
    private readonly file: SourceFile,
    private readonly plan: ParquetPlan,
    private readonly context: ReadContext,
  ) {
    this.geometry = plan.geometry && new GeometryColumns(plan.geometry, context);
    this.fields = plan.fields.map((field) =>
      field.decoding
        ? new FieldColumns(field.field.name, field.leaves[0]!, field.field.type, field.decoding, context)
        : new NestedColumns(field, context),
    );
  }

  /** @param firstRecord the record number of the first row */
  async *read(split: RowSplit, firstRecord: number): AsyncGenerator<Batch> {
    const rows = split.to - split.from;
    let done = 0;
    try {
      if (split.isSkipped) return;
      for await (const batch of this.batches(split, firstRecord)) {
        done += batch.length;
        yield batch;
      }
    } catch (error) {
      const place = { record: firstRecord + done };
      const found = toInputError(error, this.source, place, this.context);
      if (!this.context.skipErrors || found === error) throw found;
      const reason = `${(error as Error).message}; the rest of the row group was left out`;
      this.context.skipRange({ source: this.source.name, place, bytes: null, reason });
    } finally {
      this.context.splitFinished(rows, 0);
    }
  }

  private async *batches(split: RowSplit, firstRecord: number): AsyncGenerator<Batch> {
    const { plan, file, context } = this;
    const group = plan.groups[split.group]!;
    const createReader = (leaf: Leaf) => {
      const place = group.chunks[leaf.column]!;
      if (leaf.maxRepetition === 0 && place.count !== group.rows)
        throw new Error(`the column ${leaf.path.join(".")} has another number of values than its row group`);
      return new LeafReader(file, leaf, place);
    };
    const geometry = plan.geometry?.leaves.map(createReader) ?? [];
    const fields = plan.fields.map(({ leaves }) => leaves.map(createReader));
    if (split.from > 0) for (const leaf of [...geometry, ...fields.flat()]) await leaf.skip(split.from);
    const size = batchRows(group);
    for (let from = split.from; from < split.to; from += size) {
      context.signal.throwIfAborted();
      const rows = Math.min(size, split.to - from);
      const unreadable: UnreadableRows = [];
      const columns: Column[] = [];
      for (const [f, readers] of fields.entries()) {
        const leaves = [];
        for (const reader of readers) leaves.push(await reader.take(rows));
        const decoder = this.fields[f]!;
        columns.push(decoder instanceof FieldColumns ? decoder.column(leaves[0]!) : decoder.column(rows, leaves));
      }
      const positions = [];
      for (const reader of geometry) positions.push(await reader.take(rows));
      const batch = new Batch({
        length: rows,
        ids: null,
        fields: plan.fields.map(({ field }) => field),
        columns,
        geometry: this.geometry ? this.geometry.column(positions, unreadable) : nullGeometries(rows),
        recordNumbers: null,
        firstRecord: firstRecord + from - split.from,
      });
      yield rejectUnreadableGeometries(batch, unreadable, context);
    }
  }
}

function batchRows({ rows, bytes }: GroupPlan): number {
  const wanted = Math.floor(batchBytes / (bytes / rows));
  return Math.max(minBatchRows, Math.min(maxBatchRows, wanted));
}

function nullGeometries(rows: number): GeometryColumn {
  const builder = new GeometryBuilder();
  for (let row = 0; row < rows; row++) builder.addNull();
  return builder.finish();
}
