/** Bodies as they were before they were compressed for their way (RFC 9110, 8.4), as a stream. */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { createError } from "../../errors.js";

/** For Accept-Encoding. */
export const acceptedEncodings = "br, gzip, deflate";

const decoders: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createUnzip,
};

/** As of zip archives: more than deflate can do with data, and counted from here on. */
const maxRatio = 1000;
const ratioCheckFromBytes = 10 * 2 ** 20;

/** Encodings on top of one another: more are no use, and small bytes can grow at each. */
export const maxEncodings = 4;

/** @param source for messages @throws input-download; what the body and node:zlib throw */
export async function* decodeBody(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  source: string,
): AsyncGenerator<Uint8Array> {
  const names = (headers["content-encoding"] ?? "").toLowerCase().split(",");
  // The last one was applied last.
  const wanted = names.map((name) => decoders[name.trim()]).filter((decoder) => decoder !== undefined);
  const refuse = (reason: string) => createError("input-download", { source, reason });
  if (wanted.length > maxEncodings) throw refuse(`the answer is compressed ${wanted.length} times over`);
  if (wanted.length === 0) return yield* body;
  let [packed, size] = [0, 0];
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      packed += chunk.length;
      yield chunk;
    }
  }
  let stream: Readable = Readable.from(counted());
  // The error of one is that of the last, which is read.
  for (const decoder of wanted.reverse()) stream = pipeline(stream, decoder(), () => {});
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ratioCheckFromBytes && size > packed * maxRatio)
      throw refuse(`what it sends expands to more than ${maxRatio} times its size`);
    yield chunk;
  }
}
