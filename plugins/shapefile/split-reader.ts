import {
  acquireBuffer,
  Batch,
  type Column,
  type Field,
  GeometryBuilder,
  NumberBuilder,
  releaseBuffer,
} from "../../src/model/index.js";
import {
  createError,
  type OptionValues,
  type Place,
  type ReadContext,
  type SourceFile,
} from "../../src/plugin/index.js";
import type { CellDecoder } from "./dbf/cell-decoder.js";
import type { TableField } from "./dbf/fields.js";
import type { MemoFile } from "./dbf/memo-file.js";
import type { TableInfo } from "./dbf/table.js";
import type { readOptions } from "./index.js";
import { readContents, type ShapeContents } from "./shp/contents.js";
import { decodeShapes, type ShapeIssues } from "./shp/decode.js";
import type { ShapeSplit } from "./shp/splits.js";

export interface LayerReadContext {
  readonly shp: SourceFile | null;
  readonly shx: SourceFile | null;
  readonly dbf: SourceFile | null;
  readonly shpName: string;
  readonly dbfName: string;
  readonly memo: MemoFile | null;
  /** Whether the .shp is shorter than the length in its header. */
  readonly shpTruncated: boolean;
  /** The shape type in the header of the .shp. */
  readonly shapeType: number;
  readonly table: TableInfo | null;
  readonly decoder: CellDecoder | null;
  readonly options: OptionValues<typeof readOptions>;
  readonly context: ReadContext;
}

/** A batch ends at this many rows or this many bytes of shapes (about 64k positions). */
const maxBatchRows = 1000;
const maxBatchBytes = 1024 * 1024;

const deletedMark = 0x2a;
const presentMark = 0x20;

const shapeNoticeMessages: Readonly<Record<string, string>> = {
  "empty-shape": "a shape without positions became a null geometry",
  "non-finite-coordinates": "a point with NaN or infinite coordinates became a null geometry",
  multipatch: "a MultiPatch became polygons",
  "ring-direction": "an outer ring runs counter-clockwise",
  "ring-closed": "a ring was not closed",
  "ring-split": "a ring that touches itself at a vertex was split into one ring per loop",
  "shape-box": "positions lie outside the bounding box of their record and may be damaged",
  "extra-shapes": "a record is longer than its shape; the rest was ignored",
  "shape-type": "a shape has another type than the header of the .shp; the type of the record was used",
  "points-outside-parts": "points before the first part of a shape were skipped",
};

/** The bytes of a split. */
export interface SplitBytes {
  readonly contents: ShapeContents;
  /** The rows of the table. */
  readonly table: Buffer;
}

/** Number of table rows of a split; further rows are shapes beyond the end of the table. */
function countTableRows({ table }: LayerReadContext, split: ShapeSplit): number {
  if (!table) return 0;
  const rows = Math.min(table.declaredRows, table.availableRows);
  return Math.max(0, Math.min(split.count, rows - split.first));
}

export async function readSplitBytes(settings: LayerReadContext, split: ShapeSplit): Promise<SplitBytes> {
  const [contents, table] = await Promise.all([
    readContents(split, settings.shp!, settings.shx),
    readRows(settings, split, countTableRows(settings, split)),
  ]);
  return { contents, table };
}

async function readRows({ table, dbf }: LayerReadContext, split: ShapeSplit, rows: number): Promise<Buffer> {
  if (!table) return Buffer.alloc(0);
  const { headerBytes, recordBytes } = table.header;
  return dbf!.read(headerBytes + split.first * recordBytes, rows * recordBytes, acquireBuffer(rows * recordBytes));
}

/** Reads a split in batches. `before` is added to record numbers. */
export async function* readSplit(
  facts: LayerReadContext,
  split: ShapeSplit,
  before: number,
  fetched?: SplitBytes,
): AsyncGenerator<Batch> {
  const reader = new SplitReader(facts, split, before, fetched ?? (await readSplitBytes(facts, split)));
  yield* reader.batches();
}

