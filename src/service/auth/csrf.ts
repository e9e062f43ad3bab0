/** CSRF protection: a form token bound to the browser's session token, and a check of the request's origin. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const computeMac = (browserToken: string, salt: Buffer): Buffer =>
  createHmac("sha256", browserToken).update("form").update(salt).digest();

/** The token of a form. It differs each time, so that compression does not reveal it (BREACH). */
export function createCsrfToken(browserToken: string): string {
  const salt = randomBytes(16);
  return Buffer.concat([salt, computeMac(browserToken, salt)]).toString("base64url");
}

/** Whether the token was created for this browser. */
export function verifyCsrfToken(browserToken: string, token: string): boolean {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== 48) return false;
  return timingSafeEqual(bytes.subarray(16), computeMac(browserToken, bytes.subarray(0, 16)));
}

/** Headers with which browsers state the origin of a request. */
export interface OriginHeaders {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
}

/**
 * Returns false if the browser states that another site sent the request. Without these headers, only the token
 * protects.
 */
export function isSameOrigin(headers: OriginHeaders, ownOrigin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  if (headers.origin !== undefined) return headers.origin === ownOrigin;
  if (headers.referer === undefined) return true;
  return URL.canParse(headers.referer) && new URL(headers.referer).origin === ownOrigin;
}
