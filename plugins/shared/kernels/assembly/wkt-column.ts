/**
 * Reads cells of WKT (OGC 06-103r4, clause 7) with two coordinates for each position into the columns of
 * `src/model/geometry.ts`. Whatever has to be repaired or reported, or is of a rarer type or form, is left to TypeScript.
 */
import { decimalEnd, readDouble } from "./cell-values.js";
import { cellEnd, cellStart, markAt } from "./cell-window.js";

/** Most records that are read at once; a position takes at least four bytes of the window, a ring six. */
const maxRecords: usize = 1024;
const maxPositions: usize = 16384;
const maxRings: usize = 16384;

const kinds = memory.data(1024);
const partOffsets = memory.data(4 * 1025, 4);
const ringOffsets = memory.data(4 * 16385, 4);
const positionOffsets = memory.data(4 * 16385, 4);
const xy = memory.data(16 * 16384, 8);

/** Kinds of geometries. */
const missing: i32 = 0;
const point: i32 = 1;
const lineString: i32 = 2;
const polygon: i32 = 3;
const multiLineString: i32 = 5;
const multiPolygon: i32 = 6;
/** Not a kind: the cell is left to TypeScript. */
const unknown: i32 = -1;

const space: u8 = 32;
const opening: u8 = 40;
const closing: u8 = 41;
const comma: u8 = 44;

export function geometryKindsAt(): usize {
  return kinds;
}
export function partOffsetsAt(): usize {
  return partOffsets;
}
export function ringOffsetsAt(): usize {
  return ringOffsets;
}
export function positionOffsetsAt(): usize {
  return positionOffsets;
}
export function xyAt(): usize {
  return xy;
}

let parts: usize = 0;
let rings: usize = 0;
let positions: usize = 0;
/** The next byte of the cell that is read, and its end. */
let at: usize = 0;
let end: usize = 0;

/** Whether the last call of `readGeometries` ended since there were enough positions. */
export let hasEnough = false;

/**
 * Reads geometries of cells, of each of which the mark is `step` behind the one before, until there are `enough` positions.
 * @returns the number of cells before the first that is left to TypeScript
 */
export function readGeometries(first: u32, step: u32, count: u32, enough: u32): u32 {
  parts = 0;
  rings = 0;
  positions = 0;
  hasEnough = false;
  let mark = first;
  const most = min<u32>(count, <u32>maxRecords);
  for (let n: u32 = 0; n < most; n++, mark += step) {
    const found = markAt(mark);
    at = cellStart(mark, found);
    end = cellEnd(found);
    const kind = at === end ? missing : readGeometry();
    if (kind === unknown || at !== end) return n;
    store<u8>(kinds + n, <u8>kind);
    store<u32>(partOffsets + 4 * <usize>(n + 1), <u32>parts);
    if (<u32>positions < enough) continue;
    hasEnough = true;
    return n + 1;
  }
  return most;
}

function readGeometry(): i32 {
  const kind = readKind();
  if (kind === unknown || !reads(opening)) return unknown;
  let isRead = false;
  if (kind === multiPolygon) isRead = readPolygons();
  else {
    beginPart();
    if (kind === polygon || kind === multiLineString) isRead = readRings(kind === polygon);
    else {
      const before = positions;
      isRead = readPositions(false) && (kind === lineString || positions === before + 1);
    }
  }
  return isRead ? kind : unknown;
}

/** Reads the name of a type, in capital letters. */
function readKind(): i32 {
  switch (load<u8>(at)) {
    case 76:
      return readsWord("LINESTRING") ? lineString : unknown;
    case 80:
      if (readsWord("POLYGON")) return polygon;
      return readsWord("POINT") ? point : unknown;
    default:
      if (readsWord("MULTIPOLYGON")) return multiPolygon;
      return readsWord("MULTILINESTRING") ? multiLineString : unknown;
  }
}

function readsWord(word: string): bool {
  for (let n = 0; n < word.length; n++) if (<i32>load<u8>(at + <usize>n) !== word.charCodeAt(n)) return false;
  at += <usize>word.length;
  return true;
}

function skipSpaces(): void {
  while (load<u8>(at) === space) at++;
}

/** Whether the next byte but spaces is `byte`, which is then passed. */
function reads(byte: u8): bool {
  skipSpaces();
  if (load<u8>(at) !== byte) return false;
  at++;
  return true;
}

/** Reads the sign behind a member of a list, and whether another member follows, into `hasMore`. */
let hasMore = false;
function readsSeparator(): bool {
  skipSpaces();
  const byte = load<u8>(at++);
  hasMore = byte === comma;
  return hasMore || byte === closing;
}

function readPolygons(): bool {
  do {
    if (!reads(opening)) return false;
    beginPart();
    if (!readRings(true) || !readsSeparator()) return false;
  } while (hasMore);
  return true;
}

function readRings(areClosed: bool): bool {
  do if (!reads(opening) || !readPositions(areClosed) || !readsSeparator()) return false;
  while (hasMore);
  return true;
}

/** Reads positions behind an opening bracket as a ring. */
function readPositions(areClosed: bool): bool {
  if (rings === maxRings) return false;
  const first = xy + 16 * positions;
  let target = first;
  do {
    if (at >= end || target === xy + 16 * maxPositions) return false;
    skipSpaces();
    at = decimalEnd(at);
    if (at === 0 || load<u8>(at) !== space) return false;
    store<f64>(target, readDouble);
    skipSpaces();
    at = decimalEnd(at);
    if (at === 0 || !readsSeparator()) return false;
    store<f64>(target, readDouble, 8);
    target += 16;
  } while (hasMore);
  const last = target - 16;
  if (areClosed && (load<f64>(first) !== load<f64>(last) || load<f64>(first, 8) !== load<f64>(last, 8))) return false;
  positions = (target - xy) >> 4;
  rings++;
  store<u32>(positionOffsets + 4 * rings, <u32>positions);
  store<u32>(ringOffsets + 4 * parts, <u32>rings);
  return true;
}

function beginPart(): void {
  if (parts < maxRings) parts++;
}
