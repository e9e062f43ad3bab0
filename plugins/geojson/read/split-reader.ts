import { createError, type Place } from "../../../src/errors.js";
import type { Batch, Reject } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/format.js";
import { JsonSyntaxError } from "../../shared/json/cursor.js";
import type { FeatureSplit } from "../scan/feature-split.js";
import { FeatureParser, type IssueReporter } from "./feature-parser.js";
import { type FirstMemberName, findFeature } from "./resync.js";

/** The chunk size in bytes: bounds memory if damage hides the ends of features. */
export const maxChunkBytes = 1 << 24;
/** Limit of the text of a damaged or invalid feature in the rejects. */
const maxRejectText = 1 << 20;

/** The part of the read context that a split reader uses. */
export type SplitContext = IssueReporter & Pick<ReadContext, "signal" | "skipErrors" | "reject">;

export interface SplitSettings {
  readonly source: string;
  readonly mark: FirstMemberName;
  readonly idField: string | undefined;
  /** The crs member that applies to all features. */
  readonly crs: string | undefined;
  /** Counts before the split; zero if places are relative to it. */
  readonly before: { readonly records: number; readonly lines: number };
}

/** Reads the features of one split, once. */
export class SplitReader {
  private readonly parser: FeatureParser;
  /** The file offset of the current bytes. */
  private base = 0;
  private bytes: Buffer = Buffer.alloc(0);
  /** Whether the current bytes reach the end of the split. */
  private last = false;
  /** Lines read. */
  lines: number;
  /** Rejects of features that stay in the current batch without their geometry. */
  private readonly unlocated: (Pick<Reject, "code" | "reason" | "place" | "text"> & { readonly row: number })[] = [];
  /** Whether the next text is a feature rather than the comma before one. */
  private opens: boolean;

  constructor(
    private readonly file: SourceFile,
    private readonly split: FeatureSplit,
    private readonly settings: SplitSettings,
    private readonly context: SplitContext,
  ) {
    this.opens = split.opens;
    this.parser = new FeatureParser(
      context,
      (reason, from, to, row) => this.refuse(reason, from, to, row),
      settings.idField,
      settings.crs,
    );
    this.parser.records = settings.before.records;
    this.lines = settings.before.lines;
  }

  /** Records read, including rejected ones. */
  get records(): number {
    return this.parser.records;
  }

  /** @param fetched the bytes of the split, if they were read in advance */
  async *batches(fetched?: Buffer): AsyncGenerator<Batch> {
    const { split, parser, context } = this;
    let from = split.start;
    let ready = fetched;
    // Skipping damage needs lookahead, and a FeatureCollection in a sequence of values cannot be restarted.
    let size = context.skipErrors || split.form === "values" ? split.bytes : maxChunkBytes;
    do {
      context.signal.throwIfAborted();
      this.bytes = ready ?? (await this.file.read(from, Math.min(size, split.end - from)));
      ready = undefined;
      this.base = from;
      this.last = from + this.bytes.length >= split.end || this.bytes.length === 0;
      parser.load(this.bytes);
      yield* split.form === "array" || split.form === "values" ? this.sequence() : this.texts();
      const { at } = parser.cursor;
      if (at === 0) size *= 2;
      from += at;
    } while (!this.last);
    parser.reportSummary();
  }

  /** Reads values, separated by commas in an array; stops before one that continues beyond the current bytes. */
  private *sequence(): Generator<Batch> {
    const { parser } = this;
    const { cursor } = parser;
    let sound = 0;
    for (;;) {
      if (this.split.form === "array" && !this.opens && parser.readRun()) {
        if (parser.full) yield* this.batch();
        continue;
      }
      sound = cursor.at;
      const { opens } = this;
      const before = parser.records;
      const commas = cursor.surplusCommas;
      try {
        if (!this.toNext()) break;
        const start = cursor.at;
        try {
          parser.read(this.split.form === "values");
        } catch (error) {
          if (error instanceof JsonSyntaxError && this.context.skipErrors) this.skip(error, start);
          else throw error;
        }
        this.opens = false;
      } catch (error) {
        if (!(error instanceof JsonSyntaxError)) throw error;
        if (error.ended && !this.last) {
          parser.records = before;
          cursor.surplusCommas = commas;
          this.opens = opens;
          break;
        }
        throw this.corrupt(error);
      }
      if (parser.full) yield* this.batch();
    }
    yield* this.batch();
    cursor.at = this.last ? cursor.end : sound;
  }

