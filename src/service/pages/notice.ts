/**
 * What the next page says at its top, after a form was sent and the browser led on. It travels in a cookie, sealed for
 * this browser: a secret is shown once and kept nowhere, and no one else can put words there.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

export type Notice =
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "credential"; readonly name: string; readonly clientId: string; readonly clientSecret: string };

const cipher = "aes-256-gcm";
const deriveKey = (browserToken: string): Buffer => createHmac("sha256", browserToken).update("notice").digest();

export function encryptNotice(notice: Notice, browserToken: string): string {
  const nonce = randomBytes(12);
  const sealing = createCipheriv(cipher, deriveKey(browserToken), nonce);
  const text = Buffer.concat([sealing.update(JSON.stringify(notice)), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), text]).toString("base64url");
}

/** Null for what was not sealed for this browser. */
export function decryptNotice(sealed: string, browserToken: string): Notice | null {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < 28) return null;
  const opening = createDecipheriv(cipher, deriveKey(browserToken), bytes.subarray(0, 12));
  opening.setAuthTag(bytes.subarray(12, 28));
  try {
    return JSON.parse(opening.update(bytes.subarray(28), undefined, "utf8") + opening.final("utf8")) as Notice;
  } catch {
    return null;
  }
}
