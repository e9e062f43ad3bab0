import {
  acquireBuffer,
  type Column,
  isBytesColumn,
  isLittleEndian,
  Presence,
  releaseBuffer,
} from "../../../src/model/index.js";
import { integerSerialType, varintSize, writeInteger, writeSmallVarint } from "./record.js";

const nullSerial = 0;
const doubleSerial = 7;
const [zeroSerial, oneSerial] = [8, 9];

/** A geometry blob: the first `length` bytes. */
export interface GeometryBlob {
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** Content size of numbers by serial type. */
const contentBytesBySerial = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const;

/** Encodes rows as SQLite records (file format, 2.1) in one buffer. */
export class RecordEncoder {
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 16);
  private view = new DataView(this.bytes.buffer);
  private at = 0;
  private readonly serials: number[] = [];
  private columns: readonly Column[] = [];
  private halves: (Int32Array | null)[] = [];
  /** Number of NaN values by column, which become null: SQLite has no NaN. */
  nanCounts: number[] = [];

  /** @param hasGeometry whether a blob or null follows the null of the rowid */
  constructor(private readonly hasGeometry: boolean) {}

  /** Starts a new chunk with these columns, one for each field. */
  begin(columns: readonly Column[]): void {
    this.at = 0;
    this.allocate(this.bytes.length);
    this.columns = columns;
    this.halves = columns.map((column) => (column.type === "int64" ? int32HalvesOf(column.values) : null));
    this.nanCounts = columns.map(() => 0);
  }

  get size(): number {
    return this.at;
  }

  add(row: number, blob: GeometryBlob | null): void {
    const { serials, columns } = this;
    let n = 0;
    serials[n++] = nullSerial;
    let body = 0;
    if (this.hasGeometry) {
      serials[n++] = blob ? 12 + 2 * blob.length : nullSerial;
      body += blob ? blob.length : 0;
    }
    for (let c = 0; c < columns.length; c++) {
      const serial = this.serialAt(c, row);
      serials[n++] = serial;
      body += serial < 12 ? contentBytesBySerial[serial]! : (serial - 12) >>> 1;
    }
    let head = 1;
    for (let s = 0; s < n; s++) head += serials[s]! < 0x80 ? 1 : varintSize(serials[s]!);
    // The header size includes itself.
    if (head > 0x7f) head += varintSize(head + 1) - 1;
    this.reserve(head + body);
    let { at } = this;
    at = writeSmallVarint(this.bytes, at, head);
    for (let s = 0; s < n; s++) at = writeSmallVarint(this.bytes, at, serials[s]!);
    if (blob && this.hasGeometry) at = this.copy(blob.bytes, 0, blob.length, at);
    const first = this.hasGeometry ? 2 : 1;
    for (let c = 0; c < columns.length; c++) at = this.put(c, row, serials[first + c]!, at);
    this.at = at;
  }

  private serialAt(c: number, row: number): number {
    const column = this.columns[c]!;
    if (column.presence[row] !== Presence.value) return nullSerial;
    switch (column.type) {
      case "boolean":
        return column.values[row] === 1 ? oneSerial : zeroSerial;
      case "int32": {
        const value = column.values[row]!;
        return integerSerialType(value >> 31, value);
      }
      case "int64": {
        const halves = this.halves[c]!;
        return integerSerialType(halves[2 * row + 1]!, halves[2 * row]!);
      }
      case "double":
        if (!Number.isNaN(column.values[row]!)) return doubleSerial;
        this.nanCounts[c]!++;
        return nullSerial;
      default: {
        const size = column.offsets[row + 1]! - column.offsets[row]!;
        return 2 * size + (column.type === "binary" ? 12 : 13);
      }
    }
  }

  private put(c: number, row: number, serial: number, at: number): number {
    const column = this.columns[c]!;
    if (serial === nullSerial) return at;
    if (isBytesColumn(column)) {
      const from = column.offsets[row]!;
      const to = column.offsets[row + 1]!;
      return this.copy(column.bytes, from, to, at);
    }
    if (column.type === "double") {
      this.view.setFloat64(at, column.values[row]!);
      return at + 8;
    }
    const halves = this.halves[c];
    if (halves) return writeInteger(this.view, at, serial, halves[2 * row + 1]!, halves[2 * row]!);
    const value = Number(column.values[row]!);
    return writeInteger(this.view, at, serial, value >> 31, value);
  }

  /** Copies `source[from … to]` to `at`. @returns the next offset */
  private copy(source: Uint8Array, from: number, to: number, at: number): number {
    const { bytes } = this;
    // For short values a loop is faster than `set`.
    if (to - from < 64) for (let k = from, into = at; k < to; k++, into++) bytes[into] = source[k]!;
    else bytes.set(source.subarray(from, to), at);
    return at + to - from;
  }

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const { bytes } = this;
    this.allocate(Math.max(this.at + size, 2 * bytes.length));
    this.bytes.set(bytes.subarray(0, this.at));
    releaseBuffer(bytes.buffer);
  }

  private allocate(size: number): void {
    this.bytes = acquireBuffer(size);
    this.view = new DataView(this.bytes.buffer);
  }

  /** The records, in memory that the next `begin` reuses. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }
}

/** The numbers as 32-bit halves, low first; a view on little-endian machines. */
export function int32HalvesOf(values: BigInt64Array): Int32Array {
  if (isLittleEndian && values.byteOffset % 8 === 0)
    return new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const halves = new Int32Array(2 * values.length);
  values.forEach((value, i) => {
    halves[2 * i] = Number(BigInt.asIntN(32, value));
    halves[2 * i + 1] = Number(value >> 32n);
  });
  return halves;
}
