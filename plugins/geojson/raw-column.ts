import { isUtf8 } from "node:buffer";
import { type BytesColumn, type Column, type FieldType, Presence } from "../../src/model/index.js";
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
  private tokens = new Uint8Array(32);
  private starts = new Uint32Array(32);
  private ends = new Uint32Array(32);

  constructor(
    readonly name: string,
    /** The name as it stands between the quotes. */
    readonly key: Uint8Array,
  ) {}

  set(row: number, token: number, start: number, end: number): void {
    if (row >= this.tokens.length) this.grow(row);
    this.tokens[row] = token;
    this.starts[row] = start;
    this.ends[row] = end;
  }

  /** Whether `row` has a value, null among them. */
  has(row: number): boolean {
    return row < this.tokens.length && this.tokens[row] !== Token.absent;
  }

  /** What the value of `row` is (a `Token`), and where it stands. */
  tokenAt(row: number): number {
    return row < this.tokens.length ? this.tokens[row]! : Token.absent;
  }

  startAt(row: number): number {
    return this.starts[row]!;
  }

  endAt(row: number): number {
    return this.ends[row]!;
  }

  private grow(row: number): void {
    let length = this.tokens.length;
    while (length <= row) length *= 2;
    const { tokens, starts, ends } = this;
    this.tokens = new Uint8Array(length);
    this.tokens.set(tokens);
    this.starts = new Uint32Array(length);
    this.starts.set(starts);
    this.ends = new Uint32Array(length);
    this.ends.set(ends);
  }

  clear(row: number): void {
    if (row < this.tokens.length) this.tokens[row] = Token.absent;
  }

  /**
   * The values of the first `rows` rows, in the least type that holds them all exactly, null where no row has the
   * property; the column is ready for the next batch then. Text beside numbers, and integers that no type holds,
   * stay as JSON.
   * @param valid whether `bytes` are all UTF-8
   */
  finish(rows: number, bytes: Buffer, valid: boolean, remark: Remark): Column | null {
    if (rows > this.tokens.length) this.grow(rows - 1);
    let found = 0;
    for (let i = 0; i < rows; i++) found |= 1 << this.tokens[i]!;
    const column = found === 1 << Token.absent ? null : this.decode(rows, bytes, valid, found, remark);
    this.tokens.fill(Token.absent);
    this.active = false;
    return column;
  }

  private decode(rows: number, bytes: Buffer, valid: boolean, found: number, remark: Remark): Column {
    const presence = new Uint8Array(rows);
    let nonFinite = 0;
    for (let i = 0; i < rows; i++) {
      const token = this.tokens[i]!;
      if (token === Token.nonFinite) nonFinite++;
      presence[i] =
        token === Token.absent
          ? Presence.absent
          : token === Token.null || token === Token.nonFinite
            ? Presence.null
            : Presence.value;
    }
    if (nonFinite > 0) remark("non-finite", nonFinite);
    const type = typeOf(found);
    if (type === "boolean") {
      const values = new Uint8Array(rows);
      for (let i = 0; i < rows; i++) values[i] = this.tokens[i] === Token.true ? 1 : 0;
      return { type, presence, values };
    }
    if (type === "int64")
      return this.integers(rows, bytes, presence) ?? this.json(rows, bytes, valid, presence, remark);
    if (type === "double")
      return this.doubles(rows, bytes, presence) ?? this.json(rows, bytes, valid, presence, remark);
    if (type === "text") return this.text(rows, bytes, valid, presence, remark);
    return this.json(rows, bytes, valid, presence, remark);
  }

  private integers(rows: number, bytes: Buffer, presence: Uint8Array): Column | null {
    const values = new Int32Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.starts[i]!;
      const end = this.ends[i]!;
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
      const value = BigInt(bytes.toString("latin1", this.starts[i]!, this.ends[i]!));
      if (value < least || value > greatest) return null;
      values[i] = value;
    }
    return { type: "int64", presence, values };
  }

  /** Null where an integer among them would be rounded, or a number is beyond the range of doubles. */
  private doubles(rows: number, bytes: Buffer, presence: Uint8Array): Column | null {
    const values = new Float64Array(rows);
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const start = this.starts[i]!;
      const end = this.ends[i]!;
      // What is put there has no more digits than are exact.
      if (putDecimal(bytes, start, end, values, i) === end) continue;
      const value = parseNumber(bytes, start, end);
      if (!Number.isFinite(value)) return null;
      const rounded = this.tokens[i] === Token.integer && end - start > safeDigits && !Number.isSafeInteger(value);
      if (rounded) return null;
      values[i] = value;
    }
    return { type: "double", presence, values };
  }

  private text(rows: number, bytes: Buffer, valid: boolean, presence: Uint8Array, remark: Remark): BytesColumn {
    const offsets = new Uint32Array(rows + 1);
    let size = 0;
    for (let i = 0; i < rows; i++) if (presence[i] === Presence.value) size += this.ends[i]! - this.starts[i]! - 2;
    // A byte that is no UTF-8 becomes the three of U+FFFD.
    const target = Buffer.allocUnsafeSlow(valid ? size : size * 3);
    const decoder = new StringDecoder();
    let at = 0;
    let surrogates = 0;
    let invalid = 0;
    let controls = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        const start = this.starts[i]! + 1;
        const end = this.ends[i]! - 1;
        const before = at;
        if (this.tokens[i] === Token.encoded) {
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
  private json(rows: number, bytes: Buffer, valid: boolean, presence: Uint8Array, remark: Remark): BytesColumn {
    const offsets = new Uint32Array(rows + 1);
    const parts: Uint8Array[] = [];
    let at = 0;
    let nonFinite = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        let part: Uint8Array = bytes.subarray(this.starts[i]!, this.ends[i]!);
        const broken = !valid && !isUtf8(part);
        if (broken || this.tokens[i] === Token.flawed || this.tokens[i] === Token.encoded) {
          const mended = mendJson(Buffer.from(part.buffer, part.byteOffset, part.length).toString("utf8"));
          part = Buffer.from(mended.json, "utf8");
          nonFinite += mended.nonFinite;
          if (broken) remark("invalid-utf8", 1);
          else if (this.tokens[i] === Token.flawed && mended.nonFinite + mended.commas === 0)
            remark("control-character", 1);
        }
        parts.push(part);
        at += part.length;
      }
      offsets[i + 1] = at;
    }
    if (nonFinite > 0) remark("non-finite", nonFinite);
    const target = new Uint8Array(at);
    at = 0;
    for (const part of parts) {
      target.set(part, at);
      at += part.length;
    }
    return { type: "json", presence, offsets, bytes: target };
  }
}

/** The type that holds tokens of these kinds (a bit each) together. */
function typeOf(found: number): FieldType {
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
