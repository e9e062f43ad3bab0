/** Bodies of answers as they were before they were compressed for their way (RFC 9110, 8.4). */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { maxEncodings } from "../../io/http/content-encoding.js";

/** Bytes of an answer; a text of Node.js can have no more than 2^29 characters. */
export const maxResponseBytes = 256 * 1024 * 1024;

/** Bytes of an answer that says what is wrong. */
export const maxErrorBytes = 1024 * 1024;

export class ResponseTooLarge extends Error {
  override readonly name = "TooLarge";
  constructor(most: number) {
    super(`the answer has more than ${most} bytes`);
  }
}

/** JSON between systems is UTF-8 (RFC 8259, 8.1); other bytes would be read as other characters. */
export class InvalidUtf8 extends Error {
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

/** @param most bytes @throws TooLarge; what node:zlib throws */
export async function decodeBody(
  body: Buffer,
  headers: { readonly "content-encoding"?: string | undefined },
  most: number = maxResponseBytes,
): Promise<Buffer> {
  const encodings = headers["content-encoding"]?.toLowerCase().split(",") ?? [];
  let bytes = body;
  if (encodings.length > maxEncodings) throw new ResponseTooLarge(most);
  // The last one was applied last. An answer without a body (304) tells what one would have had.
  for (const encoding of bytes.length > 0 ? encodings.reverse() : []) {
    const decode = decoders[encoding.trim()];
    if (decode)
      bytes = await decode(bytes, { chunkSize, maxOutputLength: most }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "ERR_BUFFER_TOO_LARGE" ? new ResponseTooLarge(most) : error;
      });
  }
  return bytes;
}
