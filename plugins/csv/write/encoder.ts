import type { Batch } from "../../../src/model/batch.js";
import { type BytesColumn, type Column, Presence } from "../../../src/model/column.js";
import { createFieldIndex } from "../../../src/model/field.js";
import { type Geometry, type GeometryColumn, geometryAt, Kind } from "../../../src/model/geometry.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/format.js";
import { reportMissingCoordinates } from "../../shared/coordinate-losses.js";
import { indexPresentCells, type PresentCells, presentColumns } from "../../shared/present-cells.js";
import { reportCollapsedGeometries } from "../../shared/rounding-collapse.js";
import { createLayout, type TableLayout } from "../../shared/table/layout.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { WktWriter } from "../../shared/wkt/index.js";
import { type WriterOptions, writerDelimiterByte } from "../options.js";
import { TextCellWriter } from "./text-cells.js";

export interface CsvChunk {
  readonly bytes: Uint8Array;
}

const quote = 34;

/** The minimum number of columns for which empty cells are left out. */
const minSparseColumns = 1024;

interface SparseColumns {
  /** The columns that any row has. */
  readonly within: readonly number[];
  /** The cells that each row has, by the index of their columns in `within`. */
  readonly cells: PresentCells;
}

/** Indexes the cells of a batch with many columns, few of which have values; null for others. */
function indexSparseColumns(columns: readonly (Column | null)[], rows: number): SparseColumns | null {
  if (columns.length < minSparseColumns) return null;
  const indexes: number[] = [];
  const found: Column[] = [];
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c];
    if (!column) continue;
    indexes.push(c);
    found.push(column);
  }
  const present = presentColumns(found);
  if (present.length > columns.length / 2) return null;
  const cells = indexPresentCells(
    present.map((at) => found[at]!),
    rows,
  );
  return cells && { within: present.map((at) => indexes[at]!), cells };
}

/** Encodes batches as records. */
export class CsvEncoder implements Encoder<CsvChunk> {
  private readonly layout: TableLayout;
  private readonly out = new TextBuffer();
  private readonly cells: TextCellWriter;
  private readonly wkt: WktWriter;
  private readonly wkb = new WkbWriter();
  private readonly delimiter: number;
  private readonly all: boolean;
  private readonly decimals: number | null;

  constructor(
    private readonly layer: TargetLayer,
    private readonly options: WriterOptions,
    private readonly context: WriteContext,
  ) {
    this.layout = createLayout(layer, options);
    this.delimiter = writerDelimiterByte(options.delimiter);
    this.decimals = options.precision ?? null;
    this.cells = new TextCellWriter(this.out, this.delimiter, options, context);
    this.wkt = new WktWriter(this.out, this.decimals);
    this.all = options.quote === "all";
  }

  encode(batch: Batch): CsvChunk {
    const { out, layout } = this;
    const find = createFieldIndex(batch.fields);
    const columns = layout.fields.map((field) => batch.columns[find(field.name)] ?? null);
    const cellCount = layout.geometryNames.length + columns.length;
    const sparse = indexSparseColumns(columns, batch.length);
    for (let row = 0; row < batch.length; row++) {
      const start = out.length;
      this.geometry(batch.geometry, row);
      if (sparse) this.sparseRow(sparse, columns, row);
      else this.row(columns, row);
      if (out.length === start && cellCount > 0) this.onlyNull();
      if (this.options.eol === "crlf") out.byte(13);
      out.byte(10);
    }
    if (this.decimals !== null && (layout.mode === "wkt" || layout.mode === "geojson")) {
      reportCollapsedGeometries(batch.geometry, this.decimals, this.context);
    }
    reportMissingCoordinates(this.wkt, this.context);
    reportMissingCoordinates(this.wkb, this.context);
    return { bytes: out.finish() };
  }

  private row(columns: readonly (Column | null)[], row: number): void {
    const { out, layout, delimiter } = this;
    for (let c = 0; c < columns.length; c++) {
      if (c > 0 || layout.geometryNames.length > 0) out.byte(delimiter);
      const column = columns[c];
      if (column && column.presence[row] === Presence.value) this.cell(column, row, layout.fields[c]!.name);
    }
  }

  /** Writes the cells of a row, most of which are empty. */
  private sparseRow({ within, cells }: SparseColumns, columns: readonly (Column | null)[], row: number): void {
    const { out, layout, delimiter } = this;
    // The first cell of a record has no delimiter before it.
    let written = layout.geometryNames.length > 0 ? 0 : 1;
    for (let at = cells.starts[row]!; at < cells.starts[row + 1]!; at++) {
      const c = within[cells.columns[at]!]!;
      const column = columns[c]!;
      if (column.presence[row] !== Presence.value) continue;
      out.fill(delimiter, c + 1 - written);
      written = c + 1;
      this.cell(column, row, layout.fields[c]!.name);
    }
    out.fill(delimiter, columns.length - written);
  }

