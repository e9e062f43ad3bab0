import { isUtf8 } from "node:buffer";
import { type BytesColumn, type Column, type FieldType, Presence, type Slab } from "../../src/model/index.js";
import { parseNumber } from "../shared/numbers.js";
import { putDecimal } from "../shared/plain-decimal.js";
import { ByteRun } from "./byte-run.js";
import { Token } from "./json-cursor.js";
import { mendJson, StringDecoder } from "./json-text.js";

/** Where a column says what it had to mend or give up: a code and how often. */
export type Remark = (
  code: "lone-surrogate" | "invalid-utf8" | "control-character" | "non-finite",
  count: number,
) => void;

/** Digits of an integer that a double surely holds. */
export const safeDigits = 15;
const least = -(2n ** 63n);
const greatest = 2n ** 63n - 1n;

/** The tokens, as bits, of what is no value. */
const withoutValue = (1 << Token.absent) | (1 << Token.null) | (1 << Token.nonFinite);

/** Numbers that are kept of a value, and rows that there is room for at first. */
const perRow = 3;
const usualRows = 32;

/** What no JSON matches: a name has its quotes. */
const unknown = new ByteRun(Uint8Array.of(0));

/** The JSON values of one property in the rows of a batch: what they are and where they stand, not yet decoded. */
export class RawColumn {
  /** The column that followed this one last time: the next one probably does so too. */
  next: RawColumn | null = null;
  /** What stood before its last value: from the brace that opens the properties on, and from another value on. */
  opening = unknown;
  lead = unknown;
  /** Whether the batch under way has this property. */
  active = false;
  /** Of each row the token, where its value starts, and where it ends. */
  private places: Uint32Array;

  /** @param slab where it takes the memory for one row from, if it is one of very many */
  constructor(
    readonly name: string,
    /** The name as it stands between the quotes; null where nobody compares it. */
    readonly key: Uint8Array | null,
    slab: Slab | null = null,
  ) {
    this.places = slab ? slab.uint32(perRow) : new Uint32Array(perRow * usualRows);
  }

  set(row: number, token: number, start: number, end: number): void {
    const at = perRow * row;
    if (at >= this.places.length) this.grow(row);
    const { places } = this;
    places[at] = token;
    places[at + 1] = start;
    places[at + 2] = end;
  }

  /** Whether `row` has a value, null among them. */
  has(row: number): boolean {
    return this.tokenAt(row) !== Token.absent;
  }

  /** What the value of `row` is (a `Token`), and where it stands. */
  tokenAt(row: number): number {
    const at = perRow * row;
    return at < this.places.length ? this.places[at]! : Token.absent;
  }

  startAt(row: number): number {
    return this.places[perRow * row + 1]!;
  }

  endAt(row: number): number {
    return this.places[perRow * row + 2]!;
  }

  private grow(row: number): void {
    let { length } = this.places;
    if (length > perRow * row) return;
    while (length <= perRow * row) length *= 2;
    const { places } = this;
    this.places = new Uint32Array(length);
    this.places.set(places);
  }

  clear(row: number): void {
    const at = perRow * row;
    if (at < this.places.length) this.places[at] = Token.absent;
  }

  /**
   * The values of the first `rows` rows, in the least type that holds them all exactly, null where no row has the
   * property; the column is ready for the next batch then. Text beside numbers, and integers that no type holds,
   * stay as JSON.
   * @param valid whether `bytes` are all UTF-8
   * @param slab where the column takes its memory from, if it is one of very many
   */
  finish(rows: number, bytes: Buffer, valid: boolean, remark: Remark, slab: Slab | null = null): Column | null {
    if (rows > 0) this.grow(rows - 1);
    let found = 0;
    for (let i = 0; i < rows; i++) found |= 1 << this.places[perRow * i]!;
    const column = found === 1 << Token.absent ? null : this.decode(rows, bytes, valid, found, remark, slab);
    this.places.fill(Token.absent);
    this.active = false;
    return column;
  }

  private decode(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    found: number,
    remark: Remark,
    slab: Slab | null,
  ): Column {
    const presence = (found & withoutValue) === 0 && slab ? slab.allOnes(rows) : this.presence(rows, remark, slab);
    const type = typeOf(found);
    if (type === "boolean") {
      const values = slab ? slab.uint8(rows) : new Uint8Array(rows);
      for (let i = 0; i < rows; i++) values[i] = this.tokenAt(i) === Token.true ? 1 : 0;
      return { type, presence, values };
    }
    if (type === "int64")
      return this.integers(rows, bytes, presence, slab) ?? this.json(rows, bytes, valid, presence, remark, slab);
    if (type === "double")
      return this.doubles(rows, bytes, presence, slab) ?? this.json(rows, bytes, valid, presence, remark, slab);
    if (type === "text") return this.text(rows, bytes, valid, presence, remark, slab);
    return this.json(rows, bytes, valid, presence, remark, slab);
  }

