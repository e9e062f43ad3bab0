import { inflateSync } from "node:zlib";
import type { GridFileReader } from "./grid-file-reader.js";
import { decodeLzw } from "./tiff-lzw.js";
import { undoPredictor } from "./tiff-predictor.js";

/** Size in bytes of each TIFF type; 16 to 18 are BigTIFF. */
const typeSizes: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
};

export const tiffTags = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripByteCounts: 279,
  planarConfiguration: 284,
  predictor: 317,
  tileWidth: 322,
  tileLength: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  sampleFormat: 339,
  pixelScale: 33550,
  tiePoints: 33922,
  transformation: 34264,
  geoKeys: 34735,
  gdalMetadata: 42112,
  gdalNoData: 42113,
} as const;

interface DirectoryEntry {
  readonly type: number;
  readonly count: number;
  readonly view: DataView;
}

/** An image file directory: the tags of one image. */
export class TiffDirectory {
  constructor(
    private readonly entries: ReadonlyMap<number, DirectoryEntry>,
    private readonly isLittleEndian: boolean,
  ) {}

  has(which: number): boolean {
    return this.entries.has(which);
  }

  getNumbers(which: number): number[] {
    const entry = this.entries.get(which);
    if (!entry) return [];
    const { type, count, view } = entry;
    return Array.from({ length: count }, (_, index) =>
      readNumber(view, index * typeSizes[type]!, type, this.isLittleEndian),
    );
  }

  getNumber(which: number, otherwise: number): number {
    return this.getNumbers(which)[0] ?? otherwise;
  }

  getText(which: number): string {
    const { view } = this.entries.get(which) ?? {};
    if (!view) return "";
    return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("utf8").replace(/\0.*$/s, "");
  }
}

function readNumber(view: DataView, at: number, type: number, little: boolean): number {
  switch (type) {
    case 3:
      return view.getUint16(at, little);
    case 8:
      return view.getInt16(at, little);
    case 4:
    case 13:
      return view.getUint32(at, little);
    case 9:
      return view.getInt32(at, little);
    case 11:
      return view.getFloat32(at, little);
    case 12:
      return view.getFloat64(at, little);
    case 16:
    case 18:
      return Number(view.getBigUint64(at, little));
    case 17:
      return Number(view.getBigInt64(at, little));
    case 6:
      return view.getInt8(at);
    default:
      return view.getUint8(at);
  }
}

export interface Tiff {
  readonly isLittleEndian: boolean;
  readonly directories: readonly TiffDirectory[];
}

export function isTiff(head: DataView): boolean {
  if (head.byteLength < 16) return false;
  const order = head.getUint16(0);
  return (order === 0x4949 || order === 0x4d4d) && [42, 43].includes(head.getUint16(2, order === 0x4949));
}

/**
 * Reads all directories of a TIFF (Adobe, TIFF 6.0, section 2) or BigTIFF.
 * @throws grid-invalid
 */
export async function readTiff(file: GridFileReader, most: number): Promise<Tiff> {
  const head = await file.read(0, 16, "its header");
  const isLittleEndian = head.getUint16(0) === 0x4949;
  const big = head.getUint16(2, isLittleEndian) === 43;
  const directories: TiffDirectory[] = [];
  const visited = new Set<number>();
  let at = big ? Number(head.getBigUint64(8, isLittleEndian)) : head.getUint32(4, isLittleEndian);
  while (at !== 0) {
    if (visited.has(at)) throw file.createInvalidGridError("its directories form a loop", at);
    if (visited.size >= most) throw file.createInvalidGridError(`it has more than ${most} parts`, at);
    visited.add(at);
    const read = await readDirectory(file, at, big, isLittleEndian);
    directories.push(read.directory);
    at = read.next;
  }
  if (directories.length === 0) throw file.createInvalidGridError("it has no directory");
  return { isLittleEndian, directories };
}

