/**
 * Sends authorized, rate-limited requests to one service. Retries reads until they succeed, and writes only while it is
 * certain that nothing was applied.
 */
import pLimit from "p-limit";
import { createError, GeoferryError } from "../../errors.js";
import { classifyFirstFailure } from "../../io/http/network-failure.js";
import { parseRateLimitReset, parseRetryAfter, RateLimiter } from "../../io/http/rate-limiter.js";
import type { ServiceClient, Traffic } from "../client/map-client.js";
import {
  acceptEncodingHeader,
  type Connection,
  resolveServiceUrls,
  type ServiceUrls,
} from "../connection/connection.js";
import { type AccessToken, AccessTokenCache, parseTokenResponse, tokenRequestBody } from "./access-tokens.js";
import { describeResponse, isRetryLater, toRetry } from "./describe-response.js";
import { type AttemptResult, type RetryReason, retry } from "./retry.js";
import { NoResponseError, type ServiceRequest, type ServiceResponse } from "./send-request.js";
import { sendTracedRequest } from "./send-traced-request.js";

/** A request whose outcome is unknown. */
export interface UncertainRequest {
  readonly reason: string;
}

type RequestKind = keyof ServiceClient["requestCount"];

/** Maximum number of redirects, within one origin. */
const maxRedirects = 5;

/** Writes in flight are never aborted, because their outcome matters. */
const noAbortSignal = new AbortController().signal;

export class Transport {
  readonly addresses: ServiceUrls;
  readonly requestCount: Record<RequestKind, number> = { GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, token: 0 };
  private readonly rateLimiter: RateLimiter;
  private readonly tokens: AccessTokenCache;
  private readonly slots: <T>(run: () => Promise<T>) => Promise<T>;
  private lastToken: AccessToken | null = null;
  /** Headers common to all requests. */
  private readonly common: Readonly<Record<string, string>>;

  /** @throws remote-address, remote-insecure */
  constructor(
    private readonly connection: Connection,
    private readonly traffic: Traffic,
    private readonly signal: AbortSignal,
  ) {
    this.addresses = resolveServiceUrls(connection);
    this.common = { accept: acceptHeader, ...acceptEncodingHeader(this.addresses.base) };
    this.rateLimiter = new RateLimiter(traffic.rate);
    this.tokens = new AccessTokenCache(this.addresses.base, () => this.requestToken());
    this.slots = pLimit(traffic.concurrency);
  }

  /** Base URL, for messages. */
  get service(): string {
    return this.addresses.base;
  }

  /** Texts that no message may contain, including the form-encoded secret. */
  get secrets(): readonly string[] {
    const { clientSecret } = this.connection;
    return [clientSecret, encodeURIComponent(clientSecret), this.lastToken?.text ?? ""];
  }

  /** @throws remote-credentials, remote-protocol-error, remote-unavailable, remote-untrusted, interrupted */
  async signIn(): Promise<void> {
    await this.withAbort(() => this.tokens.get());
  }

  /**
   * Sends a GET and returns a response that is not a transient failure; a successful one is JSON.
   * @throws remote-unavailable, remote-protocol-error, remote-credentials, remote-untrusted, interrupted
   */
  read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<ServiceResponse> {
    const request = { method: "GET", url, headers: { ...this.common, ...headers } } as const;
    return this.withAbort(() => this.slots(() => this.retry(() => this.attemptRead(request))));
  }

