import { type CodecName, compress } from "../parquet/codecs.js";
import { encodeStruct } from "../parquet/thrift-writer.js";
import { ByteBuffer, type ColumnPart, type ValueKind, valuesOf } from "./column-part.js";
import { type Bounds, boundsOf } from "./statistics.js";

const dataPage = 0;
const plainEncoding = 0;
const rleEncoding = 3;

/** A data page with its header, and what the footer says about it. */
export interface EncodedPage {
  readonly bytes: Uint8Array;
  /** Size with the header, before compression. */
  readonly uncompressed: number;
  readonly nulls: number;
  readonly bounds: Bounds;
}

/** Collects the rows of a page of a leaf column. */
export class PageBuilder {
  private readonly values = new ByteBuffer();
  private levels: Uint8Array;
  private rows = 0;

  constructor(
    private readonly kind: ValueKind,
    maxRows: number,
  ) {
    this.levels = new Uint8Array(maxRows);
  }

  /** Adds the rows `from … to` of a chunk. */
  add(part: ColumnPart, from: number, to: number): void {
    this.values.append(valuesOf(part, this.kind, from, to));
    if (part.presence) this.levels.set(part.presence.subarray(from, to), this.rows);
    else this.levels.fill(1, this.rows, this.rows + to - from);
    this.rows += to - from;
  }

  /** Ends the page and begins the next one. */
  finish(codec: CodecName): Promise<EncodedPage> {
    const { rows, kind } = this;
    const levels = this.levels.subarray(0, rows);
    let count = 0;
    for (let row = 0; row < rows; row++) count += levels[row]!;
    const values = this.values.bytes.subarray(0, this.values.at);
    const content = Buffer.concat([encodeLevels(levels, count), kind === "boolean" ? packBits(values) : values]);
    const bounds = boundsOf(kind, values);
    this.values.at = 0;
    this.rows = 0;
    return encodePage(codec, content, rows, rows - count, bounds);
  }
}

async function encodePage(
  codec: CodecName,
  content: Buffer,
  rows: number,
  nulls: number,
  bounds: Bounds,
): Promise<EncodedPage> {
  const packed = await compress(codec, content);
  const header = encodeStruct([
    [1, { i32: dataPage }],
    [2, { i32: content.length }],
    [3, { i32: packed.length }],
    [
      5,
      {
        struct: [
          [1, { i32: rows }],
          [2, { i32: plainEncoding }],
          [3, { i32: rleEncoding }],
          [4, { i32: rleEncoding }],
        ],
      },
    ],
  ]);
  return {
    bytes: Buffer.concat([header, packed]),
    uncompressed: header.length + content.length,
    nulls,
    bounds,
  };
}

function varint(value: number): number[] {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

/** Definition levels of 0 and 1: their size, then one run, or groups of eight bits. */
function encodeLevels(levels: Uint8Array, count: number): Buffer {
  const { length } = levels;
  const isRun = count === length || count === 0;
  const runs = isRun
    ? Buffer.from([...varint(length << 1), count === 0 ? 0 : 1])
    : Buffer.concat([Buffer.from(varint((Math.ceil(length / 8) << 1) | 1)), packBits(levels)]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(runs.length);
  return Buffer.concat([size, runs]);
}

function packBits(bits: Uint8Array): Buffer {
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (let i = 0; i < bits.length; i++) if (bits[i]) bytes[i >> 3]! |= 1 << (i & 7);
  return bytes;
}
