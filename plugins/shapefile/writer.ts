import type { Batch } from "../../src/model/index.js";
import {
  type Assembler,
  createError,
  type Encoder,
  type OptionValues,
  type ReadBack,
  type Sink,
  type SinkFile,
  type TargetLayer,
  type WriteContext,
} from "../../src/plugin/index.js";
import { reportCoordinateLosses } from "../shared/coordinate-losses.js";
import { dataViewOf } from "../shared/text/data-view.js";
import { codePageOf, encodingOfName } from "./dbf/encodings.js";
import { RowEncoder } from "./dbf/row-encoder.js";
import { createTableLayout, type DbfOutputColumn, type DbfOutputTable, encodeTableHeader } from "./dbf/table-layout.js";
import { writeInteger } from "./dbf/write-number.js";
import type { writeOptions } from "./index.js";
import { chooseOutputShape, encodeShapes, type OutputShape } from "./shp/encode.js";
import { createEmptyRange, headerBytes, type ValueRange, writeShapeHeader } from "./shp/header.js";

export type WriteOptions = OptionValues<typeof writeOptions>;

/** Records of a batch for the .shp and the .dbf; the assembler adds record numbers and offsets. */
export interface ShapefileChunk {
  readonly rows: number;
  readonly shapes: Uint8Array;
  readonly contents: Uint32Array;
  readonly ranges: Float64Array;
  readonly records: Uint8Array;
}

/** Other programs read lengths and offsets as signed 32-bit numbers of bytes. */
const maxFileBytes = 2 ** 31 - 1;
const tooLargeRemedy = "write a GeoPackage instead, or several Shapefiles with --where or --bbox";

interface WriterPlan {
  readonly table: DbfOutputTable;
  readonly shape: OutputShape;
  /** The encoding of the text; `encode` is null for UTF-8. */
  readonly encoding: string;
  readonly encode: ((text: string) => Uint8Array) | null;
}

/** Derived from the layer alone, so that encoder and assembler agree on it. */
function createPlan(layer: TargetLayer, options: WriteOptions, context: WriteContext): WriterPlan {
  if (!layer.summary) throw createError("internal", { reason: "writing a Shapefile needs a summary of the layer" });
  const encoding = encodingOfName(options.encoding) ?? options.encoding;
  const utf8 = encoding === "utf-8";
  const encode = utf8 ? null : context.getTextEncoder(encoding);
  if (encode && Buffer.from(encode("A z")).toString("latin1") !== "A z") {
    const expected = "an encoding in which ASCII is one byte a character";
    throw createError("option-invalid", { option: "encoding", value: options.encoding, expected });
  }
  return { table: createTableLayout(layer), shape: chooseOutputShape(layer.name, layer.summary), encoding, encode };
}

/** @throws unsupported, option-invalid */
export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<ShapefileChunk>> {
  const { table, shape, encode } = createPlan(layer, options, context);
  const rows = new RowEncoder(table, encode, (code, field, example, count) =>
    context.reportLoss(code, field, example, count),
  );
  return {
    encode(batch: Batch): ShapefileChunk {
      const { bytes, contents, ranges, missingZ, notFinite, empty } = encodeShapes(batch.geometry, shape);
      if (empty > 0) context.reportLoss("geometry-empty", undefined, "a geometry without positions became null", empty);
      reportCoordinateLosses({ missingZ, notFinite }, context);
      return { rows: batch.length, shapes: bytes, contents, ranges, records: rows.encode(batch) };
    },
  };
}

class ShapefileAssembler implements Assembler<ShapefileChunk> {
  private rows = 0;
  private readonly ranges: readonly [ValueRange, ValueRange, ValueRange, ValueRange] = [
    createEmptyRange(),
    createEmptyRange(),
    createEmptyRange(),
    createEmptyRange(),
  ];

  constructor(
    private readonly name: string,
    private readonly files: { readonly shp: SinkFile; readonly shx: SinkFile; readonly dbf: SinkFile },
    private readonly plan: WriterPlan,
    private readonly header: (rows: number) => Buffer,
  ) {}

  async append(chunk: ShapefileChunk): Promise<void> {
    const { shp, shx, dbf } = this.files;
    this.checkFileSize("shp", shp.size + chunk.shapes.length);
    this.checkFileSize("dbf", dbf.size + chunk.records.length + 1);
    const entries = this.number(chunk, shp.size);
    if (this.plan.table.numbered) this.numberRows(chunk);
    await shp.write(chunk.shapes);
    await shx.write(entries);
    await dbf.write(chunk.records);
    this.rows += chunk.rows;
    this.ranges.forEach((range, d) => {
      range.least = Math.min(range.least, chunk.ranges[2 * d]!);
      range.greatest = Math.max(range.greatest, chunk.ranges[2 * d + 1]!);
    });
  }