  /**
   * Sends a write. Retries it only if nothing was applied, or if the service recognizes the repeated request.
   * @throws remote-unavailable, remote-protocol-error, remote-credentials, remote-untrusted, interrupted: nothing was
   * applied
   */
  async write(
    method: Exclude<ServiceRequest["method"], "GET">,
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<ServiceResponse | UncertainRequest> {
    const request = { method, url, headers: { ...this.common, "content-type": "application/json", ...headers }, body };
    let inUse = null as UncertainRequest | null;
    const attemptRequest = async () => {
      const attempt = await this.attemptWrite(request);
      if ("isRetryable" in attempt && attempt.isKeyInUse && "idempotency-key" in headers)
        inUse = { reason: attempt.isRetryable };
      return attempt;
    };
    try {
      return await this.withAbort(() => this.slots(() => this.retry(attemptRequest)));
    } catch (error) {
      if (inUse) return inUse;
      throw error;
    }
  }

  private async attemptRead(request: ServiceRequest): Promise<AttemptResult<ServiceResponse>> {
    const response = await this.authorizedHeaders(request, this.signal).catch(toNoResponse);
    if (response instanceof NoResponseError) return this.toReadError(response);
    if (isRetryLater(response) || response.status >= 500) return toRetry(response, this.describe(response));
    if (response.isSuccess && response.json === undefined)
      return { isRetryable: this.describe(response), protocolError: true };
    return { done: response };
  }

  private async attemptWrite(request: ServiceRequest): Promise<AttemptResult<ServiceResponse | UncertainRequest>> {
    const response = await this.authorizedHeaders(request, noAbortSignal).catch(toNoResponse);
    if (response instanceof NoResponseError) {
      if (!response.isUnsent) return { done: { reason: response.failure.reason } };
      return this.toReadError(response);
    }
    return isRetryLater(response) ? toRetry(response, this.describe(response)) : { done: response };
  }

  private toReadError(error: NoResponseError, isFirst = false): RetryReason {
    const { isUntrusted, reason, isTransient } = isFirst
      ? classifyFirstFailure(error.failure, this.service)
      : error.failure;
    if (isUntrusted) throw createError("remote-untrusted", { service: this.service, reason }, error);
    if (!isTransient) throw createError("remote-protocol-error", { service: this.service, reason }, error);
    return { isRetryable: reason, ...(error.isTimeout && { isTimeout: true }) };
  }

  describe(response: ServiceResponse): string {
    return describeResponse(response, this.secrets);
  }

  private retry<T>(attemptRequest: () => Promise<AttemptResult<T>>): Promise<T> {
    return retry(this.service, this.traffic, this.signal, attemptRequest);
  }

  /** Sends with a token; retries with a new one after a 401. */
  private async authorizedHeaders(request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> {
    for (let refusals = 1; ; refusals++) {
      const token = await this.tokens.get();
      const headers = { ...request.headers, authorization: `Bearer ${token.text}` };
      const response = await this.send({ ...request, headers }, request.method, signal);
      if (response.status !== 401) {
        token.wasAccepted = true;
        return response;
      }
      this.tokens.fail(token, refusals, this.describe(response));
    }
  }

  private async requestToken(): Promise<AccessToken> {
    const { clientId, clientSecret } = this.connection;
    const request = {
      method: "POST",
      url: this.addresses.token,
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: tokenRequestBody(clientId, clientSecret),
    } as const;
    const at = { service: this.service, address: request.url, secrets: this.secrets };
    const token = await this.retry(async (): Promise<AttemptResult<AccessToken>> => {
      const requestedAt = performance.now();
      const response = await this.send(request, "token", this.signal).catch(toNoResponse);
      return response instanceof NoResponseError
        ? this.toReadError(response, this.lastToken === null)
        : parseTokenResponse(response, requestedAt, at);
    });
    this.lastToken = token;
    return token;
  }

  /** Sends within the rate limit. Follows redirects only within the origin, so that secrets stay there. */
  private async send(request: ServiceRequest, counted: RequestKind, signal: AbortSignal): Promise<ServiceResponse> {
    let { url } = request;
    for (let redirects = 0; ; redirects++) {
      await this.rateLimiter.wait(this.signal);
      this.requestCount[counted]++;
      const response = await sendTracedRequest({ ...request, url }, this.traffic, signal);
      this.applyRetryAfter(response);
      if (!isRedirect(response, request.method)) return response;
      const next = new URL(response.headers.location!, url);
      if (next.origin !== new URL(url).origin || redirects === maxRedirects)
        throw createError("remote-protocol-error", { service: this.service, reason: this.describe(response) });
      url = next.href;
    }
  }

  /** A pause that the service requests applies to all requests. */
  private applyRetryAfter({ status, headers }: ServiceResponse): void {
    const retryAfterMs = status === 429 || status === 503 ? parseRetryAfter(headers) : null;
    const pauseMs = Math.max(retryAfterMs ?? 0, parseRateLimitReset(headers) ?? 0);
    if (pauseMs > 0) this.rateLimiter.pauseUntil(pauseMs);
  }

  private async withAbort<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.signal.aborted && !(error instanceof GeoferryError)) throw createError("interrupted", {}, error);
      throw error;
    }
  }
}

/** Returns a NoResponseError as a value and rethrows any other error. */
function toNoResponse(error: unknown): NoResponseError {
  if (error instanceof NoResponseError) return error;
  throw error;
}

const acceptHeader = "application/geo+json, application/json";

/**
 * Whether the response redirects the same request (RFC 9110, 15.4); only 307 and 308 preserve the method of a write.
 */
const isRedirect = ({ status, headers }: ServiceResponse, method: string): boolean =>
  [301, 302, 307, 308].includes(status) &&
  headers.location !== undefined &&
  URL.canParse(headers.location, "http://localhost") &&
  (method === "GET" || status >= 307);
