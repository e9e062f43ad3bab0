import { isUtf8 } from "node:buffer";
import { type BytesColumn, type Column, type FieldType, Presence, type Slab } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { parseNumber } from "../text/parse-number.js";
import { parsePlainDecimal } from "../text/plain-decimal.js";
import { ByteRun } from "./byte-run.js";
import { JsonToken } from "./cursor.js";
import { JsonStringDecoder, repairJson } from "./text.js";

/** Reports a repair or loss: a code and its count. */
export type ReportIssue = (
  code: "lone-surrogate" | "invalid-utf8" | "control-character" | "non-finite-value",
  count: number,
) => void;

/** Issues that change a value. */
const lossyIssues: ReadonlySet<Parameters<ReportIssue>[0]> = new Set([
  "non-finite-value",
  "invalid-utf8",
  "lone-surrogate",
]);

const issueMessages: Record<Parameters<ReportIssue>[0], string> = {
  "lone-surrogate": "a half of a surrogate pair stands alone and became U+FFFD",
  "invalid-utf8": "bytes that are not UTF-8 became U+FFFD",
  "control-character": "a control character stands in a string without its escape",
  "non-finite-value": "NaN or an infinity, which JSON does not have, became null",
};

/** Reports an issue of the values of a field, or of the ids. */
export const createIssueReporter =
  (context: Pick<ReadContext, "reportLoss" | "reportNotice">) =>
  (field: string | undefined, code: Parameters<ReportIssue>[0], count: number): void => {
    if (lossyIssues.has(code)) context.reportLoss(code, field, issueMessages[code], count);
    else context.reportNotice(code, field, issueMessages[code], count);
  };

/** Number of digits that a double always represents exactly. */
export const maxSafeDigits = 15;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** The tokens, as bits, that are not a value. */
const noValueTokens = (1 << JsonToken.absent) | (1 << JsonToken.null) | (1 << JsonToken.nonFinite);

/** The initial capacity in rows. */
const initialRows = 32;

const noTokens = new Uint8Array(0);
const noPlaces = new Uint32Array(0);

