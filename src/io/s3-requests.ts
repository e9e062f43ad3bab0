/** How the client of S3 sends its requests, and when it sends one again: as all of geoferry does. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { mostRetriesOfSilence, network, usualNetwork } from "../network.js";
import { HttpExchange, Unanswered } from "./http.js";

type Query = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** What the client asks for (HttpRequest of @smithy/types). */
interface StoreRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  /** In percent-encoding. */
  readonly path: string;
  readonly query?: Query;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface StoreResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** RFC 3986, 2.3: what Signature Version 4 leaves as it is. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = (query: Query = {}): string =>
  Object.entries(query)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, values]) =>
      [values ?? ""].flat().map((value) => (values === null ? escaped(name) : `${escaped(name)}=${escaped(value)}`)),
    )
    .join("&");

function addressOf({ protocol, hostname, port, path, query }: StoreRequest): string {
  const text = queryOf(query);
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}${text === "" ? "" : `?${text}`}`;
}

/** Bodies of ours are bytes, those of the client itself are texts. */
const bytesOf = (body: unknown): Buffer | undefined => {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return typeof body === "string" ? Buffer.from(body) : undefined;
};

const headersOf = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));

/** Of requests that change something the answer may come drop by drop until it is done (CompleteMultipartUpload). */
const limitsOf = (method: string) => (method === "GET" ? {} : { minimumRate: 0 });

async function send(
  request: StoreRequest,
  { abortSignal = new AbortController().signal }: { readonly abortSignal?: AbortSignal } = {},
): Promise<{ readonly response: StoreResponse }> {
  const { method } = request;
  // The length is counted, and nothing is gained by asking whether to go on.
  const { expect: _, Expect: __, "content-length": ___, ...headers } = request.headers;
  const body = bytesOf(request.body);
  const sent = { method, url: addressOf(request), headers, ...(body && { body }) };
  const exchange = await HttpExchange.begin(sent, abortSignal, limitsOf(method));
  try {
    const response = await exchange.answer();
    // It has no body that would be read to its end.
    if (method === "HEAD") exchange.drain(response);
    const stream =
      method === "HEAD" ? Readable.from([]) : Readable.from(exchange.bodyOf(response), { objectMode: false });
    return { response: { statusCode: response.statusCode!, headers: headersOf(response), body: stream } };
  } catch (error) {
    exchange.close();
    return exchange.failed(error);
  }
}

export const requestHandler = {
  metadata: { handlerProtocol: "http/1.1" },
  handle: send,
  destroy() {},
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
};

/** Milliseconds of the first pause, at most, and of the longest: twice as long from one to the next. */
const firstPause = 200;
const longestPause = 20_000;

interface Token {
  readonly retries: number;
  readonly late: number;
  readonly delay: number;
  getRetryCount(): number;
  getRetryCost(): number;
  getRetryDelay(): number;
}

const token = (retries: number, late: number, delay: number): Token => ({
  ...{ retries, late, delay },
  getRetryCount: () => retries,
  getRetryCost: () => 0,
  getRetryDelay: () => delay,
});

interface Failure {
  readonly error?: unknown;
  readonly errorType: string;
  readonly retryAfterHint?: Date;
}

/** What the command line says goes before what AWS's own programs are told. */
function mostRetries({ AWS_MAX_ATTEMPTS }: NodeJS.ProcessEnv): number {
  const { retries } = network();
  const attempts = Number(AWS_MAX_ATTEMPTS);
  return AWS_MAX_ATTEMPTS && retries === usualNetwork.retries && attempts >= 1 ? attempts - 1 : retries;
}

const isPassing = ({ error, errorType }: Failure): boolean =>
  error instanceof Unanswered ? error.failure.passes : errorType === "THROTTLING" || errorType === "TRANSIENT";

export const retryStrategy = {
  mode: "standard",
  acquireInitialRetryToken: async () => token(0, 0, 0),
  /** @throws what is not to be tried again */
  async refreshRetryTokenForRetry(last: Token, failure: Failure): Promise<Token> {
    const { error, retryAfterHint } = failure;
    const late = last.late + (error instanceof Unanswered && error.late ? 1 : 0);
    if (!isPassing(failure) || last.retries >= mostRetries(process.env) || late > mostRetriesOfSilence) throw error;
    const asked = retryAfterHint ? retryAfterHint.getTime() - Date.now() : 0;
    const wait = Math.random() * firstPause * 2 ** last.retries;
    return token(last.retries + 1, late, Math.min(Math.max(asked, wait), longestPause));
  },
  recordSuccess() {},
} as unknown as NonNullable<S3ClientConfig["retryStrategy"]>;