/** Why a row is rejected. */
interface RowDamage {
  readonly code: "input-truncated" | "input-corrupt";
  readonly reason: string;
  readonly source: string;
  readonly byte?: number;
}

class SplitReader {
  private readonly contents: ShapeContents;
  private readonly table: Buffer;
  private readonly tableRows: number;

  constructor(
    private readonly facts: LayerReadContext,
    private readonly split: ShapeSplit,
    private readonly before: number,
    { contents, table }: SplitBytes,
  ) {
    this.contents = contents;
    this.table = table;
    this.tableRows = countTableRows(facts, split);
  }

  private record(row: number): number {
    return this.before + row + 1;
  }

  async *batches(): AsyncGenerator<Batch> {
    const { facts, split } = this;
    if (split.count === 0) this.reportTruncation();
    for (let from = 0; from < split.count; ) {
      const to = this.batchEnd(from);
      const batch = await this.batch(from, to);
      if (batch.length > 0) yield batch;
      from = to;
    }
    releaseBuffer(this.contents.bytes.buffer);
    releaseBuffer(this.table.buffer);
    this.reportMissingRows();
    this.checkRecordNumbers();
    facts.context.splitFinished(split.count, 0);
  }

  /** Reports a truncated file, when the pipeline reads the empty split at its end. */
  private reportTruncation(): void {
    const { facts, split } = this;
    const { table, context } = facts;
    if (split.lost === "dbf" && table) {
      const reason = `the header counts ${table.declaredRows} rows, but the file has ${table.availableRows}`;
      const place = { record: this.record(0), byte: facts.dbf!.size };
      if (!context.skipErrors)
        throw createError("input-truncated", { source: facts.dbfName, place, reason, canSkip: true });
      context.skipRange({ source: facts.dbfName, place, bytes: null, reason: `the file ends early: ${reason}` });
    } else if (split.lost === "shp") {
      const isIndexed = split.from > 0;
      const reason = isIndexed
        ? `the .shx has record ${split.first + 1} here and perhaps others after it, but the .shp ends at byte ${facts.shp!.size}`
        : facts.shpTruncated
          ? "according to its header, more records follow"
          : "no records were found from here on";
      const place = isIndexed ? { byte: split.from } : { record: this.record(0), byte: facts.shp!.size };
      if (!context.skipErrors)
        throw createError("input-truncated", { source: facts.shpName, place, reason, canSkip: true });
      context.skipRange({ source: facts.shpName, place, bytes: null, reason: `the file ends early: ${reason}` });
    }
  }

  private reportMissingRows(): void {
    const { facts, split } = this;
    const { context, table } = facts;
    const without = split.count - this.tableRows;
    const cut = table !== null && table.declaredRows > table.availableRows;
    if (table && without > 0 && !cut) {
      const rows = `the .dbf has ${table.declaredRows} rows, the .shp has more; attributes of the other shapes are null`;
      context.reportNotice("shapes-without-row", undefined, rows, without);
    }
    if (split.kind === "rows" && facts.shp && split.lost === null && split.count > 0) {
      const rows = `the .shp has ${split.first} records, the .dbf has more rows; the other rows have no geometry`;
      context.reportNotice("rows-without-shape", undefined, rows, split.count);
    }
  }

  /**
   * Record numbers must ascend from 1. A number that does not indicates repeated, lost or exchanged records, so that shapes
   * may get attributes of others. Files in which all numbers are equal are accepted.
   */
  private checkRecordNumbers(): void {
    const { context } = this.facts;
    const { numbers, lengthsDiffer } = this.contents;
    if (lengthsDiffer) {
      const example = "record lengths in the .shp differ from those in the .shx, which were used";
      context.reportNotice("record-length-mismatch", undefined, example);
    }
    let last = 0;
    let least = Number.POSITIVE_INFINITY;
    let greatest = 0;
    let steps = 0;
    let first = "";
    for (let row = 0; row < numbers.length; row++) {
      const number = numbers[row]!;
      if (number <= 0) continue;
      if (number <= last && steps++ === 0) first = `record ${this.split.first + row + 1} has the number ${number}`;
      least = Math.min(least, number);
      greatest = Math.max(greatest, number);
      last = number;
    }
    if (steps === 0 || least === greatest) return;
    const example = `${first}, which is not greater than the one before: shapes may have the attributes of others`;
    context.reportNotice("record-order", undefined, example, steps);
  }

