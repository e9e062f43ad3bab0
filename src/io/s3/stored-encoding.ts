/** Decodes objects that are stored with a `Content-Encoding`, as HTTP bodies are (RFC 9110, 8.4). */
import { createError } from "../../errors.js";
import { decodeBody, isDecodable, parseContentEncoding } from "../http/content-encoding.js";

/** Compressions that geoferry cannot decode. Other names, such as `aws-chunked` or a character set, change no bytes. */
const unsupportedEncodings: ReadonlySet<string> = new Set(["zstd", "compress", "x-compress", "dcb", "dcz"]);

/** Whether the bytes of the object are not those of the file. */
export const isEncoded = (contentEncoding: string | undefined): boolean =>
  parseContentEncoding(contentEncoding).some((name) => isDecodable(name) || unsupportedEncodings.has(name));

/**
 * @param source for messages
 * @throws input-download if the encoding is not supported, or the content is damaged or not encoded; what the body throws
 */
export async function* decodeObject(
  body: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
  source: string,
): AsyncGenerator<Uint8Array> {
  const names = parseContentEncoding(contentEncoding);
  const unsupported = names.find((name) => unsupportedEncodings.has(name));
  const stored = `it is stored with the Content-Encoding ${names.join(", ")}`;
  if (unsupported !== undefined) {
    const reason = `${stored}, and geoferry cannot decode ${unsupported}; decompress the object, or store it with gzip`;
    throw createError("input-download", { source, reason });
  }
  try {
    yield* decodeBody(body, { "content-encoding": names.join(",") }, source);
  } catch (error) {
    if (!isZlibError(error)) throw error;
    const reason = `${stored}, but decoding fails: ${error.message}; correct the metadata of the object, or upload it again`;
    throw createError("input-download", { source, reason }, error);
  }
}

/** Codes of node:zlib: "Z_DATA_ERROR", "ERR__ERROR_FORMAT_PADDING_1" (Brotli). */
const isZlibError = (error: unknown): error is Error =>
  error instanceof Error && /^(Z_|ERR_BROTLI|ERR_?_ERROR_)/.test((error as NodeJS.ErrnoException).code ?? "");
