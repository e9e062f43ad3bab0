import type { Batch } from "../../../src/model/batch.js";
import { type Column, Presence } from "../../../src/model/column.js";
import { createFieldIndex, type Field } from "../../../src/model/field.js";
import { type GeometryColumn, geometryAt, Kind } from "../../../src/model/geometry.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/format.js";
import { reportMissingCoordinates } from "../../shared/coordinate-losses.js";
import { reportCollapsedGeometries } from "../../shared/rounding-collapse.js";
import { createLayout, type TableLayout } from "../../shared/table/layout.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { WktWriter } from "../../shared/wkt/index.js";
import type { WriteOptions } from "../options.js";
import type { CellWriter } from "./cell-writer.js";

export interface RowChunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Digits of an integer that spreadsheets keep when they show and edit it. */
const maxIntegerDigits = 15;

/** Fields whose integers are too long for numbers, and which are written as text. */
function longIntegerFields({ summary }: TargetLayer): ReadonlySet<string> {
  const long = summary?.fields.filter(({ type, maxBytes }) => type === "int64" && maxBytes > maxIntegerDigits) ?? [];
  return new Set(long.map(({ name }) => name));
}

/** Encodes batches as rows of cells: the geometry first, as in CSV. */
export class RowEncoder implements Encoder<RowChunk> {
  private readonly layout: TableLayout;
  private readonly scratch = new TextBuffer();
  private readonly wkt: WktWriter;
  private readonly wkb = new WkbWriter();
  private readonly decimals: number | null;
  private readonly position = new Float64Array(1);
  private readonly long: ReadonlySet<string>;

  /** @param maxTextLength characters of a cell, which a geometry must not exceed */
  constructor(
    layer: TargetLayer,
    options: WriteOptions,
    private readonly cells: CellWriter,
    private readonly maxTextLength: number,
    private readonly context: WriteContext,
  ) {
    this.layout = createLayout(layer, options);
    this.decimals = options.precision ?? null;
    this.wkt = new WktWriter(this.scratch, this.decimals);
    this.long = longIntegerFields(layer);
  }

  encode(batch: Batch): RowChunk {
    const { layout, cells } = this;
    const find = createFieldIndex(batch.fields);
    const columns = layout.fields.map(({ name }) => batch.columns[find(name)] ?? null);
    const first = layout.geometryNames.length;
    for (let row = 0; row < batch.length; row++) {
      cells.beginRow();
      let isEmpty = !this.geometry(batch.geometry, row);
      for (let c = 0; c < columns.length; c++) {
        const column = columns[c];
        if (column?.presence[row] === Presence.value && this.cell(column, row, first + c, layout.fields[c]!))
          isEmpty = false;
      }
      if (isEmpty) this.emptyRow();
      cells.endRow();
    }
    if (this.decimals !== null && (layout.mode === "wkt" || layout.mode === "geojson"))
      reportCollapsedGeometries(batch.geometry, this.decimals, this.context);
    reportMissingCoordinates(this.wkt, this.context);
    reportMissingCoordinates(this.wkb, this.context);
    return { bytes: cells.finish() };
  }

  /** Readers leave out rows without a cell. Empty text is null again in a column of any type but text. */
  private emptyRow(): void {
    const { fields, geometryNames } = this.layout;
    const isTyped = fields.findIndex(({ type, name }) => type !== "text" && !this.long.has(name));
    const column = geometryNames.length > 0 ? 0 : geometryNames.length + Math.max(0, isTyped);
    this.cells.text(column, this.scratch.written(), 0, 0, "");
    if (geometryNames.length > 0 || isTyped >= 0 || fields.length === 0) return;
    const example = "in a row without values, the first is empty text, since a row without cells would be left out";
    this.context.reportLoss("null-empty", fields[0]!.name, example);
  }

