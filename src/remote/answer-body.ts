/** Bodies of answers as they were before they were compressed for their way (RFC 9110, 8.4). */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";

/** Bytes of an answer; a text of Node.js can have no more than 2^29 characters. */
export const mostBytes = 256 * 1024 * 1024;

export class TooLarge extends Error {
  override readonly name = "TooLarge";
  constructor() {
    super(`the answer has more than ${mostBytes} bytes`);
  }
}

/** Bytes that are unpacked at once: every piece is a way to another thread and back. */
const chunkSize = 256 * 1024;

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decode>> = {
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  "x-gzip": promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
};

/** For Accept-Encoding. */
export const knownEncodings = "br, gzip, deflate";

/** @throws TooLarge; what node:zlib throws */
export async function decoded(
  body: Buffer,
  headers: { readonly "content-encoding"?: string | undefined },
): Promise<Buffer> {
  const encodings = headers["content-encoding"]?.toLowerCase().split(",") ?? [];
  let bytes = body;
  // The last one was applied last. An answer without a body (304) tells what one would have had.
  for (const encoding of bytes.length > 0 ? encodings.reverse() : []) {
    const decode = decoders[encoding.trim()];
    if (decode) bytes = await decode(bytes, { chunkSize, maxOutputLength: mostBytes }).catch(tooLarge);
  }
  return bytes;
}

function tooLarge(error: unknown): never {
  throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? new TooLarge() : error;
}
