/** What a value must be to identify a feature (Map Features Service Interface, 2.3). */
import type { KeyReader } from "../../remote/snapshot/feature-side.js";
import type { RemoteKey } from "../../remote/wire.js";

/** Why a value cannot be a key: there is none, it is empty text, an integer that doubles do not hold, or another type. */
export type InvalidKeyReason = "null" | "empty" | "unsafe" | "type";

/** What stands for a key that is none. */
export interface InvalidKey {
  readonly reason: InvalidKeyReason;
}

const missingKey: InvalidKey = { reason: "null" };
const emptyKey: InvalidKey = { reason: "empty" };
const unsafeKey: InvalidKey = { reason: "unsafe" };
const wrongTypeKey: InvalidKey = { reason: "type" };

/** The key that a property's value is: text with a letter in it, or a safe integer. */
export function parseKey(value: unknown): RemoteKey | InvalidKey {
  if (value === undefined || value === null) return missingKey;
  if (typeof value === "string") return value.trim() === "" ? emptyKey : value;
  if (typeof value !== "number") return wrongTypeKey;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return Number.isInteger(value) ? unsafeKey : wrongTypeKey;
}

export const isInvalidKey = (key: RemoteKey | InvalidKey): key is InvalidKey => typeof key === "object";

/** Reads the keys of features whose property is one. */
export const createKeyReader = (property: string): KeyReader => ({
  property,
  read: (properties) => {
    const key = parseKey(properties?.[property]);
    return isInvalidKey(key) ? null : key;
  },
});

/** A UUID in any letters (RFC 9562, 4): the service's ids are such. */
export const isUuid = (text: string): boolean =>
  text.length === 36 && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
