/** Access tokens (Map Features Service Interface, 4.1 and 5): caches one token and renews it before it expires. */
import { createError, GeoferryError } from "../../errors.js";
import { tokenLifetimeSeconds } from "../wire.js";
import { describeResponse, isHtmlPage, isRetryLater, toRetry } from "./describe-response.js";
import type { AttemptResult } from "./retry.js";
import { isObject } from "./sanitize-for-display.js";
import type { ServiceResponse } from "./send-request.js";

export interface AccessToken {
  readonly text: string;
  /** Time of expiry, by `performance.now`. */
  readonly expires: number;
  /** Whether a request with this token was authorized. */
  wasAccepted: boolean;
}

/** How long before its expiry a token is renewed: milliseconds, but at most this share of its lifetime. */
const renewalMargin = { maxMs: 60_000, share: 0.1 } as const;

/** Maximum retries of one request with a new token. */
const maxTokenRetries = 2;

export class AccessTokenCache {
  private current: AccessToken | null = null;
  private pending: Promise<AccessToken> | null = null;
  private failure: GeoferryError | null = null;

  constructor(
    private readonly service: string,
    private readonly request: () => Promise<AccessToken>,
  ) {}

  /** Returns a valid token; concurrent callers share one token request. */
  async get(): Promise<AccessToken> {
    if (this.failure) throw this.failure;
    if (this.current && this.current.expires > performance.now()) return this.current;
    this.pending ??= this.renew().finally(() => {
      this.pending = null;
    });
    return this.pending;
  }

  private async renew(): Promise<AccessToken> {
    try {
      this.current = await this.request();
      return this.current;
    } catch (error) {
      // Services count failed attempts and lock out clients that continue.
      if (error instanceof GeoferryError && error.code === "remote-credentials") this.failure = error;
      throw error;
    }
  }

  /**
   * Reports a 401. The caller may retry with another token if this one was replaced meanwhile or was accepted before.
   * @param times how often this request was rejected
   * @throws remote-credentials if another token would not help; every later call throws it, too
   */
  fail(token: AccessToken, times: number, reason: string): void {
    if (this.failure) throw this.failure;
    if (token === this.current && (!token.wasAccepted || times > maxTokenRetries)) {
      this.failure = createError("remote-credentials", { service: this.service, reason });
      throw this.failure;
    }
    if (token === this.current) this.current = null;
  }
}

/** The body of a token request (4.1). */
export const tokenRequestBody = (clientId: string, clientSecret: string): string =>
  new URLSearchParams({
    grant_type: "client_credentials_with_user",
    client_id: clientId,
    client_secret: clientSecret,
  }).toString();

/** Errors of RFC 6749, 5.2, that concern the credentials. */
const credentialErrors: ReadonlySet<unknown> = new Set([
  "invalid_client",
  "unauthorized_client",
  "invalid_grant",
  "access_denied",
]);

/**
 * Parses the token in a response (2.5).
 * @param requestedAt when the token was requested, by `performance.now`
 * @throws remote-credentials, remote-protocol-error
 */
export function parseTokenResponse(
  response: ServiceResponse,
  requestedAt: number,
  at: { readonly service: string; readonly address: string; readonly secrets: readonly string[] },
): AttemptResult<AccessToken> {
  const { service, address, secrets } = at;
  const { status } = response;
  const reason = describeResponse(response, secrets);
  if (isRetryLater(response) || status >= 500) return toRetry(response, reason);
  const { json } = response;
  const error = isObject(json) ? json.error : null;
  if (status === 401 || status === 403 || (status === 400 && credentialErrors.has(error)))
    throw createError("remote-credentials", { service, reason });
  const protocolError = (reason: string) =>
    createError("remote-protocol-error", { service, reason: `token request to ${address}: ${reason}` });
  if (!response.isSuccess || isHtmlPage(response)) throw protocolError(reason);
  // Truncated in transit.
  if (json === undefined) return { isRetryable: reason, protocolError: true };
  const token = parseToken(json, requestedAt);
  if (!token) throw protocolError("the response contains no usable access token");
  return { done: token };
}

function parseToken(json: unknown, requestedAt: number): AccessToken | null {
  if (!isObject(json)) return null;
  const { access_token: text, token_type: type, expires_in: seconds } = json;
  // A header value can contain only visible ASCII characters.
  if (typeof text !== "string" || !/^[\x21-\x7e]+$/.test(text)) return null;
  if (type !== undefined && !(typeof type === "string" && type.toLowerCase() === "bearer")) return null;
  const lifetimeSeconds = typeof seconds === "number" || typeof seconds === "string" ? Number(seconds) : Number.NaN;
  const lifetimeMs = (lifetimeSeconds > 0 ? lifetimeSeconds : tokenLifetimeSeconds) * 1000;
  return {
    text,
    expires: requestedAt + lifetimeMs - Math.min(renewalMargin.maxMs, lifetimeMs * renewalMargin.share),
    wasAccepted: false,
  };
}
