import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { basename, extname, join } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import type { NetworkSettings } from "../../network-settings.js";
import type { InputOptions } from "../input/open-input.js";
import { FileSource } from "../input/source.js";
import { spoolStream } from "../input/spool.js";
import { redactUrl } from "../redact.js";
import { safeName } from "../safe-name.js";
import { acceptedEncodings, decodeBody } from "./content-encoding.js";
import { HttpExchange, NoResponseError } from "./http-exchange.js";
import { extensionForMediaType } from "./media-types.js";
import { classifyFirstFailure, classifyNetworkError } from "./network-failure.js";

export const maxRedirects = 10;
export const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Login and error pages often come with status 200. */
const htmlStart = /^\uFEFF?(\s|<\?xml[^>]*>|<!--[\s\S]*?-->)*<(!doctype\s+html|html|head|body)\b/i;

/** Decodes percent escapes; a text with invalid ones stays as it is. */
export function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The file name of a Content-Disposition header (RFC 6266); `filename*` takes precedence over `filename`. */
export function contentDispositionFilename(header: string | undefined): string | null {
  if (header === undefined) return null;
  const extended = /(?:^|;)\s*filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'([^;]+)/i.exec(header)?.[1];
  if (extended !== undefined) return safeName(percentDecode(extended.trim()));
  const plain = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
  if (!plain) return null;
  const text = plain[1]?.replace(/\\(.)/g, "$1") ?? plain[2] ?? "";
  // Node.js decodes headers as latin1, but most servers send UTF-8.
  const utf8 = Buffer.from(text, "latin1").toString("utf8");
  return safeName(utf8.includes("\uFFFD") ? text : utf8);
}

function downloadFileName(asked: URL, final: URL, headers: IncomingHttpHeaders): string {
  const given = contentDispositionFilename(headers["content-disposition"]);
  if (given !== null && extname(given) !== "") return given;
  const names = [final, asked].map((url) => safeName(percentDecode(url.pathname)));
  const named = names.find((name) => name !== null && extname(name) !== "");
  if (named) return named;
  const stem = given ?? names[1] ?? names[0] ?? "download";
  // For URLs without an extension: the media type.
  const extension = extensionForMediaType(headers["content-type"] ?? "");
  return extension === undefined ? stem : `${stem}.${extension}`;
}

/** Whether a later request may succeed: too many requests, timeouts and server errors. */
export const isRetryableStatus = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;

/** Whether the status means missing authentication or permission. */
const isForbiddenStatus = (status: number): boolean => status === 401 || status === 403 || status === 407;

export function httpStatusError(source: string, { status, reason: phrase }: HttpResponse): GeoferryError {
  const reason = `the server answers ${status}${phrase ? ` ${phrase}` : ""}`;
  const code = isRetryableStatus(status)
    ? "input-unavailable"
    : isForbiddenStatus(status)
      ? "input-forbidden"
      : "input-download";
  return createError(code, { source, reason });
}

/** @param isFirst whether no response has arrived yet */
export function networkError(source: string, error: unknown, isFirst: boolean): GeoferryError {
  const failure = error instanceof NoResponseError ? error.failure : classifyNetworkError(error);
  const { reason, isTransient } = isFirst ? classifyFirstFailure(failure, source) : failure;
  return createError(isTransient ? "input-unavailable" : "input-download", { source, reason }, error);
}

/** A response whose headers have arrived. Its body can be read once, or discarded. */
export interface HttpResponse {
  readonly status: number;
  /** Reason phrase of the status line (RFC 9112, 4). */
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  /** The final URL after redirects. */
  readonly url: URL;
  /** The body with its content encodings. @throws NoResponseError; the reason of the signal */
  body(): AsyncGenerator<Buffer>;
  discard(): void;
}

export interface HttpRequestOptions {
  readonly signal: AbortSignal;
  readonly method?: "GET" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for every response, including redirects. */
  readonly onResponse?: () => void;
  /** Override `networkSettings()`. */
  readonly limits?: Partial<NetworkSettings>;
}

/**
 * Sends a request and follows redirects. Credentials of the URL are only sent to its own origin.
 * @throws input-download; NoResponseError; the reason of the signal
 */