  private batchEnd(from: number): number {
    const { starts, ends } = this.contents;
    let bytes = 0;
    let to = from;
    while (to < starts.length && to - from < maxBatchRows) {
      const size = starts[to]! < 0 ? 0 : ends[to]! - starts[to]!;
      if (to > from && bytes + size > maxBatchBytes) break;
      bytes += size;
      to++;
    }
    return to;
  }

  /** Rows `from … to` that are not deleted. */
  private keptRows(from: number, to: number): Uint32Array {
    const { table, options } = this.facts;
    const rows = new Uint32Array(to - from);
    let kept = 0;
    const size = table?.header.recordBytes ?? 0;
    const { tableRows } = this;
    let odd = 0;
    for (let row = from; row < to; row++) {
      const mark = row < tableRows ? this.table[row * size] : presentMark;
      const deleted = mark === deletedMark && !options.deleted;
      if (!deleted) rows[kept++] = row;
      if (mark !== presentMark && mark !== deletedMark) odd++;
    }
    if (odd > 0) {
      const example = "a row starts with neither a space nor an asterisk (deleted): its values may be damaged";
      this.facts.context.reportNotice("record-flag-invalid", undefined, example, odd);
    }
    if (kept === rows.length) return rows;
    const example = "records marked as deleted were skipped; read them with --in deleted=yes";
    this.facts.context.reportNotice("records-deleted", undefined, example, rows.length - kept);
    return rows.slice(0, kept);
  }

