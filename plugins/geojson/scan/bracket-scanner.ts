import { createError } from "../../../src/errors.js";
import type { SourceFile } from "../../../src/plugin/format.js";
import { byteClasses, findClosingQuote, openingClass, quoteClass, skipPlainWords } from "../json/structure.js";
import { type FirstMemberName, findFeature } from "../read/resync.js";
import { createFeatureSplit, type FeatureSplit, recordSeparator } from "./feature-split.js";

const blockBytes = 1 << 21;
/** Limit of the size of a feature, which must fit in memory. */
const maxFeatureBytes = 2 ** 30;

/** The JSON of the members of the top-level object that are not features. */
export interface TopLevelMembers {
  type?: string;
  name?: string;
  crs?: string;
}

/** What a service says of the features that it left out of an answer. */
export interface ServicePage {
  /** ArcGIS: there are more features than the service sends at once. */
  isCut: boolean;
  /** OGC API - Features (17-069r4, 7.15.5): the features that match the request, and those in the answer. */
  matched: number | null;
  returned: number | null;
}

export interface BracketScanSettings {
  readonly source: string;
  /** Where the text starts, after a byte order mark. */
  readonly start: number;
  readonly splitSize: number;
  readonly skipErrors: boolean;
  /** Whether damage ends the reading even with `--skip-errors`, so that messages do not suggest that option. */
  readonly isFatal?: boolean;
  /** The first member name of the file's features. */
  readonly mark: FirstMemberName;
  /** Finds the end of a split of an array without counting brackets; not used with `skipErrors`. */
  readonly ends?: (start: number, opens: boolean) => Promise<number | null>;
}

type BlockPosition = "end of block" | "boundary" | "closing";

/** First byte of null, which carries no information. */
const nullByte = 110;

/**
 * Scans a file once, block by block, counts brackets outside strings, and finds the ends of features. It validates only
 * what it needs; the parser validates the text between the boundaries.
 */
export class BracketScanner {
  readonly members: TopLevelMembers = {};
  /** Members beside the features with an object or array as value. */
  readonly foreign: string[] = [];
  readonly page: ServicePage = { isCut: false, matched: null, returned: null };
  /** Commas before the closing brace of an object around the features. */
  surplusCommas = 0;
  private block: Buffer = Buffer.alloc(0);
  /** The same block, four bytes at a time. */
  private words: Int32Array = new Int32Array(0);
  private base: number;
  private at = 0;
  private depth = 0;
  private inString = false;

  constructor(
    private readonly file: SourceFile,
    private readonly settings: BracketScanSettings,
  ) {
    this.base = settings.start;
  }

  /** The offset in the file. */
  get offset(): number {
    return this.base + this.at;
  }

  /** The rest of the current block, for lookahead. */
  get ahead(): Buffer {
    return this.block.subarray(this.at);
  }

  /** Moves past the byte that `peek` returned. */
  step(): void {
    this.at++;
  }

  private async more(): Promise<boolean> {
    const next = await this.file.read(this.base + this.block.length, blockBytes);
    if (next.length === 0) return false;
    this.base += this.block.length;
    this.at -= this.block.length;
    this.block = next;
    const aligned = next.byteOffset % 4 === 0;
    this.words = aligned ? new Int32Array(next.buffer, next.byteOffset, next.length >> 2) : new Int32Array(0);
    return true;
  }

  /** The next byte that is not white space, −1 at the end. */
  async peek(): Promise<number> {
    for (;;) {
      const { block } = this;
      while (this.at < block.length) {
        const byte = block[this.at]!;
        if (byte > 32 || (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9)) return byte;
        this.at++;
      }
      if (!(await this.more())) return -1;
    }
  }

  damage(expected: string): never {
    const { source, skipErrors, isFatal } = this.settings;
    const place = { byte: this.offset };
    const canSkip = !skipErrors && !isFatal;
    if (this.offset >= this.file.size)
      throw createError("input-truncated", {
        source,
        place,
        reason: `expected ${expected}`,
        canSkip,
      });
    const found = String.fromCharCode(this.block[this.at] ?? 0);
    const reason = `expected ${expected}, found ${JSON.stringify(found)}`;
    throw createError("input-corrupt", { source, place, reason, canSkip });
  }

  private async expect(byte: number, words: string): Promise<void> {
    if ((await this.peek()) !== byte) this.damage(words);
    this.at++;
  }

