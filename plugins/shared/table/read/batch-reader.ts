import { createError, type Place } from "../../../../src/errors.js";
import { Batch, type Feature } from "../../../../src/model/batch.js";
import { type Column, initialRowCapacity, jsonValueAt } from "../../../../src/model/column.js";
import type { Field } from "../../../../src/model/field.js";
import { GeometryBuilder } from "../../../../src/model/geometry-builder.js";
import { createSlab } from "../../../../src/model/slab.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import { strayQuoteMessage } from "../columns/ambiguity-notices.js";
import type { NumberFormat } from "../columns/number-format.js";
import { fieldsOf, type TablePlan, type TableSplit } from "../plan/plan.js";
import { hasExtraCells } from "../plan/table-scan.js";
import { windowBytes } from "../records/cell-marks.js";
import { CellUnquoter, RecordScanner } from "../records/record-scanner.js";
import { repairUtf8, type TextBlock } from "../records/text-blocks.js";
import { CellColumnBuilder, CellNumberParser, type ColumnContext } from "./cell-column.js";
import { RecordColumns } from "./record-columns.js";
import { type GeometryFailure, RowGeometryReader } from "./row-geometry.js";

const maxBatchRows = 1000;
/** Limits of a batch: positions of its geometries, and bytes of its text. */
const maxBatchPositions = 65_536;
const maxBatchBytes = 4 * 1024 * 1024;

/** Turns the records of consecutive splits into batches. */
export class BatchReader {
  private readonly scanner: RecordScanner;
  private readonly fields: readonly Field[];
  /** By column of the file; null for a column that is not an attribute. */
  private readonly columns: readonly (CellColumnBuilder | null)[];
  /** Columns that hold a single rejected record, created with the first record whose geometry cannot be read. */
  private rejected: readonly (CellColumnBuilder | null)[] | null = null;
  private readonly createRejectColumns: () => readonly (CellColumnBuilder | null)[];
  private readonly shared: ColumnContext;
  private readonly geometry: RowGeometryReader;
  private readonly builder = new GeometryBuilder();
  /** Reads records of the usual form; null if the table is of another one. */
  private readonly kernel: RecordColumns | null;
  private rows = 0;
  private short = 0;
  private shortExample = "";
  /** Records with an undoubled quote inside a cell, counted here if the scan did not count them. */
  private strays = 0;
  /** Of the block being read: its offset in the source, null where bytes were converted, and whether it has NUL bytes. */
  private byteOffset: number | null = null;
  private hasNul = false;
  /** The record number of each row, once records without a row occur between them. */
  private records: number[] = [];
  /** Records read, including rejected ones; the header does not count. */
  passedRecords = 0;
  passedLines = 0;

  constructor(
    private readonly plan: TablePlan,
    private readonly source: string,
    private readonly context: ReadContext,
  ) {
    this.scanner = new RecordScanner(plan.delimiter);
    this.fields = fieldsOf(plan);
    const text = new CellUnquoter();
    const plain = new CellNumberParser({ decimal: plan.decimal, group: null });
    const numbersOf = (form: NumberFormat | null) => (form ? new CellNumberParser(form) : plain);
    const createColumns = (shared: ColumnContext) =>
      plan.columns.map((column) =>
        column.kept ? new CellColumnBuilder(column, numbersOf(column.numbers), shared) : null,
      );
    const { length } = plan.columns;
    const most = Math.min(initialRowCapacity(length), maxBatchRows);
    const rows = Math.max(1, Math.min(most, plan.features ?? most));
    const datesAreMidnights = plan.rules.datesAreMidnights ?? false;
    this.shared = { text, context, rows, datesAreMidnights, slab: createSlab(length) };
    this.columns = createColumns(this.shared);
    this.createRejectColumns = () => createColumns({ ...this.shared, rows: 1, slab: createSlab(length) });
    this.geometry = new RowGeometryReader(plan, context);
    this.kernel = RecordColumns.for(plan);
  }

