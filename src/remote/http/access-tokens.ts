/** Access tokens (Map Features Service Interface, 4.1 and 5): one at a time, and a new one before the old one ends. */
import { createError, GeoferryError } from "../../errors.js";
import { tokenLifetimeSeconds } from "../wire.js";
import { describeResponse, isHtmlPage, isRetryLater, toRetry } from "./describe-response.js";
import type { AttemptResult } from "./retry.js";
import { isObject } from "./sanitize-for-display.js";
import type { ServiceResponse } from "./send-request.js";

export interface AccessToken {
  readonly text: string;
  /** By `performance.now`. */
  readonly expires: number;
  /** Whether a request with it was let in. */
  wasAccepted: boolean;
}

/** Milliseconds before its end that a token is replaced, and the share of its life where that is short. */
const renewalMargin = { most: 60_000, share: 0.1 } as const;

/** Times that one request is sent again with another token. */
const maxTokenRetries = 2;

export class AccessTokenCache {
  private current: AccessToken | null = null;
  private pending: Promise<AccessToken> | null = null;
  private failure: GeoferryError | null = null;

  constructor(
    private readonly service: string,
    private readonly request: () => Promise<AccessToken>,
  ) {}

  /** A token that lives for a while; whoever asks meanwhile gets the same. */
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
      // Services count failed attempts, and lock out who goes on.
      if (error instanceof GeoferryError && error.code === "remote-credentials") this.failure = error;
      throw error;
    }
  }

  /**
   * Tells of a 401. One for a token that was replaced since, or that worked before, is a reason to go on with another.
   * @param times that this request was refused
   * @throws remote-credentials where another would not help; from then on for everybody
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

/** The body of a request for a token (4.1). */
export const tokenRequestBody = (clientId: string, clientSecret: string): string =>
  new URLSearchParams({
    grant_type: "client_credentials_with_user",
    client_id: clientId,
    client_secret: clientSecret,
  }).toString();

/** Errors of RFC 6749, 5.2, that are about who asks. */
const credentialErrors: ReadonlySet<unknown> = new Set([
  "invalid_client",
  "unauthorized_client",
  "invalid_grant",
  "access_denied",
]);

/**
 * The token in an answer (2.5).
 * @param asked when it was asked for, by `performance.now`
 * @throws remote-credentials, remote-protocol-error
 */
export function parseTokenResponse(
  answer: ServiceResponse,
  asked: number,
  at: { readonly service: string; readonly address: string; readonly secrets: readonly string[] },
): AttemptResult<AccessToken> {
  const { service, address, secrets } = at;
  const { status } = answer;
  const reason = describeResponse(answer, secrets);
  if (isRetryLater(answer) || status >= 500) return toRetry(answer, reason);
  const { json } = answer;
  const error = isObject(json) ? json.error : null;
  if (status === 401 || status === 403 || (status === 400 && credentialErrors.has(error)))
    throw createError("remote-credentials", { service, reason });
  const odd = (reason: string) =>
    createError("remote-protocol-error", { service, reason: `asked for a token at ${address}, ${reason}` });
  if (!answer.isSuccess || isHtmlPage(answer)) throw odd(reason);
  // Torn on its way.
  if (json === undefined) return { isRetryable: reason, protocolError: true };
  const token = parseToken(json, asked);
  if (!token) throw odd("it gives none that a program can use");
  return { done: token };
}

function parseToken(json: unknown, asked: number): AccessToken | null {
  if (!isObject(json)) return null;
  const { access_token: text, token_type: type, expires_in: seconds } = json;
  // What a header can carry: visible characters of ASCII.
  if (typeof text !== "string" || !/^[\x21-\x7e]+$/.test(text)) return null;
  if (type !== undefined && !(typeof type === "string" && type.toLowerCase() === "bearer")) return null;
  const given = typeof seconds === "number" || typeof seconds === "string" ? Number(seconds) : Number.NaN;
  const life = (given > 0 ? given : tokenLifetimeSeconds) * 1000;
  return { text, expires: asked + life - Math.min(renewalMargin.most, life * renewalMargin.share), wasAccepted: false };
}
