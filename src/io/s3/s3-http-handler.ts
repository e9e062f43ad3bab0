/** The HTTP handler and retry strategy of the S3 client, with geoferry's timeouts and retry settings. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { defaultNetworkSettings, maxTimeoutRetries, networkSettings } from "../../network-settings.js";
import { HttpExchange, isTimeoutError, NoResponseError } from "../http/http-exchange.js";

type QueryParameters = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** HttpRequest of @smithy/types. */
interface SdkHttpRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  /** Percent-encoded. */
  readonly path: string;
  readonly query?: QueryParameters;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface SdkHttpResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** Encodes all but the unreserved characters of RFC 3986, 2.3, as Signature Version 4 requires. */
const encodeRfc3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const formatQuery = (query: QueryParameters = {}): string =>
  Object.entries(query)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, values]) =>
      [values ?? ""]
        .flat()
        .map((value) => (values === null ? encodeRfc3986(name) : `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)),
    )
    .join("&");

function formatUrl({ protocol, hostname, port, path, query }: SdkHttpRequest): string {
  const text = formatQuery(query);
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}${text === "" ? "" : `?${text}`}`;
}

/** Bodies from geoferry are bytes, those of the client are strings. */
const toBuffer = (body: unknown): Buffer | undefined => {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return typeof body === "string" ? Buffer.from(body) : undefined;
};

const joinHeaders = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));

/** Responses to requests that change something may arrive slowly until the operation is complete (CompleteMultipartUpload). */
const transferLimitsFor = (method: string) => (method === "GET" ? {} : { minimumRate: 0 });

async function handleRequest(
  request: SdkHttpRequest,
  { abortSignal = new AbortController().signal }: { readonly abortSignal?: AbortSignal } = {},
): Promise<{ readonly response: SdkHttpResponse }> {
  const { method } = request;
  // Node.js sets the length; `Expect: 100-continue` has no benefit here.
  const { expect: _, Expect: __, "content-length": ___, ...headers } = request.headers;
  const body = toBuffer(request.body);
  const sent = { method, url: formatUrl(request), headers, ...(body && { body }) };
  const exchange = await HttpExchange.start(sent, abortSignal, transferLimitsFor(method));
  const response = await exchange.waitForResponse().catch((error: unknown) => exchange.toFailure(error));
  // A response to HEAD has no body to read.
  if (method === "HEAD") exchange.drain(response);
  const stream =
    method === "HEAD" ? Readable.from([]) : Readable.from(exchange.readBody(response), { objectMode: false });
  return { response: { statusCode: response.statusCode!, headers: joinHeaders(response), body: stream } };
}

export const requestHandler = {
  metadata: { handlerProtocol: "http/1.1" },
  handle: handleRequest,
  destroy() {},
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
};

/** The maximum delay before a retry doubles each time. */
const firstRetryDelayMs = 200;
const maxRetryDelayMs = 20_000;

interface RetryToken {
  readonly retries: number;
  readonly timeouts: number;
  readonly delay: number;
  getRetryCount(): number;
  getRetryCost(): number;
  getRetryDelay(): number;
}

const createRetryToken = (retries: number, timeouts: number, delay: number): RetryToken => ({
  ...{ retries, timeouts, delay },
  getRetryCount: () => retries,
  getRetryCost: () => 0,
  getRetryDelay: () => delay,
});

interface RetryErrorInfo {
  readonly error?: unknown;
  readonly errorType: string;
  readonly retryAfterHint?: Date;
}

/** `--retries` takes precedence over AWS_MAX_ATTEMPTS. */
function maxRetries({ AWS_MAX_ATTEMPTS }: NodeJS.ProcessEnv): number {
  const { retries } = networkSettings();
  const attempts = Number(AWS_MAX_ATTEMPTS);
  return AWS_MAX_ATTEMPTS && retries === defaultNetworkSettings.retries && attempts >= 1 ? attempts - 1 : retries;
}

const isRetryable = ({ error, errorType }: RetryErrorInfo): boolean =>
  error instanceof NoResponseError
    ? error.failure.isTransient
    : errorType === "THROTTLING" || errorType === "TRANSIENT";

export const retryStrategy = {
  mode: "standard",
  acquireInitialRetryToken: async () => createRetryToken(0, 0, 0),
  /** @throws the error if it must not be retried */
  async refreshRetryTokenForRetry(last: RetryToken, failure: RetryErrorInfo): Promise<RetryToken> {
    const { error, retryAfterHint } = failure;
    const late = last.timeouts + (isTimeoutError(error) ? 1 : 0);
    if (!isRetryable(failure) || last.retries >= maxRetries(process.env) || late > maxTimeoutRetries) throw error;
    const asked = retryAfterHint ? retryAfterHint.getTime() - Date.now() : 0;
    const wait = Math.random() * firstRetryDelayMs * 2 ** last.retries;
    return createRetryToken(last.retries + 1, late, Math.min(Math.max(asked, wait), maxRetryDelayMs));
  },
  recordSuccess() {},
} as unknown as NonNullable<S3ClientConfig["retryStrategy"]>;
