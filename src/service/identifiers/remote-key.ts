import type { RemoteKey } from "../../remote/wire.js";
import { findTextProblem } from "../json/storable-text.js";
import { sha256Hex } from "./sha256.js";

/**
 * Whether a property value can identify a feature. Text that no feature can have cannot: in UTF-8, a lone surrogate
 * would become U+FFFD, and match another key.
 */
export function isRemoteKey(value: unknown): value is RemoteKey {
  return typeof value === "string" ? value !== "" && findTextProblem(value) === null : Number.isSafeInteger(value);
}

/**
 * A SHA-256 in hexadecimal digits, equal for two keys only if type and value are equal; stores look up this digest. The
 * string "7" and the number 7 are different keys; 7 and 7.0 are the same in JSON. -0 equals 0, as numbers compare in
 * JSON.
 */
export function digestRemoteKey(key: RemoteKey): string {
  const text = typeof key === "string" ? `s${key}` : `n${key === 0 ? 0 : key}`;
  return sha256Hex(text);
}