  /** @throws input-corrupt */
  *read(block: TextBlock, split: TableSplit): Generator<Batch> {
    const bytes = this.repaired(block);
    const isFirst = split.from === this.plan.encoding.mark;
    this.byteOffset = block.direct && !block.isTrusted && bytes === block.bytes ? split.from : null;
    this.hasNul = bytes.includes(0);
    if (isFirst) this.passedLines += this.plan.lines;
    const { scanner } = this;
    let isHeaderNext = this.plan.header && isFirst;
    let batchFrom = 0;
    for (let at = 0; at < bytes.length; ) {
      const end = isHeaderNext || this.hasNul ? 0 : this.readAtOnce(bytes, at, batchFrom);
      if (end > 0) {
        at = end;
        if (this.isBatchFull(at - batchFrom)) {
          yield this.finishBatch();
          batchFrom = at;
        }
        continue;
      }
      if (scanner.scan(bytes, at, bytes.length, true) === "unterminated") {
        this.rejectUnclosed(bytes, at);
        at = scanner.recovery;
        continue;
      }
      const { next, lines } = scanner;
      if (scanner.hasStray && !this.plan.splits) this.strays++;
      if (!scanner.isBlank(bytes)) {
        if (isHeaderNext) this.checkHeader(bytes, at, next);
        else this.readRecord(bytes, at, next);
        isHeaderNext = false;
      }
      this.passedLines += lines;
      at = next;
      if (this.isBatchFull(at - batchFrom)) {
        yield this.finishBatch();
        batchFrom = at;
      }
    }
    if (this.rows > 0) yield this.finishBatch();
  }

  /** Adds the records from `at` on that a kernel can read. @returns the end of the last one; 0 if there is none */
  private readAtOnce(bytes: Buffer, at: number, batchFrom: number): number {
    const { kernel, columns } = this;
    // Records of so many bytes could make the batch larger than it is otherwise.
    if (!kernel || at - batchFrom > maxBatchBytes - windowBytes) return 0;
    const rows = kernel.read(bytes, at, maxBatchRows - this.rows, maxBatchPositions - this.builder.positionCount);
    if (rows === 0) return 0;
    kernel.addGeometries(rows, this.builder);
    for (let c = 0; c < columns.length; c++) columns[c]?.pushAll(kernel, c, rows);
    for (let n = 0; n < rows; n++) this.records[this.rows++] = ++this.passedRecords;
    this.passedLines += kernel.lines;
    return kernel.end;
  }

  /** Adds the record scanned last to the batch, or rejects it. */
  private readRecord(bytes: Buffer, at: number, next: number): void {
    const { scanner, columns } = this;
    this.passedRecords++;
    if (scanner.cells > columns.length && hasExtraCells(bytes, scanner, columns.length)) {
      const reason = `${scanner.cells} cells, but there are ${columns.length} columns`;
      this.reject(bytes, at, next, "record-too-long", reason);
    } else if (this.containsNul(bytes, at, next)) {
      this.reject(bytes, at, next, "record-binary", "a NUL byte is not text");
    } else {
      const failure = this.geometry.read(bytes, scanner, this.builder);
      if (!failure) this.addRow(bytes);
      else this.rejectGeometry(bytes, at, next, failure);
    }
  }

  /** Rejects a record whose geometry cannot be read; it may remain as a row without geometry. */
  private rejectGeometry(bytes: Buffer, at: number, next: number, { code, reason }: GeometryFailure): void {
    const { keepsBadGeometries } = this.context;
    this.reject(bytes, at, next, code, reason, { feature: this.readAttributes(bytes), kept: keepsBadGeometries });
    if (!keepsBadGeometries) return;
    this.builder.addNull();
    this.addRow(bytes);
  }

  /** @throws input-corrupt unless errors are skipped */
  private rejectUnclosed(bytes: Buffer, at: number): void {
    const { scanner } = this;
    if (!this.context.skipErrors) throw this.unclosedQuote(this.placeOf(at), scanner.openLine);
    this.passedRecords++;
    const reason = "a quote is opened in this record and never closed";
    this.reject(bytes, at, scanner.recovery, "quote-unclosed", reason);
    this.passedLines += scanner.openLine + 1;
  }

  private checkHeader(bytes: Buffer, at: number, next: number): void {
    if (!this.containsNul(bytes, at, next)) return;
    this.context.reportNotice("header-binary", undefined, "names of columns have NUL bytes, which are not text");
  }

  private containsNul(bytes: Buffer, from: number, to: number): boolean {
    return this.hasNul && bytes.subarray(from, to).includes(0);
  }