  /**
   * Writes a null in a file of one column as empty text, because readers skip blank lines. Empty text is null again in
   * a column of any type but text.
   */
  private onlyNull(): void {
    this.out.byte(quote);
    this.out.byte(quote);
    const only = this.layout.fields[0];
    const hasValues = this.layer.summary?.fields.some((field) => field.name === only?.name && field.values > 0);
    if (!only || (hasValues && only.type !== "text")) return;
    this.context.reportLoss("null-empty", only.name, "in a file of one column, null and empty text are the same");
  }

  private cell(column: Column, row: number, field: string): void {
    const { out, all } = this;
    switch (column.type) {
      case "text":
      case "json":
        this.cells.text(column.bytes, column.offsets[row]!, column.offsets[row + 1]!, field);
        return;
      case "date":
      case "time":
      case "datetime":
        this.cells.plain(column.bytes, column.offsets[row]!, column.offsets[row + 1]!, field);
        return;
      case "binary":
        this.binary(column, row);
        return;
      case "double":
        if (!Number.isFinite(column.values[row]!)) {
          this.context.reportLoss(
            "non-finite-value",
            field,
            `${column.values[row]} has no text that every reader knows`,
          );
          return;
        }
    }
    if (all) out.byte(quote);
    if (column.type === "double") out.doubleAt(column.values, row);
    else if (column.type === "int32") out.int(column.values[row]!);
    else if (column.type === "int64") this.bigint(column.values[row]!);
    else out.ascii(column.values[row] === 1 ? "true" : "false");
    if (all) out.byte(quote);
  }

  private bigint(value: bigint): void {
    const number = Number(value);
    if (Number.isSafeInteger(number)) this.out.int(number);
    else this.out.ascii(String(value));
  }

  private binary(column: BytesColumn, row: number): void {
    const { buffer, byteOffset } = column.bytes;
    const bytes = Buffer.from(
      buffer,
      byteOffset + column.offsets[row]!,
      column.offsets[row + 1]! - column.offsets[row]!,
    );
    this.out.byte(quote);
    this.out.ascii(bytes.toString("base64"));
    this.out.byte(quote);
  }

  private geometry(column: GeometryColumn, row: number): void {
    const { out, layout, all } = this;
    const isNull = column.kinds[row] === Kind.none;
    switch (layout.mode) {
      case "none":
        if (!isNull) this.context.reportLoss("geometry-dropped", undefined, "the option geometry=none omits it");
        return;
      case "xy":
        this.point(column, row);
        return;
      case "geojson":
        if (!isNull) this.geojson(geometryAt(column, row)!);
        return;
    }
    if (isNull) return;
    const quoted = all || (layout.mode === "wkt" && (column.kinds[row] !== Kind.Point || this.delimiter === 32));
    if (quoted) out.byte(quote);
    if (layout.mode === "wkt") this.wkt.write(column, row);
    else {
      const hex = this.wkb.writeHex(column, row);
      out.bytes(hex, 0, hex.length);
    }
    if (quoted) out.byte(quote);
  }

  private point(column: GeometryColumn, row: number): void {
    const { out, delimiter, layout } = this;
    const part = column.partOffsets[row]!;
    const isPoint = column.kinds[row] === Kind.Point && part < column.partOffsets[row + 1]!;
    if (!isPoint) {
      if (column.kinds[row] !== Kind.none) {
        const example = "a Point without a position has no coordinates to write";
        this.context.reportLoss("geometry-empty", undefined, example);
      }
      out.byte(delimiter);
      if (layout.z) out.byte(delimiter);
      return;
    }
    const k = column.positionOffsets[column.ringOffsets[part]!]!;
    this.coordinate(column.xy, 2 * k);
    out.byte(delimiter);
    this.coordinate(column.xy, 2 * k + 1);
    if (!layout.z) return;
    out.byte(delimiter);
    if (column.z && !Number.isNaN(column.z[k])) this.exact(column.z, k);
  }

  private coordinate(values: Float64Array, at: number): void {
    const { out, all, decimals } = this;
    if (decimals === null) {
      this.exact(values, at);
      return;
    }
    if (all) out.byte(quote);
    out.fixedAt(values, at, decimals);
    if (all) out.byte(quote);
  }

  private exact(values: Float64Array, at: number): void {
    if (this.all) this.out.byte(quote);
    this.out.numberAt(values, at);
    if (this.all) this.out.byte(quote);
  }

  private geojson(geometry: Geometry): void {
    const { decimals } = this;
    const rounded =
      decimals === null
        ? JSON.stringify(geometry)
        : JSON.stringify(geometry, (_, value) => (typeof value === "number" ? Number(value.toFixed(decimals)) : value));
    this.out.byte(quote);
    this.out.utf8(rounded.replaceAll('"', '""'));
    this.out.byte(quote);
  }
}
