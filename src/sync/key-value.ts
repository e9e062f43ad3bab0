/** What a value must be to identify a feature (Map Features Service Interface, 2.3). */
import type { KeyReader } from "../remote/feature-side.js";
import type { RemoteKey } from "../remote/wire.js";

/** Why a value cannot be a key: there is none, it is empty text, an integer that doubles do not hold, or another type. */
export type Unfit = "null" | "empty" | "unsafe" | "type";

/** What stands for a key that is none. */
export interface UnfitKey {
  readonly unfit: Unfit;
}

const none: UnfitKey = { unfit: "null" };
const empty: UnfitKey = { unfit: "empty" };
const unsafe: UnfitKey = { unfit: "unsafe" };
const otherType: UnfitKey = { unfit: "type" };

/** The key that a property's value is: text with a letter in it, or a safe integer. */
export function keyIn(value: unknown): RemoteKey | UnfitKey {
  if (value === undefined || value === null) return none;
  if (typeof value === "string") return value.trim() === "" ? empty : value;
  if (typeof value !== "number") return otherType;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return Number.isInteger(value) ? unsafe : otherType;
}

export const isUnfit = (key: RemoteKey | UnfitKey): key is UnfitKey => typeof key === "object";

/** Reads the keys of features whose property is one. */
export const keyReader = (property: string): KeyReader => ({
  property,
  read: (properties) => {
    const key = keyIn(properties?.[property]);
    return isUnfit(key) ? null : key;
  },
});

/** A UUID in any letters (RFC 9562, 4): the service's ids are such. */
export const isUuid = (text: string): boolean =>
  text.length === 36 && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
