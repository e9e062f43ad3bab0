import { isUtf8 } from "node:buffer";
import { type BytesColumn, type Column, type FieldType, Presence, type Slab } from "../../../src/model/index.js";
import { parseNumber } from "../../shared/text/parse-number.js";
import { parsePlainDecimal } from "../../shared/text/plain-decimal.js";
import { ByteRun } from "../json/byte-run.js";
import { JsonToken } from "../json/cursor.js";
import { JsonStringDecoder, repairJson } from "../json/text.js";

/** Reports a repair or loss: a code and its count. */
export type ReportIssue = (
  code: "lone-surrogate" | "invalid-utf8" | "control-character" | "non-finite-value",
  count: number,
) => void;

/** Number of digits that a double always represents exactly. */
export const maxSafeDigits = 15;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** The tokens, as bits, that are not a value. */
const noValueTokens = (1 << JsonToken.absent) | (1 << JsonToken.null) | (1 << JsonToken.nonFinite);

/** Numbers stored per value, and the initial capacity in rows. */
const numbersPerRow = 3;
const initialRows = 32;

/** Matches no JSON, because a name has quotes. */
const unmatchableRun = new ByteRun(Uint8Array.of(0));

/** The undecoded JSON values of one property in the rows of a batch: their tokens and positions. */
export class RawColumn {
  /** The column that followed this one last time, tried first. */
  next: RawColumn | null = null;
  /** The bytes before its last value: from the opening brace of the properties, and from another value. */
  opening = unmatchableRun;
  lead = unmatchableRun;
  /** Why the name contains U+FFFD. */
  nameFlaw: "invalid-utf8" | "lone-surrogate" | null = null;
  /** Whether the current batch has this property. */
  active = false;
  /** Per row: the token, and the start and end of the value. */
  private places: Uint32Array;

  /** @param slab memory for one row, if the column is one of very many */
  constructor(
    readonly name: string,
    /** The name's bytes between the quotes; null if it is never compared. */
    readonly key: Uint8Array | null,
    slab: Slab | null = null,
  ) {
    this.places = slab ? slab.uint32(numbersPerRow) : new Uint32Array(numbersPerRow * initialRows);
  }

  set(row: number, token: number, start: number, end: number): void {
    const at = numbersPerRow * row;
    if (at >= this.places.length) this.grow(row);
    const { places } = this;
    places[at] = token;
    places[at + 1] = start;
    places[at + 2] = end;
  }

  /** Whether `row` has a value, including null. */
  has(row: number): boolean {
    return this.tokenAt(row) !== JsonToken.absent;
  }

  /** How many of the first `rows` rows have a value, including null. */
  valuesIn(rows: number): number {
    let count = 0;
    for (let row = 0; row < rows; row++) if (this.has(row)) count++;
    return count;
  }

  /** The `JsonToken` and the position of the value of `row`. */
  tokenAt(row: number): number {
    const at = numbersPerRow * row;
    return at < this.places.length ? this.places[at]! : JsonToken.absent;
  }

  startAt(row: number): number {
    return this.places[numbersPerRow * row + 1]!;
  }

  endAt(row: number): number {
    return this.places[numbersPerRow * row + 2]!;
  }

  private grow(row: number): void {
    let { length } = this.places;
    if (length > numbersPerRow * row) return;
    while (length <= numbersPerRow * row) length *= 2;
    const { places } = this;
    this.places = new Uint32Array(length);
    this.places.set(places);
  }

  clear(row: number): void {
    const at = numbersPerRow * row;
    if (at < this.places.length) this.places[at] = JsonToken.absent;
  }

  /**
   * The values of the first `rows` rows in the narrowest type that holds them all exactly, or null if no row has the
   * property; resets the column for the next batch. Text mixed with numbers, and integers that no type holds, stay
   * JSON.
   * @param valid whether `bytes` are all UTF-8
   * @param slab memory for the column, if it is one of very many
   */
  finish(rows: number, bytes: Buffer, valid: boolean, remark: ReportIssue, slab: Slab | null = null): Column | null {
    if (rows > 0) this.grow(rows - 1);
    let found = 0;
    for (let i = 0; i < rows; i++) found |= 1 << this.places[numbersPerRow * i]!;
    const column = found === 1 << JsonToken.absent ? null : this.decode(rows, bytes, valid, found, remark, slab);
    this.places.fill(JsonToken.absent);
    this.active = false;
    return column;
  }