export async function sendRequest(asked: URL, source: string, asking: HttpRequestOptions): Promise<HttpResponse> {
  const { signal, method = "GET", onResponse } = asking;
  const refuse = (reason: string) => createError("input-download", { source, reason });
  const credentials = `${percentDecode(asked.username)}:${percentDecode(asked.password)}`;
  const authorization = credentials === ":" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  let url = withoutCredentials(asked);
  const { origin } = url;
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const own: Record<string, string> = authorization && url.origin === origin ? { authorization } : {};
    const headers = { accept: "*/*", ...asking.headers, ...own };
    const exchange = await HttpExchange.start({ method, url, headers }, signal, asking.limits);
    const response = await exchange.waitForResponse().catch((error: unknown) => exchange.toFailure(error));
    onResponse?.();
    if (!redirectStatuses.has(response.statusCode!)) return toHttpResponse(exchange, response, url);
    exchange.destroy();
    url = withoutCredentials(redirectTarget(url, response.headers, refuse, "; name that address yourself to allow it"));
  }
  throw refuse(`the server redirects more than ${maxRedirects} times`);
}

/**
 * The address that a response redirects to.
 * @param refuse creates the error for an address that is not followed
 * @param unencryptedAdvice ends the sentence about an address without encryption
 */
export function redirectTarget(
  from: URL,
  { location }: IncomingHttpHeaders,
  refuse: (reason: string) => Error,
  unencryptedAdvice = "",
): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw refuse("the server redirects without a valid address");
  const to = new URL(location, from);
  if (to.protocol !== "http:" && to.protocol !== "https:") throw refuse(`the server redirects to ${to.protocol}`);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw refuse(`the server redirects to ${redactUrl(to.href)}, which is not encrypted${unencryptedAdvice}`);
  return to;
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare;
}

const toHttpResponse = (exchange: HttpExchange, response: IncomingMessage, url: URL): HttpResponse => ({
  status: response.statusCode!,
  reason: response.statusMessage ?? "",
  headers: response.headers,
  url,
  body: () => exchange.readBody(response),
  discard: () => exchange.destroy(),
});

/** Statuses for a missing file; stores without list permission answer 403. */
const missingFileStatuses = new Set([403, 404, 410]);

/** The server sent a web page instead of a file. */
class HtmlInsteadOfFile extends Error {}

interface DownloadedFile {
  readonly path: string;
  readonly size: number;
  /** The final URL after redirects. */
  readonly url: URL;
}

/**
 * Downloads a URL into a file. Null if the file is `optional` and the server does not have it.
 * @throws input-download, input-unavailable, input-forbidden, input-too-large, output-failed, interrupted
 */
async function fetchFile(
  asked: URL,
  options: InputOptions,
  place: (url: URL, headers: IncomingHttpHeaders) => string,
  optional: boolean,
): Promise<DownloadedFile | null> {
  const shown = redactUrl(asked.href);
  const { signal, maxBytes, progress } = options;
  let isAnswered = false;
  const asking = {
    signal,
    headers: { "accept-encoding": acceptedEncodings },
    onResponse: () => {
      isAnswered = true;
    },
  };
  try {
    const answer = await sendRequest(asked, shown, asking);
    const { status, headers, url } = answer;
    if (status !== 200) {
      answer.discard();
      if (optional && missingFileStatuses.has(status)) return null;
      throw httpStatusError(shown, answer);
    }
    const length = headers["content-encoding"] === undefined ? headers["content-length"] : undefined;
    const total = length !== undefined && /^\d+$/.test(length) ? Number(length) : null;
    if (maxBytes !== undefined && total !== null && total > maxBytes) {
      answer.discard();
      throw createError("input-too-large", { source: shown, limit: maxBytes, option: "--max-input" });
    }
    const path = place(url, headers);
    const size = await spoolStream(refuseHtml(decodeBody(answer.body(), headers, shown), headers), path, {
      source: shown,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(progress ? { progress: (done: number) => progress(done, total) } : {}),
    });
    if (total !== null && size !== total)
      throw createError("input-unavailable", {
        source: shown,
        reason: `the server announced ${total} bytes and sent ${size}`,
      });
    return { path, size, url };
  } catch (error) {
    if (signal.aborted) throw createError("interrupted", {}, error);
    if (error instanceof HtmlInsteadOfFile && optional) return null;
    if (error instanceof HtmlInsteadOfFile)
      throw createError("input-download", {
        source: shown,
        reason: "the server sent a web page instead of a file",
      });
    if (error instanceof GeoferryError) throw error;
    throw networkError(shown, error, !isAnswered);
  }
}