  /**
   * Moves to the end of an object or array at level `depth` 0, if that end is at `stop` in the block or later, or past
   * the bracket that closes the level itself.
   */
  private descend(stop: number): BlockPosition {
    const { block, words } = this;
    const { length } = block;
    let { at, depth } = this;
    if (this.inString) {
      at = findClosingQuote(block, at);
      if (at >= length) return this.pause(at, depth, true);
      this.inString = false;
      at++;
    }
    for (; at < length; at++) {
      if ((at & 3) === 0) {
        at = skipPlainWords(words, at >> 2) << 2;
        if (at >= length) break;
      }
      const what = byteClasses[block[at]!]!;
      if (what === 0) continue;
      if (what === quoteClass) {
        at = findClosingQuote(block, at + 1);
        if (at >= length) return this.pause(at, depth, true);
      } else if (what === openingClass) depth++;
      else {
        depth--;
        if (depth > 0 || (depth === 0 && at < stop)) continue;
        this.at = at + 1;
        this.depth = Math.max(depth, 0);
        return depth === 0 ? "boundary" : "closing";
      }
    }
    return this.pause(at, depth, false);
  }

  private pause(at: number, depth: number, inString: boolean): BlockPosition {
    this.at = at;
    this.depth = depth;
    this.inString = inString;
    return "end of block";
  }

  /** Moves past one value. */
  private async pass(): Promise<void> {
    const first = await this.peek();
    if (first === 34) {
      this.at++;
      for (;;) {
        this.at = findClosingQuote(this.block, this.at);
        if (this.at < this.block.length) break;
        if (!(await this.more())) this.damage('the " that ends the text');
      }
      this.at++;
      return;
    }
    if (first === 123 || first === 91) {
      this.depth = 0;
      this.inString = false;
      while (this.descend(0) === "end of block") if (!(await this.more())) this.damage("the bracket that closes it");
      return;
    }
    const start = this.offset;
    for (let byte = first; byte !== 44 && byte !== 125 && byte !== 93 && byte > 32; byte = this.block[this.at]!) {
      this.at++;
      if (this.at >= this.block.length && !(await this.more())) break;
    }
    if (this.offset === start) this.damage("a value");
  }

  /** Moves past the value here and returns its text, at most a mebibyte. */
  private async capture(): Promise<string> {
    await this.peek();
    const from = this.offset;
    await this.pass();
    return (await this.file.read(from, Math.min(this.offset - from, 1 << 20))).toString("utf8");
  }

  /** Reads the next name and moves to its value. */
  private async name(): Promise<string> {
    if ((await this.peek()) !== 34) this.damage("a name in quotes");
    const raw = await this.capture();
    await this.expect(58, "':'");
    try {
      return JSON.parse(raw) as string;
    } catch {
      return raw;
    }
  }

  /**
   * Iterates over the members of the object here, and yields inside each array of features of a FeatureCollection; the
   * caller must move past the array before the next iteration.
   */
  async *object(): AsyncGenerator<"features"> {
    this.at++;
    if ((await this.peek()) === 125) {
      this.at++;
      return;
    }
    for (;;) {
      const name = await this.name();
      const first = await this.peek();
      if (name === "features" && first === 91 && this.members.type !== '"Feature"') {
        this.at++;
        yield "features";
      } else if (name === "type" || name === "name" || name === "crs")
        this.members[name] = normalizeJson(await this.capture());
      else {
        if (first !== nullByte) this.foreign.push(name);
        if (this.isAboutPage(name)) this.addToPage(name, await this.capture());
        else await this.pass();
      }
      const separator = await this.peek();
      this.at++;
      if (separator === 125) return;
      if (separator !== 44) {
        this.at--;
        this.damage("',' or '}'");
      }
      if ((await this.peek()) === 125) {
        this.at++;
        this.surplusCommas++;
        return;
      }
    }
  }

  /** Some ArcGIS services have a member `properties` with the flag beside the features. */
  private isAboutPage(name: string): boolean {
    if (name === "properties") return this.members.type === '"FeatureCollection"';
    return name === "exceededTransferLimit" || name === "numberMatched" || name === "numberReturned";
  }

  private addToPage(name: string, json: string): void {
    const { page } = this;
    const count = /^\d{1,15}$/.test(json) ? Number(json) : null;
    if (name === "numberMatched") page.matched = count;
    else if (name === "numberReturned") page.returned = count;
    else if (name === "properties") page.isCut ||= /"exceededTransferLimit"\s*:\s*true\b/.test(json);
    else page.isCut ||= json === "true";
  }

