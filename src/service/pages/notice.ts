/**
 * A message shown once at the top of the next page after a redirect. It travels in a cookie that is encrypted for this
 * browser: a client secret is shown once and stored nowhere, and others cannot forge messages.
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

/** Returns null if the text was not encrypted for this browser. */
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
