/**
 * Requests to one service, each with a token, in time and often enough: reads until there is an answer, writes only as
 * long as it is sure that nothing was done.
 */
import pLimit from "p-limit";
import { createError, GeoferryError } from "../../errors.js";
import { classifyFirstFailure } from "../../io/http/network-failure.js";
import type { ServiceClient, Traffic } from "../client/map-client.js";
import {
  acceptEncodingHeader,
  type Connection,
  resolveServiceUrls,
  type ServiceUrls,
} from "../connection/connection.js";
import { type AccessToken, AccessTokenCache, parseTokenResponse, tokenRequestBody } from "./access-tokens.js";
import { describeResponse, isRetryLater, toRetry } from "./describe-response.js";
import { parseRateLimitReset, parseRetryAfter, RateLimiter } from "./rate-limiter.js";
import { type AttemptResult, type RetryReason, retry } from "./retry.js";
import { NoResponseError, type ServiceRequest, type ServiceResponse } from "./send-request.js";
import { sendTracedRequest } from "./send-traced-request.js";

/** What was sent, and nobody knows what came of it. */
export interface UncertainRequest {
  readonly reason: string;
}

type RequestKind = keyof ServiceClient["requestCount"];

/** Redirects that are followed, within one origin. */
const maxRedirects = 5;

/** A write that is under way is waited for, also by who is told to stop: its outcome matters. */
const noAbortSignal = new AbortController().signal;

export class Transport {
  readonly addresses: ServiceUrls;
  readonly requestCount: Record<RequestKind, number> = { GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, token: 0 };
  private readonly rateLimiter: RateLimiter;
  private readonly tokens: AccessTokenCache;
  private readonly slots: <T>(run: () => Promise<T>) => Promise<T>;
  private lastToken: AccessToken | null = null;
  /** Headers of all requests. */
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

  /** Base address, for messages. */
  get service(): string {
    return this.addresses.base;
  }

  /** What no message may show, also as it is written in a form. */
  get secrets(): readonly string[] {
    const { clientSecret } = this.connection;
    return [clientSecret, encodeURIComponent(clientSecret), this.lastToken?.text ?? ""];
  }

  /** @throws remote-credentials, remote-protocol-error, remote-unavailable, remote-untrusted, interrupted */
  async signIn(): Promise<void> {
    await this.withAbort(() => this.tokens.get());
  }

  /**
   * An answer to GET that is no failure that may pass; where it is a success it is JSON.
   * @throws remote-unavailable, remote-protocol-error, remote-credentials, remote-untrusted, interrupted
   */
  read(url: string, headers: Readonly<Record<string, string>> = {}): Promise<ServiceResponse> {
    const request = { method: "GET", url, headers: { ...this.common, ...headers } } as const;
    return this.withAbort(() => this.slots(() => this.retry(() => this.attemptRead(request))));
  }

