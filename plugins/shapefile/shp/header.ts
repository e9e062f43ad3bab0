import type { Extent } from "../../../src/model/index.js";

/** Bytes before the first record of a .shp and the first entry of a .shx. */
export const headerBytes = 100;
const fileCode = 9994;
const version = 1000;

/** The first 100 bytes of a .shp or .shx (Technical Description, "The Main File Header"). */
export interface ShapeHeader {
  /** The file's length by its header, in bytes. */
  readonly declaredBytes: number;
  readonly shapeType: number;
  /** Minimum x, minimum y, maximum x, maximum y. */
  readonly box: Extent;
}

/** Whether the bytes start like a .shp or .shx. */
export function isShapeHeader(head: Buffer): boolean {
  return head.length >= headerBytes && head.readInt32BE(0) === fileCode && head.readInt32LE(28) === version;
}

/** Whether the bytes are a truncated header. */
export function isTruncatedHeader(head: Buffer): boolean {
  const code = Buffer.alloc(4);
  code.writeInt32BE(fileCode);
  return head.length > 0 && head.length < headerBytes && code.subarray(0, head.length).equals(head.subarray(0, 4));
}

export function readShapeHeader(head: Buffer): ShapeHeader | null {
  // No version but 1000 exists, but some writers omit the number.
  if (head.length < headerBytes || head.readInt32BE(0) !== fileCode) return null;
  return {
    // Files between 2 and 4 GiB wrap the sign of the 16-bit words.
    declaredBytes: head.readUInt32BE(24) * 2,
    shapeType: head.readInt32LE(32),
    box: [head.readDoubleLE(36), head.readDoubleLE(44), head.readDoubleLE(52), head.readDoubleLE(60)],
  };
}

/** Minimum and maximum of one dimension; inverted if there is no value. */
export interface ValueRange {
  least: number;
  greatest: number;
}

export const createEmptyRange = (): ValueRange => ({
  least: Number.POSITIVE_INFINITY,
  greatest: Number.NEGATIVE_INFINITY,
});

/**
 * The 100-byte header of a .shp or .shx of `fileBytes` bytes; dimensions without a value are 0, as the description
 * requires.
 */
export function writeShapeHeader(
  fileBytes: number,
  shapeType: number,
  ranges: readonly [ValueRange, ValueRange, ValueRange, ValueRange],
) {
  const header = Buffer.alloc(headerBytes);
  header.writeInt32BE(fileCode, 0);
  header.writeInt32BE(fileBytes / 2, 24);
  header.writeInt32LE(version, 28);
  header.writeInt32LE(shapeType, 32);
  const known = (range: ValueRange) => (range.least > range.greatest ? { least: 0, greatest: 0 } : range);
  const [x, y, z, m] = ranges.map(known) as [ValueRange, ValueRange, ValueRange, ValueRange];
  const numbers = [x.least, y.least, x.greatest, y.greatest, z.least, z.greatest, m.least, m.greatest];
  numbers.forEach((number, i) => {
    header.writeDoubleLE(number, 36 + 8 * i);
  });
  return header;
}
