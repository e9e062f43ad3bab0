/** Reads ranges of a file on an HTTP server (RFC 9110, 14). */
import { basename, join } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { networkSettings } from "../../network-settings.js";
import type { InputOptions } from "../input/open-input.js";
import { type FetchRange, PartialSource, type RemoteFile } from "../input/partial-source.js";
import { redactUrl } from "../redact.js";
import { safeName } from "../safe-name.js";
import { type HttpResponse, httpStatusError, networkError, percentDecode, sendRequest } from "./download.js";
import { retryBroken } from "./retry-broken.js";

type HttpFile = RemoteFile & { readonly kind: "http" };

/** The first request asks for so many bytes, which are enough to recognize a format. */
const headBytes = 1 << 12;

/** The first and the last byte and the size in a Content-Range (RFC 9110, 14.4); null if it has another form. */
function parseContentRange(header: string | undefined): readonly [first: number, last: number, size: number] | null {
  const found = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? "");
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : null;
}

/** Byte ranges must refer to the file as it is. */
const plainHeaders = { "accept-encoding": "identity" };

/** A strong entity tag, else the date of the last change: what If-Range accepts. */
function validatorOf({ headers }: HttpResponse): string | null {
  const { etag, "last-modified": modified } = headers;
  return etag !== undefined && !etag.startsWith("W/") ? etag : (modified ?? null);
}

/**
 * Opens a file of which ranges are read. Null if the server does not answer with ranges, or not at all; then the file is
 * to be downloaded as a whole.
 * @throws interrupted, output-failed
 */
export async function openRanges(address: string, options: InputOptions): Promise<PartialSource | null> {
  if (!URL.canParse(address)) return null;
  const { signal } = options;
  const shown = redactUrl(address);
  try {
    const headers = { ...plainHeaders, range: `bytes=0-${headBytes - 1}` };
    const answer = await sendRequest(new URL(address), shown, { signal, headers });
    const range = answer.status === 206 ? parseContentRange(answer.headers["content-range"]) : null;
    if (range === null || range[0] !== 0 || answer.headers["content-encoding"] !== undefined) {
      answer.discard();
      return null;
    }
    const size = range[2];
    const head = await readBody(answer, range[1] + 1);
    const remote = {
      kind: "http",
      url: address,
      validator: validatorOf(answer),
      size,
      limits: networkSettings(),
    } as const;
    const name = percentDecode(shown);
    const file = safeName(percentDecode(basename(new URL(address).pathname))) ?? "download";
    const path = join(options.spool.folder(), file);
    return await PartialSource.create(name, path, remote, head, options.maxBytes ?? null, signal);
  } catch (error) {
    if (signal.aborted) throw createError("interrupted", {}, error);
    if (error instanceof GeoferryError && error.code === "output-failed") throw error;
    return null;
  }
}

/** @throws NoResponseError, RangeError if there are more or fewer bytes than announced */
async function readBody(answer: HttpResponse, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > length) break;
  }
  if (size !== length) throw new RangeError(`the server announced ${length} bytes and sent ${size}`);
  return Buffer.concat(chunks);
}

/** Retries after broken connections. */
export function createFetch(file: HttpFile, name: string): FetchRange {
  return (position, length, signal) =>
    retryBroken(() => fetchOnce(file, name, position, length, signal), file.limits.retries, signal);
}

async function fetchOnce(
  { url, validator, size, limits }: HttpFile,
  name: string,
  position: number,
  length: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const last = position + length - 1;
  const condition: Record<string, string> = validator === null ? {} : { "if-range": validator };
  const headers = { ...plainHeaders, range: `bytes=${position}-${last}`, ...condition };
  try {
    const answer = await sendRequest(new URL(url), name, { signal, headers, limits });
    const range = parseContentRange(answer.headers["content-range"]);
    const isSame = answer.status === 206 && range !== null && (validator === null || validatorOf(answer) === validator);
    if (isSame && range[0] === position && range[1] === last && range[2] === size)
      return await readBody(answer, length);
    answer.discard();
    // Without the condition, a server answers with the whole file, or that the range is not in it.
    if (answer.status < 300 || answer.status === 412 || answer.status === 416)
      throw createError("input-changed", { source: name });
    throw httpStatusError(name, answer);
  } catch (error) {
    if (error instanceof GeoferryError || signal.aborted) throw error;
    if (error instanceof RangeError)
      throw createError("input-unavailable", { source: name, reason: error.message }, error);
    throw networkError(name, error, false);
  }
}
