import { isUtf8 } from "node:buffer";
import {
  emptyFieldState,
  type FieldState,
  type FieldType,
  maxBooleanTextBytes,
  maxDoubleTextBytes,
  temporalTypeAt,
} from "../../../src/model/index.js";
import { JsonToken } from "../../shared/json/cursor.js";
import { maxSafeDigits, parseShortInteger } from "../../shared/json/raw-column.js";
import { JsonStringDecoder } from "../../shared/json/text.js";
import { parseNumber } from "../../shared/text/parse-number.js";

/** Thrown if only reading the features can determine the summary. */
export class CannotInfer extends Error {}

/** The possible types of the values of a property, or of the ids, as bits. */
const ValueTypeFlag = { boolean: 1, int32: 2, int64: 4, double: 8, text: 16, json: 32 } as const;

/** The flags that each type covers. */
const typeFlags: readonly (readonly [FieldType, sorts: number])[] = [
  ["boolean", ValueTypeFlag.boolean],
  ["int32", ValueTypeFlag.int32],
  ["int64", ValueTypeFlag.int32 | ValueTypeFlag.int64],
  ["double", ValueTypeFlag.int32 | ValueTypeFlag.int64 | ValueTypeFlag.double],
  ["text", ValueTypeFlag.text],
  ["json", ValueTypeFlag.json],
];

/** A number with at most this many digits always fits an `int32`. */
const maxInt32Digits = 9;
/** A number of at most this many bytes, without an exponent, is finite. */
const maxFiniteBytes = 300;

/** Decodes escapes; the next call reuses the memory. */
export class Unescaper {
  private readonly decoder = new JsonStringDecoder();
  private readonly memory = Buffer.allocUnsafeSlow(1 << 16);

  /** The text of `bytes[start … end]`, valid until the next call. */
  text(bytes: Buffer, start: number, end: number): Buffer {
    const { memory } = this;
    const target = end - start <= memory.length ? memory : Buffer.allocUnsafeSlow(end - start);
    return target.subarray(0, this.decoder.into(bytes, start, end, target, 0));
  }
}

/**
 * Infers the summary of one property without decoding its values. The result equals that of the column; if it depends
 * on several values at a time (text mixed with numbers, integers beyond 15 digits), it throws CannotInfer.
 */
export class ColumnStats {
  private sorts = 0;
  private values = 0;
  private maxBytes = 0;
  /** The temporal type of all texts so far; undefined before the first, null if they differ. */
  private temporal: FieldType | null | undefined;
  /** The number of the first feature that has the property, from 1; 0 before that. */
  first = 0;

  constructor(
    readonly name: string,
    private readonly unescaped: Unescaper,
  ) {}

  /**
   * Adds the value at `bytes[start … end]`.
   * @param valid whether `bytes` are all UTF-8
   * @throws CannotInfer
   */
  add(token: number, bytes: Buffer, start: number, end: number, valid: boolean): void {
    if (token === JsonToken.null) return;
    this.values++;
    if (token === JsonToken.text) this.text(bytes, start + 1, end - 1, valid);
    else if (token === JsonToken.integer) this.integer(bytes, start, end);
    else if (token === JsonToken.double) this.double(bytes, start, end);
    else if (token === JsonToken.false || token === JsonToken.true)
      this.sized(ValueTypeFlag.boolean, maxBooleanTextBytes);
    else if (token === JsonToken.encoded) this.encoded(bytes, start + 1, end - 1, valid);
    else if (token === JsonToken.nested && (valid || isUtf8(bytes.subarray(start, end))))
      this.sized(ValueTypeFlag.json, end - start);
    else throw new CannotInfer();
  }

  private sized(sort: number, size: number): void {
    if ((this.sorts & sort) === 0) this.admit(sort);
    if (size > this.maxBytes) this.maxBytes = size;
  }

  /** @throws CannotInfer if no type holds this together with the earlier values */
  private admit(sort: number): void {
    this.sorts |= sort;
    if (!typeFlags.some(([, all]) => (this.sorts & ~all) === 0)) throw new CannotInfer();
  }

  private integer(bytes: Buffer, start: number, end: number): void {
    const size = end - start;
    if (size > maxSafeDigits) throw new CannotInfer();
    const value = size > maxInt32Digits ? parseShortInteger(bytes, start, end) : 0;
    this.sized(value === (value | 0) ? ValueTypeFlag.int32 : ValueTypeFlag.int64, size);
  }

  private double(bytes: Buffer, start: number, end: number): void {
    let at = end - 1;
    while (at > start && bytes[at] !== 46 && (bytes[at]! | 32) !== 101) at--;
    const plain = bytes[at] === 46 && end - start < maxFiniteBytes;
    if (!plain && !Number.isFinite(parseNumber(bytes, start, end))) throw new CannotInfer();
    this.sized(ValueTypeFlag.double, maxDoubleTextBytes);
  }

  private encoded(bytes: Buffer, start: number, end: number, valid: boolean): void {
    const text = this.unescaped.text(bytes, start, end);
    this.text(text, 0, text.length, valid);
  }

  private text(bytes: Buffer, from: number, to: number, valid: boolean): void {
    if (!valid && !isUtf8(bytes.subarray(from, to))) throw new CannotInfer();
    this.sized(ValueTypeFlag.text, to - from);
    if (this.temporal === null) return;
    const type = temporalTypeAt(bytes, from, to);
    if (this.temporal === undefined) this.temporal = type;
    else if (this.temporal !== type) this.temporal = null;
  }

  get state(): FieldState {
    const { sorts, values, maxBytes } = this;
    const type = sorts === 0 ? null : typeFlags.find(([, all]) => (sorts & ~all) === 0)![0];
    // `Summarizer` does the same for columns other than text.
    const temporalType = type === null || type === "text" ? this.temporal : null;
    return { ...emptyFieldState(), type, values, maxBytes, temporalType };
  }
}
