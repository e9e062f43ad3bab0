/** Bodies of answers as they were before they were compressed for their way (RFC 9110, 8.4). */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";

/** Bytes of an answer; a text of Node.js can have no more than 2^29 characters. */
export const mostBytes = 256 * 1024 * 1024;

/** Bytes of an answer that says what is wrong. */
export const mostErrorBytes = 1024 * 1024;

/** Encodings on top of one another: more are no use, and small bytes can grow at each. */
const mostEncodings = 4;

export class TooLarge extends Error {
  override readonly name = "TooLarge";
  constructor(most: number) {
    super(`the answer has more than ${most} bytes`);
  }
}

/** JSON between systems is UTF-8 (RFC 8259, 8.1); other bytes would be read as other characters. */
export class NotUtf8 extends Error {
  override readonly name = "NotUtf8";
  constructor(cause: unknown) {
    super("the answer is not in UTF-8", { cause });
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

/** @param most bytes @throws TooLarge; what node:zlib throws */
export async function decoded(
  body: Buffer,
  headers: { readonly "content-encoding"?: string | undefined },
  most: number = mostBytes,
): Promise<Buffer> {
  const encodings = headers["content-encoding"]?.toLowerCase().split(",") ?? [];
  let bytes = body;
  if (encodings.length > mostEncodings) throw new TooLarge(most);
  // The last one was applied last. An answer without a body (304) tells what one would have had.
  for (const encoding of bytes.length > 0 ? encodings.reverse() : []) {
    const decode = decoders[encoding.trim()];
    if (decode)
      bytes = await decode(bytes, { chunkSize, maxOutputLength: most }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "ERR_BUFFER_TOO_LARGE" ? new TooLarge(most) : error;
      });
  }
  return bytes;
}