  /** The splits of a file of one FeatureCollection or several in sequence. */
  async *documents(): AsyncGenerator<FeatureSplit> {
    for (;;) {
      const first = await this.peek();
      const { offset } = this;
      if (first === -1) return;
      if (first === recordSeparator) this.at++;
      else if (first === 91) {
        this.at++;
        yield* this.array();
      } else if (first === 123) {
        const { crs } = this.members;
        let collection = false;
        for await (const _ of this.object()) {
          collection = true;
          yield* this.array();
        }
        this.checkCrs(crs, offset);
        if (!collection) yield this.split(offset, this.offset, "values", true);
      } else this.damage("the end of the file, or another object");
    }
  }

  private checkCrs(before: string | undefined, byte: number): void {
    const same = before === undefined || before === this.members.crs;
    if (same) return;
    const reason = "a second document has another crs than the first";
    throw createError("unsupported", { source: this.settings.source, place: { byte }, reason });
  }

  private split(start: number, end: number, form: FeatureSplit["form"], opens: boolean): FeatureSplit {
    return createFeatureSplit(start, Math.min(end, this.file.size), form, opens);
  }

  /** The splits of the array whose opening bracket precedes the cursor. */
  private async *array(): AsyncGenerator<FeatureSplit> {
    let start = this.offset;
    let opens = true;
    let begins = true;
    this.depth = 0;
    this.inString = false;
    for (;;) {
      const end = begins ? ((await this.settings.ends?.(start, opens)) ?? null) : null;
      begins = false;
      if (end !== null) this.jump(end);
      const found = end === null ? this.descend(start + this.settings.splitSize - this.base - 1) : "boundary";
      if (found === "boundary") {
        if (!this.followed()) continue;
        yield this.split(start, this.offset, "array", opens);
        start = this.offset;
        opens = false;
        begins = true;
      } else if (found === "closing") {
        const end = this.offset - 1;
        const proper = this.block[this.at - 1] === 93;
        if (this.settings.skipErrors && !(proper && (await this.closesArray()))) continue;
        yield this.split(start, end, "array", opens);
        if (proper) return;
        this.at--;
        this.damage("',' or ']'");
      } else {
        const resumed = this.resume(start);
        if (resumed) {
          yield this.split(start, this.offset, "array", opens);
          start = this.offset;
          opens = true;
        } else if (this.offset - start > maxFeatureBytes || !(await this.more())) {
          yield this.split(start, this.offset, "array", opens);
          this.unfinished(start);
        }
      }
    }
  }

  private jump(to: number): void {
    this.base = to;
    this.block = Buffer.alloc(0);
    this.words = new Int32Array(0);
    this.at = 0;
  }

  private unfinished(start: number): never {
    if (this.offset >= this.file.size) this.damage("the ']' that ends the features");
    const { source } = this.settings;
    const reason = `no feature ends within ${maxFeatureBytes} bytes from byte ${start} on`;
    throw createError("input-corrupt", { source, place: { byte: start }, reason });
  }

  /** If damage is to be skipped, a boundary counts only before a feature. */
  private followed(): boolean {
    const { skipErrors, mark } = this.settings;
    if (!skipErrors) return true;
    const ahead = this.block.subarray(this.at, this.at + 256);
    const next = findFeature(ahead, 0, mark);
    return next >= 0 && /^[\s,]*$/.test(ahead.toString("latin1", 0, next));
  }

  /** Whether the bracket before the cursor ends the array, rather than being a surplus bracket of a feature. */
  private async closesArray(): Promise<boolean> {
    const next = await this.peek();
    return next === 44 || next === 125 || next === -1;
  }

  /** If damage to be skipped has upset the bracket count, restarts the count at the next feature. */
  private resume(start: number): boolean {
    const { skipErrors, mark, splitSize: wanted } = this.settings;
    if (!skipErrors || this.offset - start < 4 * wanted) return false;
    const at = findFeature(this.block, Math.max(0, start + 1 - this.base), mark);
    if (at < 0) return false;
    this.at = at;
    this.depth = 0;
    this.inString = false;
    return true;
  }

  /** The splits of a file of consecutive values, with or without text between them. */
  async *values(): AsyncGenerator<FeatureSplit> {
    let start = this.offset;
    for (;;) {
      const found = this.descend(start + this.settings.splitSize - this.base - 1);
      if (found === "boundary") {
        yield this.split(start, this.offset, "values", true);
        start = this.offset;
      } else if (found === "end of block") {
        const large = this.offset - start > maxFeatureBytes;
        if (!large && (await this.more())) continue;
        if (this.offset > start) yield this.split(start, this.offset, "values", true);
        if (large) this.unfinished(start);
        return;
      }
    }
  }
}

/** The JSON without unnecessary escapes and white space; unchanged if it is not JSON. */
function normalizeJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
