/** Forms that only this service's own pages can send: a token that is bound to the browser's, and where it came from. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const computeMac = (browserToken: string, salt: Buffer): Buffer =>
  createHmac("sha256", browserToken).update("form").update(salt).digest();

/** What a form carries. It differs every time, so that compressed pages do not give it away (BREACH). */
export function createCsrfToken(browserToken: string): string {
  const salt = randomBytes(16);
  return Buffer.concat([salt, computeMac(browserToken, salt)]).toString("base64url");
}

/** Whether a form was made for this browser. */
export function verifyCsrfToken(browserToken: string, token: string): boolean {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== 48) return false;
  return timingSafeEqual(bytes.subarray(16), computeMac(browserToken, bytes.subarray(0, 16)));
}

/** What browsers say about where a request comes from. */
export interface OriginHeaders {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
}

/** False where the browser says that another site's page sent it. Where it says nothing, the token decides. */
export function isSameOrigin(headers: OriginHeaders, ownOrigin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  if (headers.origin !== undefined) return headers.origin === ownOrigin;
  if (headers.referer === undefined) return true;
  return URL.canParse(headers.referer) && new URL(headers.referer).origin === ownOrigin;
}