  private decode(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    found: number,
    remark: ReportIssue,
    slab: Slab | null,
  ): Column {
    const presence = (found & noValueTokens) === 0 && slab ? slab.allOnes(rows) : this.presence(rows, remark, slab);
    const type = cachedTypeOfTokens(found);
    if (type === "boolean") {
      const values = slab ? slab.uint8(rows) : new Uint8Array(rows);
      for (let i = 0; i < rows; i++) values[i] = this.tokenAt(i) === JsonToken.true ? 1 : 0;
      return { type, presence, values };
    }
    if (type === "int64")
      return this.integers(rows, bytes, presence, slab) ?? this.json(rows, bytes, valid, presence, remark, slab);
    if (type === "double")
      return this.doubles(rows, bytes, presence, slab) ?? this.json(rows, bytes, valid, presence, remark, slab);
    if (type === "text") return this.text(rows, bytes, valid, presence, remark, slab);
    return this.json(rows, bytes, valid, presence, remark, slab);
  }

  private presence(rows: number, remark: ReportIssue, slab: Slab | null): Uint8Array {
    const presence = slab ? slab.uint8(rows) : new Uint8Array(rows);
    let nonFinite = 0;
    for (let i = 0; i < rows; i++) {
      const token = this.tokenAt(i);
      if (token === JsonToken.nonFinite) nonFinite++;
      presence[i] =
        token === JsonToken.absent
          ? Presence.absent
          : token === JsonToken.null || token === JsonToken.nonFinite
            ? Presence.null
            : Presence.value;
    }
    if (nonFinite > 0) remark("non-finite-value", nonFinite);
    return presence;
  }