  /** @returns whether there is a value */
  private cell(column: Column, row: number, at: number, { name }: Field): boolean {
    const { cells } = this;
    switch (column.type) {
      case "text":
      case "json":
        cells.text(at, column.bytes, column.offsets[row]!, column.offsets[row + 1]!, name);
        return true;
      case "date":
      case "time":
      case "datetime":
        cells.temporal(at, column.type, column.bytes, column.offsets[row]!, column.offsets[row + 1]!, name);
        return true;
      case "binary": {
        const bytes = Buffer.from(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!));
        const text = Buffer.from(bytes.toString("base64"));
        cells.text(at, text, 0, text.length, name);
        return true;
      }
      case "double":
        if (!Number.isFinite(column.values[row]!)) {
          const example = `${column.values[row]} is no number in a spreadsheet`;
          this.context.reportLoss("non-finite-value", name, example);
          return false;
        }
        cells.number(at, column.values, row, true);
        return true;
      case "int32":
        cells.integer(at, column.values[row]!);
        return true;
      case "int64":
        this.bigint(column.values[row]!, at, name);
        return true;
      case "boolean":
        cells.boolean(at, column.values[row] === 1);
        return true;
    }
  }

  private bigint(value: bigint, at: number, name: string): void {
    const number = Number(value);
    if (!this.long.has(name) && Number.isSafeInteger(number)) {
      this.cells.integer(at, number);
      return;
    }
    const example = "integers of more than 15 digits, which a spreadsheet would round, are text";
    this.context.reportLoss("int64-as-text", name, example);
    const text = Buffer.from(String(value));
    this.cells.text(at, text, 0, text.length, name);
  }

  /** @returns whether there is a value */
  private geometry(column: GeometryColumn, row: number): boolean {
    const { layout, context, scratch } = this;
    if (column.kinds[row] === Kind.none) return false;
    switch (layout.mode) {
      case "none":
        context.reportLoss("geometry-dropped", undefined, "the option geometry=none omits it");
        return false;
      case "xy":
        return this.point(column, row);
      case "wkt":
        this.wkt.write(column, row);
        break;
      case "wkb": {
        const hex = this.wkb.writeHex(column, row);
        scratch.bytes(hex, 0, hex.length);
        break;
      }
      case "geojson":
        scratch.utf8(this.geojson(column, row));
    }
    const { length } = scratch;
    const isWritten = length <= this.maxTextLength;
    if (isWritten) this.cells.text(0, scratch.written(), 0, length, layout.geometryNames[0]!);
    else {
      const example = `a geometry of ${length} characters, and a cell holds ${this.maxTextLength}; write to .ods, .csv or a format with geometries`;
      context.reportLoss("geometry-dropped", undefined, example);
    }
    scratch.length = 0;
    return isWritten;
  }

  private geojson(column: GeometryColumn, row: number): string {
    const { decimals } = this;
    const round = (_: string, value: unknown) =>
      typeof value === "number" && decimals !== null ? Number(value.toFixed(decimals)) : value;
    return JSON.stringify(geometryAt(column, row), round);
  }

  private point(column: GeometryColumn, row: number): boolean {
    const part = column.partOffsets[row]!;
    if (column.kinds[row] !== Kind.Point || part === column.partOffsets[row + 1]!) {
      const example = "a Point without a position has no coordinates to write";
      this.context.reportLoss("geometry-empty", undefined, example);
      return false;
    }
    const k = column.positionOffsets[column.ringOffsets[part]!]!;
    this.coordinate(0, column.xy, 2 * k);
    this.coordinate(1, column.xy, 2 * k + 1);
    if (this.layout.z && column.z && !Number.isNaN(column.z[k])) this.cells.number(2, column.z, k, false);
    return true;
  }

  private coordinate(at: number, values: Float64Array, k: number): void {
    const { position, decimals } = this;
    position[0] = decimals === null ? values[k]! : Number(values[k]!.toFixed(decimals));
    this.cells.number(at, position, 0, false);
  }
}