/** The rows of a column with a single value while its batch is decoded. */
const singleRows = { tokens: noTokens, starts: noPlaces, ends: noPlaces };

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
  /** Per row: the token, and the start and end of the value. Empty in a rare column up to its second value. */
  private tokens = noTokens;
  private starts = noPlaces;
  private ends = noPlaces;
  /** The only value of a rare column, and its row; −1 for none. */
  private singleRow = -1;
  private singleToken: number = JsonToken.absent;
  private singleStart = 0;
  private singleEnd = 0;

  /** @param isRare whether the column is one of many, most of which have few values */
  constructor(
    readonly name: string,
    /** The name's bytes between the quotes; null if it is never compared. */
    readonly key: Uint8Array | null,
    isRare = false,
  ) {
    if (!isRare) this.reallocate(initialRows);
  }

  set(row: number, token: number, start: number, end: number): void {
    if (row >= this.tokens.length && !this.grow(row)) {
      this.singleRow = row;
      this.singleToken = token;
      this.singleStart = start;
      this.singleEnd = end;
      return;
    }
    this.tokens[row] = token;
    this.starts[row] = start;
    this.ends[row] = end;
  }

  /** Sets the values of consecutive rows, from `row` on. */
  setAll(row: number, tokens: Uint8Array, starts: Uint32Array, ends: Uint32Array): void {
    const last = row + tokens.length - 1;
    if (last >= this.tokens.length && !this.grow(last))
      for (let n = 0; n < tokens.length; n++) this.set(row + n, tokens[n]!, starts[n]!, ends[n]!);
    else {
      this.tokens.set(tokens, row);
      this.starts.set(starts, row);
      this.ends.set(ends, row);
    }
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
    if (row < this.tokens.length) return this.tokens[row]!;
    return row === this.singleRow ? this.singleToken : JsonToken.absent;
  }

  startAt(row: number): number {
    return row < this.starts.length ? this.starts[row]! : this.singleStart;
  }

  endAt(row: number): number {
    return row < this.ends.length ? this.ends[row]! : this.singleEnd;
  }

  /** Makes room for `row`. @returns false if the value of `row` is the only one of a rare column */
  private grow(row: number): boolean {
    const { singleRow } = this;
    let { length } = this.tokens;
    if (length === 0) {
      if (singleRow < 0 || singleRow === row) return false;
      length = 1;
    }
    while (length <= Math.max(row, singleRow)) length *= 2;
    this.reallocate(length);
    if (singleRow < 0) return true;
    this.singleRow = -1;
    this.set(singleRow, this.singleToken, this.singleStart, this.singleEnd);
    return true;
  }

  private reallocate(length: number): void {
    const { tokens, starts, ends } = this;
    this.tokens = new Uint8Array(length);
    this.tokens.set(tokens);
    this.starts = new Uint32Array(length);
    this.starts.set(starts);
    this.ends = new Uint32Array(length);
    this.ends.set(ends);
  }

  /** Forgets all rows. */
  discard(): void {
    this.tokens.fill(JsonToken.absent);
    this.singleRow = -1;
    this.active = false;
  }

  clear(row: number): void {
    if (row < this.tokens.length) this.tokens[row] = JsonToken.absent;
    else if (row === this.singleRow) this.singleRow = -1;
  }

  /**
   * The values of the first `rows` rows in the narrowest type that holds them all exactly, or null if no row has the
   * property; resets the column for the next batch. Text mixed with numbers, and integers that no type holds, stay
   * JSON.
   * @param valid whether `bytes` are all UTF-8
   * @param slab memory for the column, if it is one of very many
   */
  finish(rows: number, bytes: Buffer, valid: boolean, remark: ReportIssue, slab: Slab | null = null): Column | null {
    const isSingle = this.tokens.length === 0;
    if (isSingle) this.spread(rows);
    else if (rows > this.tokens.length) this.grow(rows - 1);
    const { tokens } = this;
    let found = 0;
    for (let i = 0; i < rows; i++) found |= 1 << tokens[i]!;
    const column = found === 1 << JsonToken.absent ? null : this.decode(rows, bytes, valid, found, remark, slab);
    tokens.fill(JsonToken.absent);
    if (isSingle) {
      this.tokens = noTokens;
      this.starts = this.ends = noPlaces;
      this.singleRow = -1;
    }
    this.active = false;
    return column;
  }

  /** Puts a single value into its row of the arrays that such columns share. */
  private spread(rows: number): void {
    if (singleRows.tokens.length < rows) {
      singleRows.tokens = new Uint8Array(rows);
      singleRows.starts = new Uint32Array(rows);
      singleRows.ends = new Uint32Array(rows);
    }
    const { singleRow } = this;
    this.tokens = singleRows.tokens;
    this.starts = singleRows.starts;
    this.ends = singleRows.ends;
    if (singleRow >= 0 && singleRow < rows) this.set(singleRow, this.singleToken, this.singleStart, this.singleEnd);
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
      for (let i = 0; i < rows; i++) values[i] = this.tokens[i]! === JsonToken.true ? 1 : 0;
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
      const token = this.tokens[i]!;
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
      const start = this.starts[i]!;
      const end = this.ends[i]!;
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
      const value = BigInt(bytes.toString("latin1", this.starts[i]!, this.ends[i]!));
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
      const start = this.starts[i]!;
      const end = this.ends[i]!;
      // The call stores only values with an exact number of digits.
      if (parsePlainDecimal(bytes, start, end, values, i) === end) continue;
      const value = parseNumber(bytes, start, end);
      if (!Number.isFinite(value)) return null;
      const rounded =
        this.tokens[i]! === JsonToken.integer && end - start > maxSafeDigits && !Number.isSafeInteger(value);
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
    for (let i = 0; i < rows; i++) if (presence[i] === Presence.value) size += this.ends[i]! - this.starts[i]! - 2;
    // An invalid byte becomes U+FFFD, which has three bytes.
    const target = slab?.buffer(valid ? size : size * 3) ?? Buffer.allocUnsafeSlow(valid ? size : size * 3);
    const decoder = new JsonStringDecoder();
    let at = 0;
    let surrogates = 0;
    let invalid = 0;
    let controls = 0;
    for (let i = 0; i < rows; i++) {
      if (presence[i] === Presence.value) {
        const start = this.starts[i]! + 1;
        const end = this.ends[i]! - 1;
        const before = at;
        if (this.tokens[i]! === JsonToken.encoded) {
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
        let part: Uint8Array = bytes.subarray(this.starts[i]!, this.ends[i]!);
        const broken = !valid && !isUtf8(part);
        if (broken || this.tokens[i]! === JsonToken.flawed || this.tokens[i]! === JsonToken.encoded) {
          const repaired = repairJson(Buffer.from(part.buffer, part.byteOffset, part.length).toString("utf8"));
          part = Buffer.from(repaired.json, "utf8");
          nonFinite += repaired.nonFinite;
          if (broken) remark("invalid-utf8", 1);
          else if (this.tokens[i]! === JsonToken.flawed && repaired.nonFinite + repaired.commas === 0)
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
