/** Features of a program as lines of GeoJSON; values that JSON does not have are counted as losses. */
import { randomUUID } from "node:crypto";
import { createError } from "../errors.js";
import type { Tally } from "../model/report.js";
import type { FeatureToWrite } from "./convert.js";

/** Marks a number in a JSON text that `JSON.stringify` would refuse or turn into null. */
const numberMark = randomUUID();
const markedNumber = new RegExp(`"${numberMark}(-?\\w+)"`, "g");

/** Deeper values are searched for cycles. */
const maxPlainDepth = 100;

function isPlainJson(value: unknown, depth: number): boolean {
  if (typeof value === "object" && value !== null) {
    if (depth > maxPlainDepth) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return false;
    return Object.values(value).every((member) => isPlainJson(member, depth + 1));
  }
  return typeof value === "number"
    ? Number.isFinite(value)
    : typeof value !== "bigint" && typeof value !== "function" && typeof value !== "symbol";
}

/** Classes whose contents `JSON.stringify` does not see: it writes `{}`. */
const opaqueClasses = /^\[object (Map|Set|WeakMap|WeakSet|WeakRef|Promise|RegExp|Error|Generator|AsyncGenerator)\]$/;

const classOf = (value: object): string => Object.prototype.toString.call(value);

function toBase64(value: ArrayBufferLike | Uint8Array | DataView): string {
  if (!ArrayBuffer.isView(value)) return Buffer.from(value).toString("base64");
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
}

export class FeatureJson {
  constructor(
    private readonly losses: Tally,
    private readonly layer: string,
  ) {}

  /**
   * A feature as JSON in which bigints have all their digits, and NaN and infinities stand for the reader to report.
   * @throws feature-invalid
   */
  stringify(feature: FeatureToWrite): string {
    try {
      if (isPlainJson(feature?.properties, 0)) return JSON.stringify(feature);
      const properties = Object.fromEntries(
        Object.entries(feature.properties!).map(([name, value]) => [name, this.toPlain(value, name, name, [])]),
      );
      return JSON.stringify({ ...feature, properties }).replace(markedNumber, "$1");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw createError("usage", { reason: `a feature cannot be written as JSON: ${reason}` }, error);
    }
  }

  private lose(field: string, what: string): null {
    this.losses.add("value-not-json", this.layer, field, 1, `${what}, which JSON does not have, became null`);
    return null;
  }

  /** @param holders the values around this one */
  private toPlain(value: unknown, key: string, field: string, holders: readonly object[]): unknown {
    if (typeof value === "function" || typeof value === "symbol") return this.lose(field, `a ${typeof value}`);
    if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)))
      return `${numberMark}${String(value)}`;
    if (typeof value !== "object" || value === null) return value;
    if (holders.includes(value)) throw new TypeError(`the value of "${field}" contains itself`);
    if (value instanceof Date && Number.isNaN(value.getTime())) return this.lose(field, "an invalid date");
    if (value instanceof ArrayBuffer || value instanceof Uint8Array || value instanceof DataView)
      return toBase64(value);
    const within = [...holders, value];
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === "function") return this.toPlain(toJSON.call(value, key), key, field, within);
    if (
      value instanceof Number ||
      value instanceof String ||
      value instanceof Boolean ||
      classOf(value) === "[object BigInt]"
    )
      return this.toPlain(value.valueOf(), key, field, within);
    if (Array.isArray(value) || ArrayBuffer.isView(value))
      return Array.from(value as unknown as ArrayLike<unknown>, (member, i) =>
        this.toPlain(member, String(i), field, within),
      );
    const opaque = opaqueClasses.exec(classOf(value));
    if (opaque) return this.lose(field, `a ${opaque[1]}`);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.toPlain(member, name, field, within)]),
    );
  }
}
