import { createError, type Place } from "../../../src/errors.js";
import { Batch, type Feature } from "../../../src/model/batch.js";
import { type Column, initialRowCapacity, jsonValueAt } from "../../../src/model/column.js";
import type { Field } from "../../../src/model/field.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { createSlab } from "../../../src/model/slab.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { strayQuoteMessage } from "./columns/ambiguity-notices.js";
import { CellColumnBuilder, CellNumberParser, type ColumnContext } from "./columns/cell-column.js";
import type { NumberFormat } from "./columns/number-format.js";
import { RowGeometryReader } from "./geometry/row-geometry.js";
import { fieldsOf, type TablePlan, type TableSplit } from "./plan/plan.js";
import { hasExtraCells } from "./plan/table-scan.js";
import { CellUnquoter, RecordScanner } from "./records/record-scanner.js";
import { repairUtf8, type TextBlock } from "./records/text-blocks.js";

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
  private readonly around: ColumnContext;
  private readonly rejectedOf: () => readonly (CellColumnBuilder | null)[];
  private readonly geometry: RowGeometryReader;
  private readonly builder = new GeometryBuilder();
  private rows = 0;
  private short = 0;
  private shortExample = "";
  /** Records with an undoubled quote inside a cell, counted here if the scan did not count them. */
  private strays = 0;
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
    const columnsOf = (around: ColumnContext) =>
      plan.columns.map((column) =>
        column.kept ? new CellColumnBuilder(column, numbersOf(column.numbers), around) : null,
      );
    const { length } = plan.columns;
    const rows = Math.max(1, Math.min(initialRowCapacity(length), plan.features ?? initialRowCapacity(length)));
    const datesAreMidnights = plan.rules.datesAreMidnights ?? false;
    this.around = { text, context, rows, datesAreMidnights, slab: createSlab(length) };
    this.columns = columnsOf(this.around);
    this.rejectedOf = () => columnsOf({ ...this.around, rows: 1, slab: createSlab(length) });
    this.geometry = new RowGeometryReader(plan, context);
  }

  /** @throws input-corrupt */
  *read(block: TextBlock, split: TableSplit): Generator<Batch> {
    const bytes = this.repaired(block);
    const direct = block.direct && !block.isTrusted && bytes === block.bytes;
    const { scanner, context } = this;
    const hasNul = bytes.includes(0);
    const isFirst = split.from === this.plan.encoding.mark;
    if (isFirst) this.passedLines += this.plan.lines;
    let isHeader = this.plan.header && isFirst;
    let at = 0;
    let startedAt = 0;
    const place = (from: number): Place => ({
      record: this.passedRecords,
      line: this.passedLines + 1,
      ...(direct ? { byte: split.from + from } : {}),
    });
    const reject = (
      from: number,
      to: number,
      code: string,
      reason: string,
      feature: Feature | null = null,
      kept = false,
    ) => {
      const text = recordText(bytes, from, to);
      context.reject({ code, reason, place: place(from), feature, text, ...(kept && { kept }) });
    };
    while (at < bytes.length) {
      const found = scanner.scan(bytes, at, bytes.length, true);
      if (found === "unterminated") {
        if (!context.skipErrors) throw this.unclosedQuote(place(at), scanner.openLine);
        this.passedRecords++;
        reject(at, scanner.recovery, "quote-unclosed", "a quote is opened in this record and never closed");
        this.passedLines += scanner.openLine + 1;
        at = scanner.recovery;
        continue;
      }
      const { next, lines } = scanner;
      if (scanner.hasStray && !this.plan.splits) this.strays++;
      if (isHeader && !scanner.isBlank(bytes)) {
        isHeader = false;
        if (hasNul && bytes.subarray(at, next).includes(0)) {
          context.reportNotice("header-binary", undefined, "names of columns have NUL bytes, which are not text");
        }
      } else if (!scanner.isBlank(bytes)) {
        this.passedRecords++;
        if (scanner.cells > this.columns.length && hasExtraCells(bytes, scanner, this.columns.length)) {
          const reason = `${scanner.cells} cells, but there are ${this.columns.length} columns`;
          reject(at, next, "record-too-long", reason);
        } else if (hasNul && bytes.subarray(at, next).includes(0)) {
          reject(at, next, "record-binary", "a NUL byte is not text");
        } else {
          const failure = this.geometry.read(bytes, scanner, this.builder);
          if (failure)
            reject(at, next, failure.code, failure.reason, this.attributes(bytes), context.keepsBadGeometries);
          if (failure && context.keepsBadGeometries) this.builder.addNull();
          if (!failure || context.keepsBadGeometries) this.row(bytes);
        }
      }
      this.passedLines += lines;
      at = next;
      if (
        this.rows >= maxBatchRows ||
        this.builder.positionCount >= maxBatchPositions ||
        (this.rows > 0 && at - startedAt >= maxBatchBytes)
      ) {
        yield this.batch();
        startedAt = at;
      }
    }
    if (this.rows > 0) yield this.batch();
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
  private attributes(bytes: Uint8Array): Feature {
    this.rejected ??= this.rejectedOf();
    this.pushCells(this.rejected, bytes);
    const columns = this.rejected.flatMap((column) => (column ? [column.finish()] : []));
    const values = this.fields.map(({ name }, c) => [name, jsonValueAt(columns[c]!, 0)]);
    return { type: "Feature", geometry: null, properties: Object.fromEntries(values) };
  }

  private row(bytes: Uint8Array): void {
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

  private batch(): Batch {
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
    this.around.slab = createSlab(this.columns.length);
    this.rows = 0;
    return batch;
  }
}

function recordText(bytes: Uint8Array, from: number, to: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 65_536)).toString("utf8");
  return text.replace(/[\r\n]+$/, "");
}
