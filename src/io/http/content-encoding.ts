/** Decodes the content encodings of HTTP bodies as a stream (RFC 9110, 8.4). */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { createError } from "../../errors.js";

/** Value of the Accept-Encoding header. */
export const acceptedEncodings = "br, gzip, deflate";

const decoders: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createUnzip,
};

/** The names in a Content-Encoding header, in lower case, in the order in which they were applied. */
export const parseContentEncoding = (header: string | undefined): string[] =>
  (header ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim().toLowerCase()]));

export const isDecodable = (encoding: string): boolean => Object.hasOwn(decoders, encoding);

/** The same limits as for zip archives: real data do not deflate better than this. Small bodies are not checked. */
const maxRatio = 1000;
const ratioCheckFromBytes = 10 * 2 ** 20;

/** Maximum number of nested encodings: each can expand a small body further. */
export const maxEncodings = 4;

/** @param source for messages @throws input-download; what the body and node:zlib throw */
export async function* decodeBody(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  source: string,
): AsyncGenerator<Uint8Array> {
  const wanted = parseContentEncoding(headers["content-encoding"])
    .filter(isDecodable)
    .map((name) => decoders[name]!);
  const refuse = (reason: string) => createError("input-download", { source, reason });
  if (wanted.length > maxEncodings) throw refuse(`the response has ${wanted.length} nested content encodings`);
  if (wanted.length === 0) return yield* body;
  let [packed, size] = [0, 0];
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      packed += chunk.length;
      yield chunk;
    }
  }
  let stream: Readable = Readable.from(counted());
  // `pipeline` forwards an error to the last stream, which is read.
  for (const decoder of wanted.reverse()) stream = pipeline(stream, decoder(), () => {});
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ratioCheckFromBytes && size > packed * maxRatio)
      throw refuse(`the response expands to more than ${maxRatio} times its compressed size`);
    yield chunk;
  }
}
