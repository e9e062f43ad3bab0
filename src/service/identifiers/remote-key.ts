import type { RemoteKey } from "../../remote/wire.js";
import { sha256Hex } from "./sha256.js";

/** Whether a property's value can identify a feature. */
export function isRemoteKey(value: unknown): value is RemoteKey {
  return typeof value === "string" ? value !== "" : Number.isSafeInteger(value);
}

/**
 * A SHA-256 in hexadecimal digits that two keys share only if type and value are equal: what stores look up. The text
 * "7" and the number 7 are different keys; 7 and 7.0 are one in JSON. -0 is 0, as in JSON's comparison of numbers.
 */
export function digestRemoteKey(key: RemoteKey): string {
  const text = typeof key === "string" ? `s${key}` : `n${key === 0 ? 0 : key}`;
  return sha256Hex(text);
}
