import { isUtf8 } from "node:buffer";
import { type Batch, type BytesColumn, type Column, isBytesColumn, Presence } from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { type Moment, parseMoment, totalMicros } from "../times.js";
import { GeometryEncoder } from "./geometry-encoder.js";
import { RowWriter } from "./row-writer.js";
import { designTable, type TableDesign, type WriteOptions } from "./table-design.js";

/** Rows of a binary COPY: id, geometry (if the table has one), fields. */
export interface PostgisChunk {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Offsets of ids to fill in; null if there are none. */
  readonly missing: Uint32Array | null;
  readonly greatestId: bigint | null;
  /** Whether ids ascend strictly; true if there are none. */
  readonly ascending: boolean;
  readonly leastId: bigint | null;
  /** Number of values with and without a zone, by field. */
  readonly zoned: Uint32Array;
  readonly unzoned: Uint32Array;
}

type WriteValue = (row: number) => void;

/** Encodes batches as COPY rows. */
class BatchEncoder {
  readonly rows = new RowWriter();
  private zoned = new Uint32Array(0);
  private unzoned = new Uint32Array(0);

  constructor(
    private readonly design: TableDesign,
    private readonly prefix: number,
    private readonly geometry: GeometryEncoder | null,
    private readonly context: WriteContext,
  ) {}

  encode(batch: Batch): PostgisChunk {
    const { rows, geometry, design } = this;
    const { fields, columns, length } = batch;
    this.zoned = new Uint32Array(fields.length);
    this.unzoned = new Uint32Array(fields.length);
    const writers = columns.map((column, c) => this.writer(column, c, fields[c]!.name));
    const width = 1 + (geometry ? 1 : 0) + columns.length;
    const ids = new IdWriter(batch.ids, design.fid.type, rows);
    for (let row = 0; row < length; row++) {
      rows.begin(width);
      ids.write(row);
      geometry?.write(batch.geometry, row, rows);
      for (let c = 0; c < writers.length; c++) {
        if (columns[c]!.presence[row] === Presence.value) writers[c]!(row);
        else rows.none();
      }
    }
    geometry?.reportLosses();
    return { rows: length, bytes: rows.finish(), ...ids.idStatistics(), zoned: this.zoned, unzoned: this.unzoned };
  }

  private writer(column: Column, c: number, name: string): WriteValue {
    const { rows } = this;
    switch (column.type) {
      case "boolean":
        return (row) => rows.byte(column.values[row]!);
      case "int32":
        return (row) => rows.int32(column.values[row]!);
      case "int64":
        return (row) => rows.int64(column.values[row]!);
      case "double":
        return (row) => rows.double(column.values[row]!);
      case "date":
      case "time":
      case "datetime":
        return this.temporal(column as BytesColumn, c, name);
      default:
        return this.bytes(column as BytesColumn, name);
    }
  }

  private bytes(column: BytesColumn, name: string): WriteValue {
    const { rows } = this;
    const { bytes, offsets } = column.type === "binary" ? column : this.toStorableText(column, name);
    const prefix = column.type === "json" ? this.prefix : -1;
    return (row) => rows.bytes(bytes, offsets[row]!, offsets[row + 1]!, prefix);
  }

  /** Removes U+0000 and replaces invalid UTF-8: PostgreSQL allows neither. */
  private toStorableText(column: BytesColumn, name: string): Pick<BytesColumn, "bytes" | "offsets"> {
    const { bytes, offsets } = column;
    if (isUtf8(bytes) && !bytes.includes(0)) return column;
    const texts: Buffer[] = [];
    const moved = new Uint32Array(offsets.length);
    let changed = 0;
    for (let row = 0; row + 1 < offsets.length; row++) {
      const from = Buffer.from(bytes.subarray(offsets[row]!, offsets[row + 1]!));
      const text = Buffer.from(from.toString("utf8").replaceAll("\0", ""), "utf8");
      if (!text.equals(from)) changed++;
      texts.push(text);
      moved[row + 1] = moved[row]! + text.length;
    }
    if (changed > 0)
      this.context.reportLoss(
        "character-dropped",
        name,
        "U+0000, which PostgreSQL does not allow in text, was removed",
        changed,
      );
    return { bytes: Buffer.concat(texts), offsets: moved };
  }

  private temporal({ type, bytes, offsets }: BytesColumn, c: number, name: string): WriteValue {
    const { rows, context } = this;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const put = (moment: Moment) => {
      if (type === "date") rows.int32(moment.days);
      else rows.int64(type === "time" ? BigInt(moment.micros) : totalMicros(moment));
    };
    return (row) => {
      const written = text.toString("latin1", offsets[row]!, offsets[row + 1]!);
      const moment = parseMoment(written);
      if (moment === null) {
        rows.none();
        context.reportLoss("date-out-of-range", name, `${written} is not a valid date and became null`);
        return;
      }
      if (moment.truncated) context.reportLoss("time-rounded", name, "fractions beyond microseconds were dropped");
      if (moment.shifted)
        context.reportLoss("zone-dropped", name, "a time with an offset became the same instant in UTC");
      if (moment.zoned) this.zoned[c]!++;
      else this.unzoned[c]!++;
      put(moment);
    };
  }
}

/** Writes ids, and placeholders for those to fill in. */
class IdWriter {
  private readonly missing: number[] = [];
  private least: bigint | null = null;
  private greatest: bigint | null = null;
  private ascending = true;

  constructor(
    private readonly ids: Column | null,
    private readonly type: "int32" | "int64",
    private readonly rows: RowWriter,
  ) {}

  write(row: number): void {
    const { ids, rows, type } = this;
    const isGiven = ids !== null && !isBytesColumn(ids) && ids.presence[row] === Presence.value;
    const id = isGiven ? BigInt(ids.values[row]!) : 0n;
    if (type === "int64") rows.int64(id);
    else rows.int32(Number(id));
    if (!isGiven) {
      this.missing.push(rows.size - (type === "int64" ? 8 : 4));
      return;
    }
    if (this.greatest !== null && id <= this.greatest) this.ascending = false;
    this.least = this.least === null || id < this.least ? id : this.least;
    this.greatest = this.greatest === null || id > this.greatest ? id : this.greatest;
  }

  idStatistics(): Pick<PostgisChunk, "missing" | "leastId" | "greatestId" | "ascending"> {
    const { missing, least, greatest, ascending } = this;
    const places = missing.length > 0 ? Uint32Array.from(missing) : null;
    return { missing: places, leastId: least, greatestId: greatest, ascending };
  }
}

/** Version byte of the binary jsonb format. */
const jsonbVersion = 1;

/** @throws unsupported */
export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<PostgisChunk>> {
  const design = designTable(layer, options);
  const geometry = design.geometry && new GeometryEncoder(design.geometry, context);
  const encoder = new BatchEncoder(design, options.json === "jsonb" ? jsonbVersion : -1, geometry, context);
  return { encode: (batch) => encoder.encode(batch) };
}
