import type { Assembler, Sink, TargetLayer, WriteContext, WriterModule } from "../../../src/plugin/format.js";
import { ZipWriter } from "../../shared/zip/zip-writer.js";
import { maxCellLength, maxRows } from "../limits.js";
import type { WriteOptions } from "../options.js";
import { columnWidths } from "../write/column-widths.js";
import { readBack } from "../write/read-back.js";
import { type RowChunk, RowEncoder } from "../write/row-encoder.js";
import { crsProperties, planSheets, type SheetPlan, tooManyRows } from "../write/sheet-plan.js";
import {
  cellStyle,
  contentTypesPart,
  customPropertiesPart,
  rootRelationshipsPart,
  sheetHead,
  sheetPath,
  sheetTail,
  stylesPart,
  workbookPart,
  workbookRelationshipsPart,
} from "./parts.js";
import { rowMarks, XlsxCells } from "./xlsx-cells.js";

/** Digits of the largest row number. */
const maxRowDigits = 7;

/** Writes the sheets one after another. */
class XlsxAssembler implements Assembler<RowChunk> {
  private begun = 0;
  /** Rows of the sheet so far. */
  private row = 0;
  private digits: Uint8Array = Buffer.from("");

  constructor(
    private readonly zip: ZipWriter,
    private readonly sink: Sink,
    private readonly layers: readonly TargetLayer[],
    private readonly plans: readonly SheetPlan[],
    private readonly context: WriteContext,
  ) {}

  async append({ bytes }: RowChunk, layer: number): Promise<void> {
    await this.beginUpTo(layer);
    await this.zip.write(this.withRowNumbers(bytes));
  }

  async finish(): Promise<void> {
    await this.beginUpTo(this.plans.length - 1);
    await this.endSheet();
    await this.zip.finish();
  }

  abort(): Promise<void> {
    return this.zip.abort();
  }

  private async beginUpTo(layer: number): Promise<void> {
    for (; this.begun <= layer; this.begun++) {
      await this.endSheet();
      await this.zip.begin(sheetPath(this.begun));
      const { header, layout } = this.plans[this.begun]!;
      await this.zip.write(Buffer.from(sheetHead(columnWidths(this.layers[this.begun]!, layout))));
      this.row = 0;
      const cells = new XlsxCells(this.context);
      cells.beginRow();
      header.forEach((name, column) => {
        const bytes = Buffer.from(name);
        cells.styledText(column, bytes, 0, bytes.length, ` s="${cellStyle.header}"`);
      });
      cells.endRow();
      await this.zip.write(this.withRowNumbers(cells.finish()));
    }
  }

  private async endSheet(): Promise<void> {
    if (this.begun === 0) return;
    await this.zip.write(Buffer.from(sheetTail));
    await this.zip.end();
  }

  /** Puts the numbers of rows in the places of the marks. */
  private withRowNumbers(bytes: Uint8Array): Uint8Array {
    let marks = 0;
    for (let i = 0; i < bytes.length; i++) if (bytes[i]! <= rowMarks.next) marks++;
    const out = Buffer.allocUnsafeSlow(bytes.length + marks * maxRowDigits);
    let { digits } = this;
    let to = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte > rowMarks.next) {
        out[to++] = byte;
        continue;
      }
      if (byte === rowMarks.next) {
        this.row++;
        if (this.row > maxRows) throw tooManyRows(this.sink, this.plans[this.begun - 1]!.name);
        digits = Buffer.from(String(this.row));
      }
      for (let d = 0; d < digits.length; d++) out[to++] = digits[d]!;
    }
    this.digits = digits;
    return out.subarray(0, to);
  }
}

export default {
  async createEncoder(layer, options, context) {
    return new RowEncoder(layer, options, new XlsxCells(context), maxCellLength, context);
  },

  async createAssembler(sink, layers, options, context): Promise<Assembler<RowChunk>> {
    const plans = planSheets(layers, options, context);
    const properties = crsProperties(layers, plans, context);
    const zip = new ZipWriter(await sink.create(), sink.name, context.now);
    const hasProperties = properties.size > 0;
    await zip.add("[Content_Types].xml", contentTypesPart(plans.length, hasProperties));
    await zip.add("_rels/.rels", rootRelationshipsPart(hasProperties));
    await zip.add("xl/workbook.xml", workbookPart(plans.map(({ name }) => name)));
    await zip.add("xl/_rels/workbook.xml.rels", workbookRelationshipsPart(plans.length));
    await zip.add("xl/styles.xml", stylesPart());
    if (hasProperties) await zip.add("docProps/custom.xml", customPropertiesPart(properties));
    return new XlsxAssembler(zip, sink, layers, plans, context);
  },

  readBack,
} satisfies WriterModule<WriteOptions, RowChunk>;
