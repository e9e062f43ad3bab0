import { borrow } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/index.js";
import type { ShapeBytes } from "./shp-decode.js";
import { headerBytes } from "./shp-header.js";
import type { ShapeSplit } from "./shp-splits.js";

/** The contents of a split's shapes, and where each stands in the .shp. */
export interface Contents extends ShapeBytes {
  /** Byte of the .shp where the record of each row starts. */
  readonly places: Float64Array;
  /** Rows whose record does not lie within the file: `starts` is -1 for them. */
  readonly beyond: Set<number>;
}

const recordHead = 8;
/** Records out of order are read together where no more than this lies between them. */
const gapBytes = 16_384;

const emptyContents = (count: number): Contents => ({
  bytes: Buffer.alloc(0),
  starts: new Int32Array(count).fill(-1),
  ends: new Int32Array(count),
  places: new Float64Array(count),
  beyond: new Set(),
});

/** Reads the shapes of a split: one read for a run, as few as possible for records out of order. */
export async function readContents(split: ShapeSplit, shp: SourceFile, shx: SourceFile | null): Promise<Contents> {
  if (split.kind === "rows") return emptyContents(split.count);
  if (split.kind === "run") {
    const run = await readRun(split, shp);
    if (run !== null || shx === null) return run ?? emptyContents(split.count);
  }
  return readIndexed(split, shp, shx!);
}

/** The records of a run by their own lengths; null where these do not lead from the first record to the last. */
async function readRun(split: ShapeSplit, shp: SourceFile): Promise<Contents | null> {
  const { first: _, count, from, to } = split;
  const bytes = await shp.read(from, to - from, borrow(to - from));
  const contents = { ...emptyContents(count), bytes };
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + recordHead > bytes.length) return null;
    const length = bytes.readInt32BE(at + 4) * 2;
    const last = i === count - 1;
    if (!last && (length < 0 || at + recordHead + length > bytes.length)) return null;
    contents.starts[i] = at + recordHead;
    // The last record of a run ends where the run does, whatever its own length says.
    contents.ends[i] = last ? bytes.length : at + recordHead + length;
    contents.places[i] = from + at;
    if (last && at + recordHead + length > bytes.length && from + bytes.length >= shp.size) contents.beyond.add(i);
    at += recordHead + length;
  }
  return contents;
}

async function readIndexed(split: ShapeSplit, shp: SourceFile, shx: SourceFile): Promise<Contents> {
  const { first, count } = split;
  const entries = await shx.read(headerBytes + 8 * first, 8 * count);
  const contents = emptyContents(count);
  const wanted: { row: number; from: number; to: number }[] = [];
  for (let row = 0; row < count; row++) {
    const from = entries.readUInt32BE(8 * row) * 2;
    const to = from + recordHead + entries.readUInt32BE(8 * row + 4) * 2;
    contents.places[row] = from;
    if (from < headerBytes && to > recordHead) contents.beyond.add(row);
    else if (from >= headerBytes && from + recordHead >= shp.size) contents.beyond.add(row);
    else if (from >= headerBytes) wanted.push({ row, from, to: Math.min(to, shp.size) });
    if (to > shp.size) contents.beyond.add(row);
  }
  wanted.sort((a, b) => a.from - b.from);
  const pieces: Buffer[] = [];
  let size = 0;
  for (let i = 0; i < wanted.length; ) {
    const from = wanted[i]!.from;
    let to = wanted[i]!.to;
    let next = i + 1;
    for (; next < wanted.length && wanted[next]!.from <= to + gapBytes; next++) to = Math.max(to, wanted[next]!.to);
    const piece = await shp.read(from, to - from);
    for (; i < next; i++) {
      const { row, from: start, to: end } = wanted[i]!;
      contents.starts[row] = size + start - from + recordHead;
      contents.ends[row] = size + end - from;
    }
    pieces.push(piece);
    size += piece.length;
  }
  return { ...contents, bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces) };
}