  private presence(rows: number, remark: Remark, slab: Slab | null): Uint8Array {
    const presence = slab ? slab.uint8(rows) : new Uint8Array(rows);
    let nonFinite = 0;
    for (let i = 0; i < rows; i++) {
      const token = this.tokenAt(i);
      if (token === Token.nonFinite) nonFinite++;
      presence[i] =
        token === Token.absent
          ? Presence.absent
          : token === Token.null || token === Token.nonFinite
            ? Presence.null
            : Presence.value;
    }
    if (nonFinite > 0) remark("non-finite", nonFinite);
    return presence;
  }

  private integers(rows: number, bytes: Buffer, presence: Uint8Array, slab: Slab | null): Column | null {
    const values = slab ? slab.int32(rows) : new Int32Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.startAt(i);
      const end = this.endAt(i);
      if (end - start > safeDigits) return this.longIntegers(rows, bytes, presence);
      const value = shortInteger(bytes, start, end);
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
      if (value < least || value > greatest) return null;
      values[i] = value;
    }
    return { type: "int64", presence, values };
  }

  /** Null where an integer among them would be rounded, or a number is beyond the range of doubles. */
  private doubles(rows: number, bytes: Buffer, presence: Uint8Array, slab: Slab | null): Column | null {
    const values = slab ? slab.float64(rows) : new Float64Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.startAt(i);
      const end = this.endAt(i);
      // What is put there has no more digits than are exact.
      if (putDecimal(bytes, start, end, values, i) === end) continue;
      const value = parseNumber(bytes, start, end);
      if (!Number.isFinite(value)) return null;
      const rounded = this.tokenAt(i) === Token.integer && end - start > safeDigits && !Number.isSafeInteger(value);
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
    remark: Remark,
    slab: Slab | null,
  ): BytesColumn {
    const offsets = slab ? slab.uint32(rows + 1) : new Uint32Array(rows + 1);
    let size = 0;
    for (let i = 0; i < rows; i++) if (presence[i] === Presence.value) size += this.endAt(i) - this.startAt(i) - 2;
    // A byte that is no UTF-8 becomes the three of U+FFFD.
    const target = slab?.buffer(valid ? size : size * 3) ?? Buffer.allocUnsafeSlow(valid ? size : size * 3);
    const decoder = new StringDecoder();
    let at = 0;
    let surrogates = 0;
    let invalid = 0;
    let controls = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        const start = this.startAt(i) + 1;
        const end = this.endAt(i) - 1;
        const before = at;
        if (this.tokenAt(i) === Token.encoded) {
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
    return { type: "text", presence, offsets, bytes: trimmed(target, at) };
  }

  /** Each value as the JSON that it was written in. */
  private json(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    presence: Uint8Array,
    remark: Remark,
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
        if (broken || this.tokenAt(i) === Token.flawed || this.tokenAt(i) === Token.encoded) {
          const mended = mendJson(Buffer.from(part.buffer, part.byteOffset, part.length).toString("utf8"));
          part = Buffer.from(mended.json, "utf8");
          nonFinite += mended.nonFinite;
          if (broken) remark("invalid-utf8", 1);
          else if (this.tokenAt(i) === Token.flawed && mended.nonFinite + mended.commas === 0)
            remark("control-character", 1);
        }
        parts.push(part);
        at += part.length;
      }
      offsets[i + 1] = at;
    }
    if (nonFinite > 0) remark("non-finite", nonFinite);
    const target = slab ? slab.uint8(at) : new Uint8Array(at);
    at = 0;
    for (const part of parts) {
      target.set(part, at);
      at += part.length;
    }
    return { type: "json", presence, offsets, bytes: target };
  }
}

const typesFound = new Map<number, FieldType>();

/** The type that holds tokens of these kinds (a bit each) together. */
function typeOf(found: number): FieldType {
  let type = typesFound.get(found);
  if (type === undefined) {
    type = typeOfKinds(found);
    typesFound.set(found, type);
  }
  return type;
}

function typeOfKinds(found: number): FieldType {
  const has = (...tokens: number[]) => tokens.some((token) => (found & (1 << token)) !== 0);
  const kinds: FieldType[] = [];
  if (has(Token.false, Token.true)) kinds.push("boolean");
  if (has(Token.double)) kinds.push("double");
  else if (has(Token.integer)) kinds.push("int64");
  if (has(Token.text, Token.encoded)) kinds.push("text");
  if (has(Token.nested, Token.flawed)) kinds.push("json");
  if (kinds.length === 0) return has(Token.nonFinite) ? "double" : "text";
  return kinds.length === 1 ? kinds[0]! : "json";
}

/** An integer of at most 15 digits. */
export function shortInteger(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === 45;
  let value = 0;
  for (let i = negative ? start + 1 : start; i < end; i++) value = value * 10 + bytes[i]! - 48;
  return negative ? -value : value;
}

function hasControl(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! < 32) return true;
  return false;
}

function trimmed(target: Buffer<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (target.length === length) return new Uint8Array(target.buffer, target.byteOffset, length);
  return new Uint8Array(target.subarray(0, length));
}
