/** Validates key values (Map Features Service Interface, 2.3). */
import type { KeyReader } from "../../compare/feature-side.js";
import type { RemoteKey } from "../../remote/wire.js";

/**
 * Why a value cannot be a key: it is missing, an empty text, an integer beyond the exact range of a double, or of
 * another type.
 */
export type InvalidKeyReason = "null" | "empty" | "unsafe" | "type";

/** The result for an invalid key. */
export interface InvalidKey {
  readonly reason: InvalidKeyReason;
}

const missingKey: InvalidKey = { reason: "null" };
const emptyKey: InvalidKey = { reason: "empty" };
const unsafeKey: InvalidKey = { reason: "unsafe" };
const wrongTypeKey: InvalidKey = { reason: "type" };

/** Parses a property value as a key: a non-blank text or a safe integer. */
export function parseKey(value: unknown): RemoteKey | InvalidKey {
  if (value === undefined || value === null) return missingKey;
  if (typeof value === "string") return value.trim() === "" ? emptyKey : value;
  if (typeof value === "bigint") return unsafeKey;
  if (typeof value !== "number") return wrongTypeKey;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return Number.isInteger(value) ? unsafeKey : wrongTypeKey;
}

export const isInvalidKey = (key: RemoteKey | InvalidKey): key is InvalidKey => typeof key === "object";

/** Creates a reader for the keys in a property. */
export const createKeyReader = (property: string): KeyReader => ({
  property,
  read: (properties) => {
    const key = parseKey(properties?.[property]);
    return isInvalidKey(key) ? null : key;
  },
});

/** Whether the text is a UUID (RFC 9562, 4), the format of service ids; case-insensitive. */
export const isUuid = (text: string): boolean =>
  text.length === 36 && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