  private checkFileSize(extension: string, size: number): void {
    if (size <= maxFileBytes) return;
    const output = extension === "shp" ? this.name : this.name.replace(/\.[^.]*$/, `.${extension}`);
    throw createError("output-too-large", {
      output,
      limit: "2 GiB, which a Shapefile cannot have",
      remedy: tooLargeRemedy,
    });
  }

  /** Writes record numbers into the chunk; returns its index entries. */
  private number(chunk: ShapefileChunk, shpBytes: number): Uint8Array {
    const { shapes, contents, rows } = chunk;
    const view = dataViewOf(shapes);
    const entries = new Uint8Array(8 * rows);
    const index = new DataView(entries.buffer);
    let at = 0;
    for (let i = 0; i < rows; i++) {
      view.setInt32(at, this.rows + i + 1);
      index.setInt32(8 * i, (shpBytes + at) / 2);
      index.setInt32(8 * i + 4, contents[i]! / 2);
      at += 8 + contents[i]!;
    }
    return entries;
  }

  private numberRows({ records, rows }: ShapefileChunk): void {
    const { recordBytes, columns } = this.plan.table;
    const { offset, width } = columns[0]!;
    for (let i = 0; i < rows; i++) writeInteger(this.rows + i, records, i * recordBytes + offset + width, width);
  }

  async finish(): Promise<void> {
    const { shp, shx, dbf } = this.files;
    await dbf.write(Uint8Array.of(0x1a));
    await dbf.patch(0, this.header(this.rows));
    await shp.patch(0, writeShapeHeader(shp.size, this.plan.shape.type, this.ranges));
    await shx.patch(0, writeShapeHeader(shx.size, this.plan.shape.type, this.ranges));
  }
}

/** Fields of a Shapefile that ArcGIS reads (Esri, "Shapefile file limits"). */
const maxEsriFields = 255;
/** Widest integer column that GDAL reads as 64-bit integers. */
const maxGdalInt64Width = 18;

/** @throws usage, unsupported, option-invalid, crs-not-writable; output-too-large from `append` */
export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<ShapefileChunk>> {
  const layer = layers[0]!;
  if (/\.dbf$/i.test(sink.name)) {
    throw createError("usage", {
      reason: `${sink.name}: name the output with the extension .shp; the .dbf is written beside it`,
    });
  }
  const planned = createPlan(layer, options, context);
  const prj = layer.crs && (await context.crs.toWkt(layer.crs, "esri"));
  if (layer.crs && prj === null) throw createError("crs-not-writable", { format: "shapefile", crs: layer.crs.name });
  const page = codePageOf(planned.encoding);
  const encode = planned.encode ?? ((text: string) => Buffer.from(text, "utf8"));
  const header = (rows: number) => encodeTableHeader(planned.table, rows, context.now, page.language, encode);

  const files = { shp: await sink.create(), shx: await sink.create("shx"), dbf: await sink.create("dbf") };
  await files.shp.write(new Uint8Array(headerBytes));
  await files.shx.write(new Uint8Array(headerBytes));
  await files.dbf.write(header(0));
  if (planned.table.numbered) {
    const [{ name }] = planned.table.columns as [DbfOutputColumn];
    context.reportNotice(
      "field-added",
      name,
      "a .dbf needs a field, so this one was added; it holds record numbers from 0",
    );
  }
  const { length: fieldCount } = planned.table.columns;
  if (fieldCount > maxEsriFields) {
    const example = `the .dbf has ${fieldCount} fields, and ArcGIS and others read at most ${maxEsriFields}; leave some out with --select, or write a GeoPackage`;
    context.reportNotice("many-fields", undefined, example);
  }
  for (const { name, fieldType, width } of planned.table.columns) {
    if (fieldType !== "int64" || width <= maxGdalInt64Width) continue;
    context.reportNotice(
      "integer-wide",
      name,
      `${width} digits wide: exact here, but GDAL reads it as a rounded real number`,
    );
  }
  if (prj !== null) await (await sink.create("prj")).write(Buffer.from(prj, "utf8"));
  await (await sink.create("cpg")).write(Buffer.from(page.word, "latin1"));
  return new ShapefileAssembler(sink.name, files, planned, header);
}

/** The width of a number decides whether it is an integer. A table without fields gets one. */
export const readBack = ([layer]: readonly TargetLayer[]): ReadBack => ({
  types: "value",
  addedFields: layer!.fields?.length ? [] : ["FID"],
});