  /** Moves to the next value; returns false at the end. */
  private toNext(): boolean {
    const { cursor } = this.parser;
    const array = this.split.form === "array";
    let byte = cursor.space();
    while (!array && byte === 0x1e) {
      cursor.at++;
      byte = cursor.space();
    }
    if (!array || this.opens) return byte !== -1;
    if (byte === -1) return false;
    if (byte === 44) {
      cursor.at++;
      if (cursor.space() !== -1) return true;
      if (this.last && this.split.end < this.file.size) {
        // The split ends at the closing bracket of the array.
        cursor.surplusCommas++;
        return false;
      }
      if (this.context.skipErrors) return false;
      return cursor.fail("a feature after the comma");
    }
    if (!this.context.skipErrors) cursor.fail("',' or ']'");
    this.skip(new JsonSyntaxError(cursor.at, "',' or ']'", false), cursor.at);
    return cursor.space() !== -1;
  }

  /** Skips the bytes between `start` and the next feature. */
  private skip(damage: JsonSyntaxError, start: number): void {
    const { cursor } = this.parser;
    const { mark } = this.settings;
    // A string without its closing quote may have consumed the beginning of the next feature.
    const from = Math.max(Math.min(damage.at, cursor.from), damage.at === start ? start : start + 1);
    const found = findFeature(this.bytes, from, mark);
    const next = found < 0 ? cursor.end : found;
    let to = next;
    while (to > start && " \n\r\t,\x1e".includes(String.fromCharCode(this.bytes[to - 1]!))) to--;
    if (to > start) this.rejectDamage(damage, start, to);
    else this.context.reportNotice("missing-comma", undefined, `at byte ${this.base + start} a comma is missing`);
    cursor.at = next;
    this.opens = true;
  }

  private rejectDamage(damage: JsonSyntaxError, from: number, to: number): void {
    const code = this.endsFile(damage) ? "input-truncated" : "input-corrupt";
    this.reject(code, this.reason(damage), damage.at, from, to);
  }

  /** Reads independent texts, so that damage stays within one of them. */
  private *texts(): Generator<Batch> {
    const { parser, bytes } = this;
    const { cursor } = parser;
    const separator = this.split.form === "lines" ? 10 : 0x1e;
    let start = 0;
    while (start < bytes.length) {
      const found = bytes.indexOf(separator, start);
      if (found < 0 && !this.last) break;
      const end = found < 0 ? bytes.length : found;
      if (separator === 10) this.lines++;
      cursor.at = start;
      cursor.end = end;
      this.text(start, end, found < 0);
      start = found < 0 ? end : end + 1;
      if (parser.full) yield* this.batch();
    }
    yield* this.batch();
    cursor.at = start;
  }

  private text(start: number, end: number, unended: boolean): void {
    const { parser, context } = this;
    const { cursor } = parser;
    try {
      let byte = cursor.space();
      while (byte === 0x1e) {
        cursor.at++;
        byte = cursor.space();
      }
      if (byte === -1) return;
      parser.read(true);
      if (cursor.space() !== -1) cursor.fail("the end of the line");
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      const damage = new JsonSyntaxError(error.at, error.expected, error.ended && unended);
      if (!context.skipErrors) throw this.corrupt(damage);
      this.rejectDamage(damage, start, end);
    }
  }

  private *batch(): Generator<Batch> {
    const batch = this.parser.finish();
    if (batch) {
      for (const { row, ...reject } of this.unlocated) {
        this.context.reject({ ...reject, feature: batch.featureAt(row), kept: true });
      }
    }
    this.unlocated.length = 0;
    if (batch) yield batch;
  }

  /** @param row the feature's row in the current batch if it stays without its geometry; else −1 */
  private refuse(reason: string, from: number, to: number, row: number): void {
    if (row < 0) this.reject("feature-invalid", reason, from, from, to);
    else this.unlocated.push({ row, code: "geometry-malformed", reason, ...this.textAt(from, from, to) });
  }

  private endsFile(damage: JsonSyntaxError): boolean {
    return damage.ended && this.last && this.split.end >= this.file.size;
  }

  private reason(damage: JsonSyntaxError): string {
    if (this.endsFile(damage)) return `expected ${damage.expected}`;
    const byte = this.bytes[damage.at];
    const found =
      byte === undefined
        ? `the end of the ${this.split.form === "array" ? "array" : "text"}`
        : JSON.stringify(this.bytes.toString("latin1", damage.at, damage.at + 1));
    return `expected ${damage.expected}, found ${found}`;
  }

  private corrupt(damage: JsonSyntaxError): Error {
    const { source } = this.settings;
    const code = this.endsFile(damage) ? "input-truncated" : "input-corrupt";
    const place = { byte: this.base + damage.at };
    const canSkip = !this.context.skipErrors;
    return createError(code, { source, place, reason: this.reason(damage), canSkip }, damage);
  }

  private reject(code: string, reason: string, at: number, from: number, to: number): void {
    this.context.reject({ code, reason, ...this.textAt(at, from, to), feature: null });
  }

  private textAt(at: number, from: number, to: number): { readonly place: Place; readonly text: string } {
    const text = this.bytes.toString("utf8", from, Math.min(to, from + maxRejectText));
    const line = this.split.form === "lines" ? { line: this.lines } : {};
    return { place: { record: this.parser.records, ...line, byte: this.base + at }, text };
  }
}
