/** Decodes response bodies according to their Content-Encoding (RFC 9110, 8.4). */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { maxEncodings } from "../../io/http/content-encoding.js";

/** Maximum bytes of a response; a Node.js string holds at most 2^29 characters. */
export const maxResponseBytes = 256 * 1024 * 1024;

/** Maximum bytes of an error response. */
export const maxErrorBytes = 1024 * 1024;

export class ResponseTooLarge extends Error {
  override readonly name = "ResponseTooLarge";
  constructor(maxBytes: number) {
    super(`the response has more than ${maxBytes} bytes`);
  }
}

/** JSON between systems is UTF-8 (RFC 8259, 8.1); decoding other encodings would corrupt the text. */
export class InvalidUtf8 extends Error {
  override readonly name = "InvalidUtf8";
  constructor(cause: unknown) {
    super("the response is not UTF-8", { cause });
  }
}

/** Bytes decompressed per step; each step costs a round trip to another thread. */
const chunkSize = 256 * 1024;

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decode>> = {
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  "x-gzip": promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
};

/** @param maxBytes limit of the decoded size @throws ResponseTooLarge; errors of node:zlib */
export async function decodeBody(
  body: Buffer,
  headers: { readonly "content-encoding"?: string | undefined },
  maxBytes: number = maxResponseBytes,
): Promise<Buffer> {
  const encodings = headers["content-encoding"]?.toLowerCase().split(",") ?? [];
  let bytes = body;
  if (encodings.length > maxEncodings) throw new ResponseTooLarge(maxBytes);
  // The last encoding was applied last. A response without a body (304) names the encoding that its body would have
  // had.
  for (const encoding of bytes.length > 0 ? encodings.reverse() : []) {
    const decode = decoders[encoding.trim()];
    if (decode)
      bytes = await decode(bytes, { chunkSize, maxOutputLength: maxBytes }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "ERR_BUFFER_TOO_LARGE" ? new ResponseTooLarge(maxBytes) : error;
      });
  }
  return bytes;
}