/** @throws HtmlInsteadOfFile */
async function* refuseHtml(
  chunks: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
): AsyncGenerator<Uint8Array> {
  const mayBe = /^(text\/html|application\/xhtml\+xml)\b/i.test(headers["content-type"] ?? "");
  let first = true;
  for await (const chunk of chunks) {
    if (first && mayBe && htmlStart.test(Buffer.from(chunk.subarray(0, 2048)).toString("latin1")))
      throw new HtmlInsteadOfFile();
    first = false;
    yield chunk;
  }
}

/** The URL of a sibling file with the same query: `roads.dbf?key=1`; null if the path does not end in `extension`. */
function siblingUrl(url: URL, extension: string, sibling: string): URL | null {
  const { pathname } = url;
  if (!pathname.toLowerCase().endsWith(`.${extension}`)) return null;
  const beside = new URL(url);
  beside.pathname = `${pathname.slice(0, -extension.length)}${sibling}`;
  return beside;
}

/** Downloads sibling files; tries the case of the main file's extension first: `ROADS.DBF` beside `ROADS.SHP`. */
async function fetchSiblings(address: URL, main: DownloadedFile, options: InputOptions): Promise<void> {
  const { maxBytes, progress } = options;
  const extension = extname(main.path).slice(1).toLowerCase();
  const stem = main.path.slice(0, main.path.length - extname(main.path).length);
  let done = main.size;
  const limited = { ...options, ...(maxBytes === undefined ? {} : { maxBytes: maxBytes - main.size }) };
  const fetchOne = async (sibling: string): Promise<void> => {
    const url = [address, main.url].find((each) => siblingUrl(each, extension, sibling) !== null);
    if (!url) return;
    const isUpper = /[A-Z]/.test(extname(url.pathname));
    const cases = [sibling, sibling.toUpperCase()];
    for (const each of isUpper ? cases.reverse() : cases) {
      const reporting = progress && { progress: (bytes: number) => progress(done + bytes, null) };
      const found = await fetchFile(
        siblingUrl(url, extension, each)!,
        { ...limited, ...reporting },
        () => `${stem}.${sibling}`,
        true,
      );
      if (!found) continue;
      done += found.size;
      return;
    }
  };
  const outcomes = await Promise.allSettled((options.siblingsOf?.(main.path) ?? []).map(fetchOne));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  if (maxBytes !== undefined && done > maxBytes) {
    throw createError("input-too-large", { source: redactUrl(address.href), limit: maxBytes, option: "--max-input" });
  }
}

/**
 * Downloads a URL into the spool, under the name that the server or the URL gives, with the sibling files that its format
 * may need.
 * @throws input-download, input-unavailable, input-forbidden, input-too-large, output-failed, interrupted
 */
export async function download(address: string, options: InputOptions): Promise<FileSource> {
  const shown = redactUrl(address);
  if (!URL.canParse(address))
    throw createError("input-download", {
      source: shown,
      reason:
        "it is not a valid address; characters such as /, @ and : in a user or password are written as %2F, %40 and %3A",
    });
  const asked = new URL(address);
  const folder = options.spool.folder();
  const place = (url: URL, headers: IncomingHttpHeaders) => join(folder, downloadFileName(asked, url, headers));
  const main = (await fetchFile(asked, options, place, false))!;
  await fetchSiblings(asked, main, options);
  const file = basename(main.path);
  const named = percentDecode(shown).endsWith(`/${file}`);
  return FileSource.at(main.path, named ? percentDecode(shown) : `${shown.replace(/\/$/, "")}/${file}`);
}