  private integers(rows: number, bytes: Buffer, presence: Uint8Array, slab: Slab | null): Column | null {
    const values = slab ? slab.int32(rows) : new Int32Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.startAt(i);
      const end = this.endAt(i);
      if (end - start > maxSafeDigits) return this.longIntegers(rows, bytes, presence);
      const value = parseShortInteger(bytes, start, end);
      if (value !== (value | 0)) return this.longIntegers(rows, bytes, presence);
      values[i] = value;
    }
    return { type: "int32", presence, values };
  }

  private longIntegers(rows: number, bytes: Buffer, presence: Uint8Array): Column | null {
    const values = new BigInt64Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const value = BigInt(bytes.toString("latin1", this.startAt(i), this.endAt(i)));
      if (value < minInt64 || value > maxInt64) return null;
      values[i] = value;
    }
    return { type: "int64", presence, values };
  }

  /** Returns null if an integer would be rounded, or a number is beyond the range of doubles. */
  private doubles(rows: number, bytes: Buffer, presence: Uint8Array, slab: Slab | null): Column | null {
    const values = slab ? slab.float64(rows) : new Float64Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.startAt(i);
      const end = this.endAt(i);
      // The call stores only values with an exact number of digits.
      if (parsePlainDecimal(bytes, start, end, values, i) === end) continue;
      const value = parseNumber(bytes, start, end);
      if (!Number.isFinite(value)) return null;
      const rounded =
        this.tokenAt(i) === JsonToken.integer && end - start > maxSafeDigits && !Number.isSafeInteger(value);
      if (rounded) return null;
      values[i] = value;
    }
    return { type: "double", presence, values };
  }

  private text(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    presence: Uint8Array,
    remark: ReportIssue,
    slab: Slab | null,
  ): BytesColumn {
    const offsets = slab ? slab.uint32(rows + 1) : new Uint32Array(rows + 1);
    let size = 0;
    for (let i = 0; i < rows; i++) if (presence[i] === Presence.value) size += this.endAt(i) - this.startAt(i) - 2;
    // An invalid byte becomes U+FFFD, which has three bytes.
    const target = slab?.buffer(valid ? size : size * 3) ?? Buffer.allocUnsafeSlow(valid ? size : size * 3);
    const decoder = new JsonStringDecoder();
    let at = 0;
    let surrogates = 0;
    let invalid = 0;
    let controls = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        const start = this.startAt(i) + 1;
        const end = this.endAt(i) - 1;
        const before = at;
        if (this.tokenAt(i) === JsonToken.encoded) {
          decoder.loneSurrogate = false;
          at = decoder.into(bytes, start, end, target, at);
          if (decoder.loneSurrogate) surrogates++;
          if (hasControl(bytes, start, end)) controls++;
        } else if (end - start < 24) for (let k = start; k < end; k++) target[at++] = bytes[k]!;
        else at += bytes.copy(target, at, start, end);
        if (!valid && !isUtf8(target.subarray(before, at))) {
          invalid++;
          at = before + target.write(target.toString("utf8", before, at), before, "utf8");
        }
      }
      offsets[i + 1] = at;
    }
    if (surrogates > 0) remark("lone-surrogate", surrogates);
    if (invalid > 0) remark("invalid-utf8", invalid);
    if (controls > 0) remark("control-character", controls);
    return { type: "text", presence, offsets, bytes: trimArray(target, at) };
  }

  /** Each value as its JSON source text. */
  private json(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    presence: Uint8Array,
    remark: ReportIssue,
    slab: Slab | null,
  ): BytesColumn {
    const offsets = slab ? slab.uint32(rows + 1) : new Uint32Array(rows + 1);
    const parts: Uint8Array[] = [];
    let at = 0;
    let nonFinite = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        let part: Uint8Array = bytes.subarray(this.startAt(i), this.endAt(i));
        const broken = !valid && !isUtf8(part);
        if (broken || this.tokenAt(i) === JsonToken.flawed || this.tokenAt(i) === JsonToken.encoded) {
          const mended = repairJson(Buffer.from(part.buffer, part.byteOffset, part.length).toString("utf8"));
          part = Buffer.from(mended.json, "utf8");
          nonFinite += mended.nonFinite;
          if (broken) remark("invalid-utf8", 1);
          else if (this.tokenAt(i) === JsonToken.flawed && mended.nonFinite + mended.commas === 0)
            remark("control-character", 1);
        }
        parts.push(part);
        at += part.length;
      }
      offsets[i + 1] = at;
    }
    if (nonFinite > 0) remark("non-finite-value", nonFinite);
    const target = slab ? slab.uint8(at) : new Uint8Array(at);
    at = 0;
    for (const part of parts) {
      target.set(part, at);
      at += part.length;
    }
    return { type: "json", presence, offsets, bytes: target };
  }
}

const typeByTokens = new Map<number, FieldType>();

/** The type that holds tokens of all these kinds, one bit each. */
function cachedTypeOfTokens(found: number): FieldType {
  let type = typeByTokens.get(found);
  if (type === undefined) {
    type = typeOfTokens(found);
    typeByTokens.set(found, type);
  }
  return type;
}

function typeOfTokens(found: number): FieldType {
  const has = (...tokens: number[]) => tokens.some((token) => (found & (1 << token)) !== 0);
  const kinds: FieldType[] = [];
  if (has(JsonToken.false, JsonToken.true)) kinds.push("boolean");
  if (has(JsonToken.double)) kinds.push("double");
  else if (has(JsonToken.integer)) kinds.push("int64");
  if (has(JsonToken.text, JsonToken.encoded)) kinds.push("text");
  if (has(JsonToken.nested, JsonToken.flawed)) kinds.push("json");
  if (kinds.length === 0) return has(JsonToken.nonFinite) ? "double" : "text";
  return kinds.length === 1 ? kinds[0]! : "json";
}

/** An integer of at most 15 digits. */
export function parseShortInteger(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === 45;
  let value = 0;
  for (let i = negative ? start + 1 : start; i < end; i++) value = value * 10 + bytes[i]! - 48;
  return negative ? -value : value;
}

function hasControl(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! < 32) return true;
  return false;
}

function trimArray(target: Buffer<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (target.length === length) return new Uint8Array(target.buffer, target.byteOffset, length);
  return new Uint8Array(target.subarray(0, length));
}
