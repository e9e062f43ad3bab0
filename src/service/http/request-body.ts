/**
 * Reads a request body: optional gzip, then JSON (RFC 8259) in UTF-8. Size limits apply after decompression, and
 * reading stops at the limit.
 */
import { pipeline } from "node:stream";
import { constants, createGunzip } from "node:zlib";
import { parseCollection } from "../features/parse-collection.js";
import { markRoundedIntegers } from "../json/rounded-integers.js";
import type { Settings } from "../settings.js";
import { Problem, problem } from "./problems.js";

/** Accepted media types (RFC 8259, RFC 7946). */
const mediaTypes: readonly string[] = ["application/json", "application/geo+json"];

interface BodyHeaders {
  readonly "content-type"?: string | undefined;
  readonly "content-encoding"?: string | undefined;
  readonly "content-length"?: string | undefined;
}

export interface ParsedBody {
  /** The body of the request, decompressed. */
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** Throws 415, 413 and 400 problems, checked in this order. */
export async function readJson(
  headers: BodyHeaders,
  stream: AsyncIterable<Buffer>,
  settings: Settings,
): Promise<ParsedBody> {
  const gzip = checkHeaders(headers, settings.bodyBytes);
  const bytes = await (gzip ? inflate(stream, settings.bodyBytes) : readAllBytes(stream, settings.bodyBytes));
  if (bytes.length === 0) throw problem("body-missing", {});
  if (headers["content-type"] === undefined) throw problem("content-type-missing", {});
  return { bytes, json: await parseJsonBytes(bytes, settings) };
}

/** Returns whether the body is compressed. */
function checkHeaders(headers: BodyHeaders, limit: number): boolean {
  const type = headers["content-type"];
  if (type !== undefined && !isJson(type)) throw problem("unsupported-media-type", { type });
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const gzip = encoding === "gzip" || encoding === "x-gzip";
  if (!gzip && encoding !== "identity") {
    // Lists the supported encodings (RFC 9110, 15.5.16).
    throw problem("unsupported-encoding", { encoding }, { headers: { "accept-encoding": "gzip" } });
  }
  if (Number(headers["content-length"]) > limit) throw problem("body-too-large", { limit });
  return gzip;
}

/** JSON is always exchanged in UTF-8 (RFC 8259, 8.1): another charset is an unsupported type. */
function isJson(contentType: string): boolean {
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  return mediaTypes.includes(type) && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

async function readAllBytes(stream: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of limitBytes(limit, stream)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Stops decompression bombs: inflates at most one chunk beyond the limit. */
async function inflate(stream: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  // Errors of the input stream surface while reading the output.
  pipeline(limitBytes(limit, stream), gunzip, () => undefined);
  try {
    return await readAllBytes(gunzip, limit);
  } catch (error) {
    throw toGzipProblem(error);
  }
}

async function* limitBytes(limit: number, stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > limit) throw problem("body-too-large", { limit });
    yield chunk;
  }
}

function toGzipProblem(error: unknown): Problem | unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code in constants ? problem("bad-gzip", { reason: (error as Error).message }, { cause: error }) : error;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** JSON.parse keeps `__proto__` and `constructor` as ordinary members. */
async function parseJsonBytes(bytes: Buffer, settings: Settings): Promise<unknown> {
  try {
    return await parseCollection(markRoundedIntegers(utf8.decode(bytes)), settings);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem("bad-json", { reason: (error as Error).message }, { cause: error });
  }
}