  /**
   * An answer to a write, or that there is none. It is sent again only where nothing was done, or where the service
   * knows it for the same.
   * @throws remote-unavailable, remote-protocol-error, remote-credentials, remote-untrusted, interrupted: nothing was done
   */
  async write(
    method: Exclude<ServiceRequest["method"], "GET">,
    url: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<ServiceResponse | UncertainRequest> {
    const request = { method, url, headers: { ...this.common, "content-type": "application/json", ...headers }, body };
    let inUse = null as UncertainRequest | null;
    const once = async () => {
      const attempt = await this.attemptWrite(request);
      if ("isRetryable" in attempt && attempt.isKeyInUse && "idempotency-key" in headers)
        inUse = { reason: attempt.isRetryable };
      return attempt;
    };
    try {
      return await this.withAbort(() => this.slots(() => this.retry(once)));
    } catch (error) {
      if (inUse) return inUse;
      throw error;
    }
  }

  private async attemptRead(request: ServiceRequest): Promise<AttemptResult<ServiceResponse>> {
    const answer = await this.authorizedHeaders(request, this.signal).catch(asUnanswered);
    if (answer instanceof NoResponseError) return this.toReadError(answer);
    if (isRetryLater(answer) || answer.status >= 500) return toRetry(answer, this.describe(answer));
    if (answer.isSuccess && answer.json === undefined)
      return { isRetryable: this.describe(answer), protocolError: true };
    return { done: answer };
  }

  private async attemptWrite(request: ServiceRequest): Promise<AttemptResult<ServiceResponse | UncertainRequest>> {
    const answer = await this.authorizedHeaders(request, noAbortSignal).catch(asUnanswered);
    if (answer instanceof NoResponseError) {
      if (!answer.isUnsent) return { done: { reason: answer.failure.reason } };
      return this.toReadError(answer);
    }
    return isRetryLater(answer) ? toRetry(answer, this.describe(answer)) : { done: answer };
  }

  private toReadError(error: NoResponseError, isFirst = false): RetryReason {
    const { isUntrusted, reason, isTransient } = isFirst
      ? classifyFirstFailure(error.failure, this.service)
      : error.failure;
    if (isUntrusted) throw createError("remote-untrusted", { service: this.service, reason }, error);
    if (!isTransient) throw createError("remote-protocol-error", { service: this.service, reason }, error);
    return { isRetryable: reason, ...(error.isTimeout && { isTimeout: true }) };
  }

  describe(answer: ServiceResponse): string {
    return describeResponse(answer, this.secrets);
  }

  private retry<T>(once: () => Promise<AttemptResult<T>>): Promise<T> {
    return retry(this.service, this.traffic, this.signal, once);
  }

  /** With a token, and with another one where that is refused. */
  private async authorizedHeaders(request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> {
    for (let refusals = 1; ; refusals++) {
      const token = await this.tokens.get();
      const headers = { ...request.headers, authorization: `Bearer ${token.text}` };
      const answer = await this.send({ ...request, headers }, request.method, signal);
      if (answer.status !== 401) {
        token.wasAccepted = true;
        return answer;
      }
      this.tokens.fail(token, refusals, this.describe(answer));
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
      const asked = performance.now();
      const answer = await this.send(request, "token", this.signal).catch(asUnanswered);
      return answer instanceof NoResponseError
        ? this.toReadError(answer, this.lastToken === null)
        : parseTokenResponse(answer, asked, at);
    });
    this.lastToken = token;
    return token;
  }

  /** Sends when it is time; follows redirects within the origin, so that nobody else sees what is secret. */
  private async send(request: ServiceRequest, counted: RequestKind, signal: AbortSignal): Promise<ServiceResponse> {
    let { url } = request;
    for (let redirects = 0; ; redirects++) {
      await this.rateLimiter.wait(this.signal);
      this.requestCount[counted]++;
      const answer = await sendTracedRequest({ ...request, url }, this.traffic, signal);
      this.applyRetryAfter(answer);
      if (!isRedirect(answer, request.method)) return answer;
      const next = new URL(answer.headers.location!, url);
      if (next.origin !== new URL(url).origin || redirects === maxRedirects)
        throw createError("remote-protocol-error", { service: this.service, reason: this.describe(answer) });
      url = next.href;
    }
  }

  /** What the service says of its load counts for every request. */
  private applyRetryAfter({ status, headers }: ServiceResponse): void {
    const asked = status === 429 || status === 503 ? parseRetryAfter(headers) : null;
    const wait = Math.max(asked ?? 0, parseRateLimitReset(headers) ?? 0);
    if (wait > 0) this.rateLimiter.pauseUntil(wait);
  }

  private async withAbort<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (this.signal.aborted && !(error instanceof GeoferryError)) throw createError("interrupted", {}, error);
      throw error;
    }
  }
}

/** A failure that something can be made of. */
function asUnanswered(error: unknown): NoResponseError {
  if (error instanceof NoResponseError) return error;
  throw error;
}

const acceptHeader = "application/geo+json, application/json";

/** One that asks for the same request elsewhere (RFC 9110, 15.4); a write keeps its method only by 307 and 308. */
const isRedirect = ({ status, headers }: ServiceResponse, method: string): boolean =>
  [301, 302, 307, 308].includes(status) &&
  headers.location !== undefined &&
  URL.canParse(headers.location, "http://localhost") &&
  (method === "GET" || status >= 307);