  private async batch(from: number, to: number): Promise<Batch> {
    const rows = this.keptRows(from, to);
    const { contents } = this;
    const starts = new Int32Array(rows.length);
    const ends = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      starts[i] = contents.starts[rows[i]!]!;
      ends[i] = contents.ends[rows[i]!]!;
    }
    const troubles: ShapeIssues = { notices: new Map(), damaged: new Map() };
    const geometry =
      this.split.kind === "rows"
        ? nullGeometries(rows.length)
        : decodeShapes({ bytes: contents.bytes, starts, ends }, troubles, this.facts.shapeType);
    const { fields, columns } = await this.columns(rows);
    for (const [code, count] of troubles.notices) {
      this.facts.context.reportNotice(code, undefined, shapeNoticeMessages[code]!, count);
    }
    const whole = rows.length === to - from;
    const batch = new Batch({
      length: rows.length,
      ids: null,
      fields,
      columns,
      geometry,
      recordNumbers: whole ? null : rows.map((row) => this.record(row)),
      firstRecord: this.record(from),
    });
    return this.rejectDamaged(batch, rows, troubles);
  }

  private async columns(rows: Uint32Array): Promise<{ fields: Field[]; columns: Column[] }> {
    const { table, decoder, options, memo, context } = this.facts;
    const fields: Field[] = [];
    const columns: Column[] = [];
    if (table && decoder) {
      const { tableRows } = this;
      const starts = new Int32Array(rows.length).fill(-1);
      for (let i = 0; i < rows.length; i++) {
        if (rows[i]! < tableRows) starts[i] = rows[i]! * table.header.recordBytes;
      }
      for (const field of table.fields) {
        const memos = field.cell === "memo" || field.cell === "object" ? await this.memos(field, starts, memo) : null;
        fields.push(field.field);
        columns.push(decoder.column(field, { bytes: this.table, starts }, (start) => memos?.get(start) ?? null));
        for (const { code, example, count } of decoder.takeIssues()) {
          context.reportLoss(code, field.field.name, example, count);
        }
      }
    }
    if (options.fid !== undefined) {
      const numbers = new NumberBuilder("int32");
      for (const row of rows) numbers.push(this.split.first + row);
      fields.push({ name: options.fid, type: "int32" });
      columns.push(numbers.finish());
    }
    return { fields, columns };
  }

  private async memos(field: TableField, starts: Int32Array, memo: MemoFile | null): Promise<Map<number, Uint8Array>> {
    const found = memo ? await memo.fetch(field, this.table, starts) : new Map<number, Uint8Array>();
    let missing = 0;
    for (const start of starts) {
      if (start < 0 || found.has(start)) continue;
      const at = start + field.column.offset;
      const cell = this.table.subarray(at, at + field.column.width);
      if (cell.some((byte) => byte !== 0 && byte !== 32 && byte !== 48)) missing++;
    }
    if (missing > 0) {
      const reason = memo ? "points outside the memo file" : "is in a .dbt or .fpt that is missing";
      this.facts.context.reportLoss("memo-missing", field.field.name, `the value ${reason} and became null`, missing);
    }
    return found;
  }

  /** Why a row is rejected; undefined if it is valid. */
  private damageOf(row: number, shape: string | undefined): RowDamage | undefined {
    const { facts, split, contents } = this;
    const { table } = facts;
    const byte = contents.offsets[row]!;
    if (split.lost === "shp") {
      const reason = "the shapes of the rows from here on are missing";
      return { code: "input-truncated", reason, source: facts.shpName, byte: facts.shp!.size };
    }
    if (contents.beyond.has(row) && (facts.shpTruncated || shape !== undefined || contents.starts[row]! < 0)) {
      const reason = `its shape at byte ${byte} is beyond the end of the file at byte ${facts.shp!.size}`;
      return { code: "input-truncated", reason, source: facts.shpName, byte };
    }
    if (shape !== undefined) return { code: "input-corrupt", reason: shape, source: facts.shpName, byte };
    if (table && row >= this.tableRows && table.declaredRows > table.availableRows) {
      const reason = `its attributes are missing; the header counts ${table.declaredRows} rows`;
      return { code: "input-truncated", reason, source: facts.dbfName, byte: facts.dbf!.size };
    }
    return undefined;
  }

  /**
   * Rejects rows that are damaged themselves. A truncated file is an error, unless `skipErrors` is set.
   */
  private rejectDamaged(batch: Batch, rows: Uint32Array, troubles: ShapeIssues): Batch {
    const { facts, split, contents } = this;
    const cutTable = facts.table !== null && facts.table.declaredRows > facts.table.availableRows;
    if (troubles.damaged.size === 0 && contents.beyond.size === 0 && split.lost === null && !cutTable) return batch;
    const { keepsBadGeometries } = facts.context;
    const good: number[] = [];
    for (let i = 0; i < rows.length; i++) {
      const damage = this.damageOf(rows[i]!, troubles.damaged.get(i));
      // With a null geometry, the row is valid.
      const isKept = keepsBadGeometries && damage?.source === facts.shpName;
      if (!damage || isKept) good.push(i);
      if (damage) {
        const place: Place = {
          record: this.record(rows[i]!),
          ...(damage.byte === undefined ? {} : { byte: damage.byte }),
        };
        const { code, reason, source } = damage;
        if (code === "input-truncated" && !facts.context.skipErrors)
          throw createError(code, { source, place, reason, canSkip: true });
        facts.context.reject({
          code,
          reason: `${source}: ${reason}`,
          place,
          feature: batch.featureAt(i),
          ...(isKept && { kept: true }),
        });
      }
    }
    return good.length === batch.length ? batch : batch.take(Uint32Array.from(good));
  }
}

function nullGeometries(count: number) {
  const builder = new GeometryBuilder();
  for (let i = 0; i < count; i++) builder.addNull();
  return builder.finish();
}