async function readDirectory(
  file: GridFileReader,
  at: number,
  big: boolean,
  little: boolean,
): Promise<{ directory: TiffDirectory; next: number }> {
  const [countBytes, entryBytes, inlineBytes] = big ? [8, 20, 8] : [2, 12, 4];
  const head = await file.read(at, countBytes, "a directory");
  const count = big ? Number(head.getBigUint64(0, little)) : head.getUint16(0, little);
  if (count > 4096) throw file.createInvalidGridError(`a directory has ${count} entries`, at);
  const body = await file.read(at + countBytes, count * entryBytes + inlineBytes, "a directory");
  const known = new Set<number>(Object.values(tiffTags));
  const entries = new Map<number, DirectoryEntry>();
  for (let i = 0; i < count; i++) {
    const start = i * entryBytes;
    const which = body.getUint16(start, little);
    const type = body.getUint16(start + 2, little);
    const size = typeSizes[type];
    if (!known.has(which) || size === undefined) continue;
    const values = big ? Number(body.getBigUint64(start + 4, little)) : body.getUint32(start + 4, little);
    const inline = start + entryBytes - inlineBytes;
    const where = big ? Number(body.getBigUint64(inline, little)) : body.getUint32(inline, little);
    const bytes = values * size;
    const view =
      bytes <= inlineBytes
        ? new DataView(body.buffer, body.byteOffset + inline, bytes)
        : await file.read(where, bytes, `the values of tag ${which}`);
    entries.set(which, { type, count: values, view });
  }
  const last = count * entryBytes;
  const next = big ? Number(body.getBigUint64(last, little)) : body.getUint32(last, little);
  return { directory: new TiffDirectory(entries, little), next };
}

/** The layout of samples in the blocks of an image (strips or tiles). */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  readonly bytesPerSample: number;
  readonly readSample: (view: DataView, at: number, little: boolean) => number;
  readonly isPlanar: boolean;
  readonly blockWidth: number;
  readonly blockHeight: number;
  readonly offsets: readonly number[];
  readonly byteCounts: readonly number[];
  readonly isTiled: boolean;
  readonly compression: number;
  readonly predictor: number;
}

/** Readers by SampleFormat (1 unsigned, 2 signed, 3 floating point) and bits. */
const sampleReaders: Readonly<Record<string, Raster["readSample"]>> = {
  "1 16": (view, at, little) => view.getUint16(at, little),
  "2 16": (view, at, little) => view.getInt16(at, little),
  "1 32": (view, at, little) => view.getUint32(at, little),
  "2 32": (view, at, little) => view.getInt32(at, little),
  "3 32": (view, at, little) => view.getFloat32(at, little),
  "3 64": (view, at, little) => view.getFloat64(at, little),
};

/** Maximum size of a decompressed block in bytes. */
const maxBlockBytes = 2 ** 27;

/** @throws grid-invalid */
export function readRaster(file: GridFileReader, directory: TiffDirectory): Raster {
  const width = directory.getNumber(tiffTags.width, 0);
  const height = directory.getNumber(tiffTags.height, 0);
  const samplesPerPixel = directory.getNumber(tiffTags.samplesPerPixel, 1);
  const bits = directory.getNumbers(tiffTags.bitsPerSample);
  const formats = directory.has(tiffTags.sampleFormat) ? directory.getNumbers(tiffTags.sampleFormat) : [1];
  if (!(samplesPerPixel >= 1 && samplesPerPixel <= 16))
    throw file.createInvalidGridError(`it has ${samplesPerPixel} values a node`);
  const mixed = [...bits, bits[0]].some((size) => size !== bits[0]) || formats.some((kind) => kind !== formats[0]);
  const readSample = sampleReaders[`${formats[0]} ${bits[0]}`];
  if (!readSample || mixed)
    throw file.createInvalidGridError(`its sample format is not supported (${formats}, ${bits} bits)`);
  const isTiled = directory.has(tiffTags.tileWidth);
  const blockWidth = isTiled ? directory.getNumber(tiffTags.tileWidth, 0) : width;
  const blockHeight = isTiled
    ? directory.getNumber(tiffTags.tileLength, 0)
    : Math.min(directory.getNumber(tiffTags.rowsPerStrip, height), height);
  const isPlanar = directory.getNumber(tiffTags.planarConfiguration, 1) === 2;
  const bytesPerSample = bits[0]! / 8;
  const blockBytes = blockWidth * blockHeight * bytesPerSample * (isPlanar ? 1 : samplesPerPixel);
  if (!(blockBytes > 0 && blockBytes <= maxBlockBytes))
    throw file.createInvalidGridError(`its blocks have ${blockWidth} by ${blockHeight} nodes`);
  const blocks = Math.ceil(width / blockWidth) * Math.ceil(height / blockHeight) * (isPlanar ? samplesPerPixel : 1);
  const offsets = directory.getNumbers(isTiled ? tiffTags.tileOffsets : tiffTags.stripOffsets);
  const byteCounts = directory.getNumbers(isTiled ? tiffTags.tileByteCounts : tiffTags.stripByteCounts);
  if (offsets.length !== blocks || byteCounts.length !== blocks)
    throw file.createInvalidGridError(`it has ${offsets.length} blocks where ${blocks} are needed`);
  const compression = directory.getNumber(tiffTags.compression, 1);
  if (![1, 5, 8, 32946].includes(compression))
    throw file.createInvalidGridError(
      `its compression ${compression} is not supported; only uncompressed, LZW and Deflate are`,
    );
  const predictor = directory.getNumber(tiffTags.predictor, 1);
  if (![1, 2, 3].includes(predictor)) throw file.createInvalidGridError(`its predictor ${predictor} is not supported`);
  return {
    width,
    height,
    samplesPerPixel,
    bytesPerSample,
    readSample,
    isPlanar,
    blockWidth,
    blockHeight,
    offsets,
    byteCounts,
    isTiled,
    compression,
    predictor,
  };
}

