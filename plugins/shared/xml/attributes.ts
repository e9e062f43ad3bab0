import { parseNumber } from "../text/parse-number.js";
import { apostrophe, ByteClass, equals, isSpace, nameBytes, quotation, valueByteClasses } from "./bytes.js";
import type { XmlName, XmlNameTable } from "./names.js";
import type { XmlReferenceResolver } from "./reference-resolver.js";
import type { CachedAttribute, CachedTag } from "./tag-cache.js";
import type { XmlWindow } from "./window.js";

const maxAttributes = 4096;

/** The attributes of the tag opened last: ranges in the window, decoded on request. */
export class XmlAttributes {
  count = 0;
  /** The first `count` are the tag's. */
  readonly names: XmlName[] = [];
  /** The position of a repeated attribute, −1 for none. */
  repeatedAt = -1;
  private tag = 0;
  private from = new Uint32Array(64);
  private to = new Uint32Array(64);
  private encoded = new Uint8Array(64);
  /** The cached tag, where it was read before. */
  private known: CachedTag | null = null;

  constructor(
    private readonly window: XmlWindow,
    private readonly allNames: XmlNameTable,
    private readonly resolver: XmlReferenceResolver,
  ) {}

  /** Begins another tag. */
  begin(): void {
    this.count = 0;
    this.repeatedAt = -1;
    this.known = null;
    this.tag++;
  }

  /** Uses the attributes of a cached tag, which is now at `at`. */
  take(tag: CachedTag, at: number): void {
    const { attributes } = tag;
    this.count = attributes.length;
    this.repeatedAt = -1;
    this.known = tag;
    for (let index = 0; index < attributes.length; index++) {
      const { name, from, to, encoded } = attributes[index]!;
      this.names[index] = name;
      this.from[index] = at + from;
      this.to[index] = at + to;
      this.encoded[index] = encoded;
    }
  }

  /** The attributes of the tag that begins at `at`, for the cache. */
  list(at: number): CachedAttribute[] {
    return Array.from({ length: this.count }, (_, index) => ({
      name: this.names[index]!,
      from: this.from[index]! - at,
      to: this.to[index]! - at,
      encoded: this.encoded[index]!,
      keyword: null,
    }));
  }

  /** Reads the attribute at `start`. @returns its end; −1 where the window ends first, −2 where it is damaged */
  read(start: number): number {
    const { bytes, end } = this.window;
    let i = start;
    while (i < end && nameBytes[bytes[i]!] === 1) i++;
    if (i >= end) return -1;
    if (i === start) return this.fail(i, "an attribute's name is expected");
    const nameEnd = i;
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return -1;
    if (bytes[i] !== equals) return this.fail(i, `"=" has to follow an attribute's name`);
    i++;
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return -1;
    const quote = bytes[i]!;
    if (quote !== quotation && quote !== apostrophe) return this.fail(i, "an attribute's value has to be in quotes");
    const from = ++i;
    let encoded = 0;
    for (; ; i++) {
      if (i >= end) return -1;
      const byte = bytes[i]!;
      const meaning = valueByteClasses[byte]!;
      if (meaning === ByteClass.none) continue;
      if (byte === quote) break;
      if (meaning === ByteClass.tag) return this.fail(i, `"<" in an attribute's value`);
      if (meaning !== ByteClass.quote) encoded = 1;
    }
    const name = this.allNames.find(bytes, start, nameEnd);
    if (name.tag === this.tag) this.repeatedAt = start;
    else if (this.count === maxAttributes) return this.fail(start, `more than ${maxAttributes} attributes in one tag`);
    else this.keep(name, from, i, encoded);
    name.tag = this.tag;
    return i + 1;
  }

  private fail(at: number, reason: string): number {
    this.window.fail(at, reason);
    return -2;
  }

  private keep(name: XmlName, from: number, to: number, encoded: number): void {
    const index = this.count++;
    if (index === this.from.length) this.grow();
    this.names[index] = name;
    this.from[index] = from;
    this.to[index] = to;
    this.encoded[index] = encoded;
  }

  private grow(): void {
    const { from, to, encoded } = this;
    const length = from.length * 2;
    this.from = new Uint32Array(length);
    this.from.set(from);
    this.to = new Uint32Array(length);
    this.to.set(to);
    this.encoded = new Uint8Array(length);
    this.encoded.set(encoded);
  }

  /** The index of the attribute whose local name has this code in the vocabulary, −1 for none. */
  indexOf(code: number): number {
    for (let a = 0; a < this.count; a++) if (this.names[a]!.code === code) return a;
    return -1;
  }

  /** The start of the value of the attribute at `index`, in the window. */
  fromOf(index: number): number {
    return this.from[index]!;
  }

  /** The end of the value of the attribute at `index`, in the window. */
  toOf(index: number): number {
    return this.to[index]!;
  }

  /** The value of the attribute with this local name, with references resolved; null for none. */
  get(local: string): string | null {
    for (let a = 0; a < this.count; a++) if (this.names[a]!.local === local) return this.value(a);
    return null;
  }

  /** The value of the attribute at `index`, with references resolved. */
  value(index: number): string {
    const from = this.from[index]!;
    const to = this.to[index]!;
    const raw = this.window.bytes.toString("utf8", from, to);
    this.resolver.checkUtf8(from, to);
    return this.encoded[index] === 1 ? this.resolver.resolve(raw.replace(/\r\n|[\r\n\t]/g, " "), from) : raw;
  }

  /** The value of the attribute at `index`, for values that occur often: equal tags share one string. */
  keyword(index: number): string {
    if (this.encoded[index] === 1 || !this.window.valid) return this.value(index);
    const known = this.known?.attributes[index];
    if (known && known.keyword !== null) return known.keyword;
    const text = this.allNames.keyword(this.window.bytes, this.from[index]!, this.to[index]!);
    if (known) known.keyword = text;
    return text;
  }

  /** The value of the attribute at `index` as a number; NaN where it is not a number. */
  number(index: number): number {
    const number = parseNumber(this.window.bytes, this.from[index]!, this.to[index]!);
    return Number.isNaN(number) ? parseXmlNumber(this.value(index)) : number;
  }
}

/** Parses a number with white space around it; NaN where it is not a number. */
function parseXmlNumber(text: string): number {
  const bytes = Buffer.from(text.trim());
  return parseNumber(bytes, 0, bytes.length);
}
