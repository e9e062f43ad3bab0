import { promisify } from "node:util";
import zlib from "node:zlib";
import { decompress as decompressZstd } from "fzstd";
import { decompressLz4, decompressLz4Raw } from "hyparquet-compressors";
import { snappyUncompressor } from "hysnappy";
import { SnappyCompressor } from "./snappy-compressor.js";

/** The codecs that are written, by the values of the option, with their numbers in the format. */
export const codecNumbers = { none: 0, snappy: 1, gzip: 2, brotli: 4, zstd: 6 } as const;
export type CodecName = keyof typeof codecNumbers;

/** Zstandard is part of Node 22.15 and later. */
interface ZstdFunctions {
  zstdCompress?(bytes: Uint8Array, callback: (error: Error | null, result: Buffer) => void): void;
  zstdDecompressSync?(bytes: Uint8Array, options?: { maxOutputLength?: number }): Buffer;
}
const { zstdCompress, zstdDecompressSync } = zlib as ZstdFunctions;

export const canCompressZstd = zstdCompress !== undefined;

const gzipLevel = 4;
const brotliQuality = 4;

let snappyCompressor: SnappyCompressor | undefined;
let snappyUncompress: ((bytes: Uint8Array, size: number) => Uint8Array) | null = null;

/** Compresses bytes, on a thread of the pool where Node has the codec. The bytes may change once this has returned. */
export async function compress(codec: CodecName, bytes: Uint8Array): Promise<Uint8Array> {
  switch (codec) {
    case "snappy":
      snappyCompressor ??= new SnappyCompressor();
      return snappyCompressor.compress(bytes);
    case "gzip":
      return promisify(zlib.gzip)(Buffer.from(bytes), { level: gzipLevel });
    case "brotli":
      return promisify(zlib.brotliCompress)(Buffer.from(bytes), {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: brotliQuality },
      });
    case "zstd":
      return promisify(zstdCompress!)(Buffer.from(bytes));
    default:
      return Buffer.from(bytes);
  }
}

/** Decompresses a page of a known size; the caller checks the size of the result. @throws Error if it is damaged */
export function decompress(codec: string, bytes: Uint8Array, size: number): Uint8Array {
  if (codec === "UNCOMPRESSED") return bytes;
  if (size === 0) return new Uint8Array();
  const limit = { maxOutputLength: size };
  switch (codec) {
    case "SNAPPY":
      return decompressSnappy(bytes, size);
    case "GZIP":
      return zlib.gunzipSync(bytes, limit);
    case "BROTLI":
      return zlib.brotliDecompressSync(bytes, limit);
    case "ZSTD":
      // Without a buffer for the result, which fzstd would convert to text to compare it with 1.
      return zstdDecompressSync ? zstdDecompressSync(bytes, limit) : decompressZstd(bytes);
    case "LZ4":
      return decompressLz4(bytes, size);
    case "LZ4_RAW":
      return decompressLz4Raw(bytes, size);
    default:
      throw new UnsupportedParquet(`the compression ${codec}`);
  }
}

function decompressSnappy(bytes: Uint8Array, size: number): Uint8Array {
  snappyUncompress ??= snappyUncompressor();
  try {
    return snappyUncompress(bytes, size);
  } catch (error) {
    // The memory of the module is undefined after a failure.
    snappyUncompress = null;
    throw error;
  }
}

/** A part of the format that is not supported. */
export class UnsupportedParquet extends Error {}