/**
 * Calls back once for every value of one sample: column, row from the top, number.
 * @throws grid-invalid
 */
export async function readSamples(
  file: GridFileReader,
  raster: Raster,
  little: boolean,
  wanted: readonly number[],
  take: (which: number, column: number, row: number, value: number) => void,
): Promise<void> {
  const { width, height, samplesPerPixel, isPlanar, blockWidth, blockHeight, bytesPerSample, readSample } = raster;
  const across = Math.ceil(width / blockWidth);
  const down = Math.ceil(height / blockHeight);
  for (const plane of isPlanar ? wanted : [0]) {
    const inBlock = isPlanar ? 1 : samplesPerPixel;
    for (let block = 0; block < across * down; block++) {
      const left = (block % across) * blockWidth;
      const top = Math.floor(block / across) * blockHeight;
      const rows = Math.min(blockHeight, height - top);
      const columns = Math.min(blockWidth, width - left);
      const index = plane * across * down + block;
      const { view, order } = await readBlock(file, raster, index, rows, little);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const node = (row * blockWidth + column) * inBlock;
          for (let k = 0; k < wanted.length; k++) {
            if (isPlanar && wanted[k] !== plane) continue;
            const at = (node + (isPlanar ? 0 : wanted[k]!)) * bytesPerSample;
            take(k, left + column, top + row, readSample(view, at, order));
          }
        }
      }
    }
  }
}

/** Reads and decompresses a block; returns whether its numbers are little-endian. */
async function readBlock(
  file: GridFileReader,
  raster: Raster,
  index: number,
  rows: number,
  isLittleEndian: boolean,
): Promise<{ view: DataView; order: boolean }> {
  const { blockWidth, blockHeight, samplesPerPixel, isPlanar, bytesPerSample, compression, predictor, isTiled } =
    raster;
  const rowBytes = blockWidth * bytesPerSample * (isPlanar ? 1 : samplesPerPixel);
  const needed = rowBytes * (isTiled ? blockHeight : rows);
  const offset = raster.offsets[index]!;
  const packed = await file.read(offset, raster.byteCounts[index]!, `its block ${index}`);
  const bytes = new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength);
  let unpacked: Uint8Array;
  try {
    unpacked = decompress(bytes, compression, rowBytes * blockHeight);
  } catch (error) {
    throw file.createInvalidGridError(`its block ${index} cannot be decompressed: ${(error as Error).message}`, offset);
  }
  if (unpacked.byteLength < needed)
    throw file.createInvalidGridError(
      `its block ${index} holds ${unpacked.byteLength} bytes where ${needed} are needed`,
      offset,
    );
  const view = new DataView(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength);
  if (predictor === 1) return { view, order: isLittleEndian };
  return undoPredictor(view, {
    predictor,
    rowBytes,
    stride: isPlanar ? 1 : samplesPerPixel,
    bytesPerSample,
    isLittleEndian,
  });
}

function decompress(bytes: Uint8Array, compression: number, most: number): Uint8Array {
  if (compression === 1) return bytes;
  if (compression === 5) return decodeLzw(bytes, most);
  const unpacked = inflateSync(bytes, { maxOutputLength: most });
  return new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength);
}
