import type { Assembler, Sink, TargetLayer, WriteContext, WriterModule } from "../../../src/plugin/format.js";
import { ZipWriter } from "../../shared/zip/zip-writer.js";
import { maxRows } from "../limits.js";
import type { WriteOptions } from "../options.js";
import { columnWidths } from "../write/column-widths.js";
import { readBack } from "../write/read-back.js";
import { type RowChunk, RowEncoder } from "../write/row-encoder.js";
import { crsProperties, planSheets, type SheetPlan, tooManyRows } from "../write/sheet-plan.js";
import { OdsCells } from "./ods-cells.js";
import {
  cellStyle,
  contentHead,
  contentTail,
  manifestPart,
  metaPart,
  mimeType,
  tableHead,
  tableTail,
} from "./parts.js";

const lineFeed = 10;

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}

/** Writes the tables one after another into content.xml. */
class OdsAssembler implements Assembler<RowChunk> {
  private begun = 0;
  private rows = 0;

  constructor(
    private readonly zip: ZipWriter,
    private readonly sink: Sink,
    private readonly plans: readonly SheetPlan[],
    /** Of the columns of each table. */
    private readonly widths: readonly (readonly number[])[],
    private readonly context: WriteContext,
  ) {}

  async append({ bytes }: RowChunk, layer: number): Promise<void> {
    await this.beginUpTo(layer);
    // Rows end with the only line feeds of the content.
    this.rows += countLines(bytes);
    if (this.rows > maxRows) throw tooManyRows(this.sink, this.plans[layer]!.name);
    await this.zip.write(bytes);
  }

  async finish(): Promise<void> {
    await this.beginUpTo(this.plans.length - 1);
    await this.write(`${tableTail}${contentTail}`);
    await this.zip.end();
    await this.zip.finish();
  }

  abort(): Promise<void> {
    return this.zip.abort();
  }

  private write(text: string): Promise<void> {
    return this.zip.write(Buffer.from(text));
  }

  private async beginUpTo(layer: number): Promise<void> {
    for (; this.begun <= layer; this.begun++) {
      if (this.begun > 0) await this.write(tableTail);
      const { name, header } = this.plans[this.begun]!;
      await this.write(tableHead(name, this.widths[this.begun]!));
      const cells = new OdsCells(this.context);
      cells.beginRow();
      header.forEach((text, column) => {
        const bytes = Buffer.from(text);
        cells.styledText(column, bytes, 0, bytes.length, text, `table:style-name="${cellStyle.header}" `);
      });
      cells.endRow();
      await this.zip.write(cells.finish());
      this.rows = 1;
    }
  }
}

export default {
  async createEncoder(layer, options, context) {
    return new RowEncoder(layer, options, new OdsCells(context), Number.POSITIVE_INFINITY, context);
  },

  async createAssembler(
    sink: Sink,
    layers: readonly TargetLayer[],
    options: WriteOptions,
    context: WriteContext,
  ): Promise<Assembler<RowChunk>> {
    const plans = planSheets(layers, options, context);
    const widths = layers.map((layer, n) => columnWidths(layer, plans[n]!.layout));
    const properties = crsProperties(layers, plans, context);
    const zip = new ZipWriter(await sink.create(), sink.name, context.now);
    // The first entry, which programs look at (ODF 1.3, part 2, 3.3).
    await zip.add("mimetype", mimeType, true);
    await zip.add("META-INF/manifest.xml", manifestPart());
    await zip.add("meta.xml", metaPart(properties, context.now));
    await zip.begin("content.xml");
    await zip.write(Buffer.from(contentHead([...new Set(widths.flat())])));
    return new OdsAssembler(zip, sink, plans, widths, context);
  },

  readBack,
} satisfies WriterModule<WriteOptions, RowChunk>;
