import { acquireBuffer } from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/index.js";
import type { ShapeBytes } from "./decode.js";
import { headerBytes } from "./header.js";
import type { ShapeSplit } from "./splits.js";

/** The contents of a split's shapes, and the position of each in the .shp. */
export interface ShapeContents extends ShapeBytes {
  /** Offset in the .shp of the record of each row. */
  readonly offsets: Float64Array;
  /** Rows whose record is not within the file; their `starts` is -1. */
  readonly beyond: Set<number>;
  /** The number in each record's header; 0 for a row without one. */
  readonly numbers: Int32Array;
  /** Whether lengths in record headers differ from those in the .shx, which took precedence. */
  lengthsDiffer: boolean;
}

const recordHeaderBytes = 8;
/** Largest gap between records that are not in sequence that one read may include. */
const maxGapBytes = 16_384;

const emptyContents = (count: number): ShapeContents => ({
  bytes: Buffer.alloc(0),
  starts: new Int32Array(count).fill(-1),
  ends: new Int32Array(count),
  offsets: new Float64Array(count),
  beyond: new Set(),
  numbers: new Int32Array(count),
  lengthsDiffer: false,
});

/** Reads the shapes of a split: one read for a run, as few as possible for records out of sequence. */
export async function readContents(split: ShapeSplit, shp: SourceFile, shx: SourceFile | null): Promise<ShapeContents> {
  if (split.kind === "rows") return emptyContents(split.count);
  if (split.kind === "run") {
    const run = await readRun(split, shp);
    if (run !== null || shx === null) return run ?? emptyContents(split.count);
    const contents = await readIndexed(split, shp, shx);
    // In a truncated file, the lengths lead beyond its end.
    return { ...contents, lengthsDiffer: split.indexed && contents.beyond.size === 0 };
  }
  return readIndexed(split, shp, shx!);
}

/** Follows the records of a run by their own lengths; null if these do not lead from the first record to the last. */
async function readRun(split: ShapeSplit, shp: SourceFile): Promise<ShapeContents | null> {
  const { count, from, to, indexed } = split;
  const bytes = await shp.read(from, to - from, acquireBuffer(to - from));
  const contents = { ...emptyContents(count), bytes };
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + recordHeaderBytes > bytes.length) return null;
    const length = bytes.readInt32BE(at + 4) * 2;
    const last = i === count - 1;
    if (!last && (length < 0 || at + recordHeaderBytes + length > bytes.length)) return null;
    // The index determines the end of the run: lengths that lead elsewhere are wrong, unless the file is truncated.
    if (last && indexed && at + recordHeaderBytes + length !== bytes.length && bytes.length === to - from) return null;
    contents.numbers[i] = bytes.readInt32BE(at);
    contents.starts[i] = at + recordHeaderBytes;
    // The last record of a run ends with the run, regardless of its own length.
    contents.ends[i] = last ? bytes.length : at + recordHeaderBytes + length;
    contents.offsets[i] = from + at;
    if (last && at + recordHeaderBytes + length > bytes.length && from + bytes.length >= shp.size)
      contents.beyond.add(i);
    at += recordHeaderBytes + length;
  }
  return contents;
}

async function readIndexed(split: ShapeSplit, shp: SourceFile, shx: SourceFile): Promise<ShapeContents> {
  const { first, count } = split;
  const entries = await shx.read(headerBytes + 8 * first, 8 * count);
  const contents = emptyContents(count);
  const wanted: { row: number; from: number; to: number }[] = [];
  for (let row = 0; row < count; row++) {
    const from = entries.readUInt32BE(8 * row) * 2;
    const to = from + recordHeaderBytes + entries.readUInt32BE(8 * row + 4) * 2;
    contents.offsets[row] = from;
    if (from < headerBytes && to > recordHeaderBytes) contents.beyond.add(row);
    else if (from >= headerBytes && from + recordHeaderBytes >= shp.size) contents.beyond.add(row);
    else if (from >= headerBytes) wanted.push({ row, from, to: Math.min(to, shp.size) });
    if (to > shp.size) contents.beyond.add(row);
  }
  wanted.sort((a, b) => a.from - b.from);
  const blocks: Buffer[] = [];
  let size = 0;
  for (let i = 0; i < wanted.length; ) {
    const from = wanted[i]!.from;
    let to = wanted[i]!.to;
    let next = i + 1;
    for (; next < wanted.length && wanted[next]!.from <= to + maxGapBytes; next++) to = Math.max(to, wanted[next]!.to);
    const block = await shp.read(from, to - from);
    for (; i < next; i++) {
      const { row, from: start, to: end } = wanted[i]!;
      contents.starts[row] = size + start - from + recordHeaderBytes;
      contents.ends[row] = size + end - from;
      if (start + recordHeaderBytes <= from + block.length) contents.numbers[row] = block.readInt32BE(start - from);
    }
    blocks.push(block);
    size += block.length;
  }
  return { ...contents, bytes: blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks) };
}
