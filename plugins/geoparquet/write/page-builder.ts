import { type CodecName, compress } from "../parquet/codecs.js";
import { encodeStruct } from "../parquet/thrift-writer.js";
import { ByteBuffer, type ValueKind, valuesOf } from "./column-part.js";
import type { ParquetChunk } from "./encoder.js";
import { type Bounds, boundsOf } from "./statistics.js";

const dataPage = 0;
const plainEncoding = 0;
const rleEncoding = 3;

/** A data page, and what the footer says about it. */
export interface EncodedPage {
  readonly header: Uint8Array;
  readonly content: Uint8Array;
  /** Size with the header, before compression. */
  readonly uncompressed: number;
  readonly nulls: number;
  readonly bounds: Bounds;
}

/** Collects the rows of a page of a leaf column. */
export class PageBuilder {
  private readonly values = new ByteBuffer();
  /** Room before the values for the encoded levels: their size, the header of a run, and a bit for each row. */
  private readonly levelsRoom: number;
  private readonly levels: Uint8Array;
  private rows = 0;

  constructor(
    private readonly kind: ValueKind,
    maxRows: number,
  ) {
    this.levels = new Uint8Array(maxRows);
    this.levelsRoom = 16 + Math.ceil(maxRows / 8);
    this.values.at = this.levelsRoom;
  }

  /** Adds the rows `from … to` of the part of a chunk. */
  add({ bytes, parts }: ParquetChunk, leaf: number, from: number, to: number): void {
    const part = parts[leaf]!;
    this.values.append(valuesOf(bytes, part, this.kind, from, to));
    if (part.presence) this.levels.set(part.presence.subarray(from, to), this.rows);
    else this.levels.fill(1, this.rows, this.rows + to - from);
    this.rows += to - from;
  }

  /** Ends the page and begins the next one. */
  finish(codec: CodecName): Promise<EncodedPage> {
    const { rows, kind, values, levelsRoom } = this;
    const levels = this.levels.subarray(0, rows);
    let count = 0;
    for (let row = 0; row < rows; row++) count += levels[row]!;
    const bounds = boundsOf(kind, values.bytes.subarray(levelsRoom, values.at));
    const content = this.encodeContent(encodeLevels(levels, count));
    values.at = levelsRoom;
    this.rows = 0;
    return encodePage(codec, content, rows, rows - count, bounds);
  }

  /** The levels and the values behind them, valid until the next page begins. */
  private encodeContent(levels: Buffer): Uint8Array {
    const { bytes, at } = this.values;
    const { kind, levelsRoom } = this;
    if (kind === "boolean") return Buffer.concat([levels, packBits(bytes.subarray(levelsRoom, at))]);
    const from = levelsRoom - levels.length;
    bytes.set(levels, from);
    return bytes.subarray(from, at);
  }
}

async function encodePage(
  codec: CodecName,
  plain: Uint8Array,
  rows: number,
  nulls: number,
  bounds: Bounds,
): Promise<EncodedPage> {
  const content = await compress(codec, plain);
  const header = encodeStruct([
    [1, { i32: dataPage }],
    [2, { i32: plain.length }],
    [3, { i32: content.length }],
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
  return { header, content, uncompressed: header.length + plain.length, nulls, bounds };
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