  private isBatchFull(bytes: number): boolean {
    if (this.rows >= maxBatchRows || this.builder.positionCount >= maxBatchPositions) return true;
    return this.rows > 0 && bytes >= maxBatchBytes;
  }

  private placeOf(from: number): Place {
    const byte = this.byteOffset === null ? {} : { byte: this.byteOffset + from };
    return { record: this.passedRecords, line: this.passedLines + 1, ...byte };
  }

  private reject(
    bytes: Buffer,
    from: number,
    to: number,
    code: string,
    reason: string,
    { feature = null, kept = false }: { readonly feature?: Feature | null; readonly kept?: boolean } = {},
  ): void {
    const text = recordText(bytes, from, to);
    this.context.reject({ code, reason, place: this.placeOf(from), feature, text, ...(kept && { kept }) });
  }

  /** Reports the repairs, once after the last split. */
  finish(): void {
    if (this.short > 0) this.context.reportNotice("record-short", undefined, this.shortExample, this.short);
    if (this.strays > 0) {
      const where = this.strays === 1 ? "in one record" : "in some records";
      this.context.reportNotice("quote-stray", undefined, strayQuoteMessage(where), this.strays);
    }
    this.geometry.finish();
    this.context.splitFinished(this.passedRecords, this.passedLines);
  }

  private repaired(block: TextBlock): Buffer {
    if (!block.direct || block.isTrusted) return block.bytes;
    const bytes = repairUtf8(block.bytes);
    if (bytes !== block.bytes) {
      const count = bytes.toString("utf8").split("\uFFFD").length - 1;
      const example = "bytes that are no UTF-8 became U+FFFD; name the encoding with the option encoding";
      this.context.reportLoss("text-undecodable", undefined, example, count);
    }
    return bytes;
  }

  private unclosedQuote(place: Place, linesBefore: number): Error {
    const reason = "a quote is opened here and never closed; correct it, or read past it with --skip-errors";
    return createError("input-corrupt", {
      source: this.source,
      place: { ...place, line: (place.line ?? 1) + linesBefore },
      reason,
    });
  }

  private pushCells(columns: readonly (CellColumnBuilder | null)[], bytes: Uint8Array): void {
    const { cells, starts, ends, marks } = this.scanner;
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c];
      if (!column) continue;
      if (c < cells) column.push(bytes, starts[c]!, ends[c]!, marks[c]!);
      else column.pushNull();
    }
  }

  /** Reads the attributes of a record. */
  private readAttributes(bytes: Uint8Array): Feature {
    this.rejected ??= this.createRejectColumns();
    this.pushCells(this.rejected, bytes);
    const columns = this.rejected.flatMap((column) => (column ? [column.finish()] : []));
    const values = this.fields.map(({ name }, c) => [name, jsonValueAt(columns[c]!, 0)]);
    return { type: "Feature", geometry: null, properties: Object.fromEntries(values) };
  }

  private addRow(bytes: Uint8Array): void {
    const { columns } = this;
    const { cells } = this.scanner;
    this.pushCells(columns, bytes);
    // A spreadsheet has no cells at the end of a row, and not too few.
    if (cells < columns.length && !this.plan.encoding.isSpooled) {
      if (this.short++ === 0) {
        this.shortExample = `${cells} cells for ${columns.length} columns; the missing ones are null`;
      }
    }
    this.records[this.rows++] = this.passedRecords;
  }

  private finishBatch(): Batch {
    const length = this.rows;
    const first = this.records[0]!;
    const gapless = this.records[length - 1]! - first === length - 1;
    const columns: Column[] = [];
    for (const column of this.columns) if (column) columns.push(column.finish());
    const batch = new Batch({
      length,
      ids: null,
      fields: this.fields,
      columns,
      geometry: this.builder.finish(),
      recordNumbers: gapless ? null : Uint32Array.from(this.records.slice(0, length)),
      firstRecord: first,
    });
    this.builder.reset();
    this.shared.slab = createSlab(this.columns.length);
    this.rows = 0;
    return batch;
  }
}

function recordText(bytes: Uint8Array, from: number, to: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 65_536)).toString("utf8");
  return text.replace(/[\r\n]+$/, "");
}
