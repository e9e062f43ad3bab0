/**
 * XML 1.0 with namespaces, read by the bytes: tokens are ranges in a window of UTF-8 that moves over the file, so that
 * numbers and text get where they belong without a string or an object each.
 *
 * ```ts
 * const reader = new XmlReader(file, { source: source.name, context, vocabulary: { trk: 1, name: 2 } });
 * try {
 *   for (;;) {
 *     const token = reader.next();
 *     if (token === Token.end) break;
 *     if (token === Token.more) await reader.fill();                // the only thing to wait for, once a MiB
 *     else if (token === Token.open && reader.name.code === 2) reader.content.clear();
 *     else if (token === Token.text) reader.collect();              // adds to reader.content
 *     else if (token === Token.close && reader.name.code === 2) use(reader.content.text());
 *   }
 * } finally {
 *   reader.report();                                               // notices for what was repaired
 * }
 * ```
 *
 * - After `open`: `name`, `depth` (1 for the root), `attributeCount`, `attribute("lat")`, `namespace()`. After `close`:
 *   `name` and `depth` of the element that ends; an empty element gives `open` and `close`. After `text`: `textFrom`,
 *   `textTo` in `bytes`, raw. One element's text may come in several tokens. White space between tags is no token.
 * - The encoding is found by itself. Declared and predefined entities, references to characters and CDATA are resolved
 *   by `collect` and `attribute`. A document type is looked at for short internal entities only.
 * - Prefixes need not be declared: `name.local` and `name.prefix` are there in any case.
 * - Flaws that leave the meaning clear (a bare `&`, control characters, bytes that are no UTF-8, an attribute twice) are
 *   repaired and told by `report`; whatever else is not well-formed ends the reading with `input-corrupt` or
 *   `input-truncated`, with line and byte. With `context.skipErrors` it ends with `Token.end` and `damage` set.
 * - To begin in the middle, for splits: `childStart()` right after `open` of an element is a `start` for its first child,
 *   and with `byte` as it is after `open` of another child (`{ ...start, byte: reader.byte }`) for that one; `to` is such
 *   a byte, too. `splittable` tells whether the encoding allows it.
 */
import { isUtf8 } from "node:buffer";
import { fault, type GeoferryError } from "../../src/errors.js";
import type { ReadContext, SourceFile } from "../../src/plugin/format.js";
import { parseNumber } from "./numbers.js";
import { XmlContent } from "./xml-content.js";
import { Entities, EntityRefusal } from "./xml-entities.js";
import { encodingOf, XmlInput } from "./xml-input.js";
import { Namespaces, sameBytes, type Vocabulary, type XmlName, XmlNames } from "./xml-names.js";

export { XmlContent } from "./xml-content.js";
export { type Vocabulary, XmlName } from "./xml-names.js";

/** What `next` found; `more` asks for `fill`. */
export const Token = { end: 0, open: 1, close: 2, text: 3, more: 4 } as const;

/** Where a reader can begin that is not to read the whole document. Plain data. */
export interface XmlStart {
  /** Where the tag of a child begins, from the start of the file. */
  readonly byte: number;
  readonly encoding: string;
  /** The names of the elements that are open there, with their prefixes. */
  readonly open: readonly string[];
  /** The prefixes in force there, and what they stand for. */
  readonly namespaces: readonly (readonly [string, string])[];
  readonly doctype: string;
}

export interface XmlSettings {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly context: Pick<ReadContext, "decoder" | "notice" | "signal" | "skipErrors">;
  readonly vocabulary: Vocabulary;
  /** Where to begin; absent: at the beginning, which finds the encoding. */
  readonly start?: XmlStart;
  /**
   * Where to end, in bytes of the file, between two children of what is open at `start`; absent: at the end of the file,
   * where what is open at `start` has to be closed.
   */
  readonly to?: number;
  /** Elements open at `start` may end, and `to` may stand before any tag: other elements may be open there. */
  readonly leaves?: boolean;
  /** Bytes asked of the file at once; absent: a MiB. */
  readonly pieceSize?: number;
}

const mostDepth = 512;
/** A tag with its attributes, or a document type, is at most so long in bytes. */
const mostMarkup = 1 << 24;
const mostDoctype = 1 << 16;
/** Text that goes on beyond the window is given in pieces of at least this size. */
const textPiece = 1 << 16;
const mostAttributes = 4096;

const lessThan = 60;
const greaterThan = 62;
const slash = 47;
const exclamation = 33;
const question = 63;
const ampersand = 38;
const carriageReturn = 13;

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 9 || byte === 13;

/** What a byte means in text: 0 nothing, 1 the end of it, 2 something to be resolved, 3 not allowed in XML. */
const inText = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === lessThan
    ? 1
    : byte === ampersand || byte === carriageReturn
      ? 2
      : byte < 32 && byte !== 9 && byte !== 10
        ? 3
        : 0,
);
/** The same in the value of an attribute, where line feeds and tabs become blanks (XML 1.0, section 3.3.3). */
const inValue = inText.map((meaning, byte) =>
  byte === 34 || byte === 39 ? 4 : byte === 9 || byte === 10 ? 2 : meaning,
);
/** Bytes that a name can have; what is beyond ASCII is not looked into. */
const inName = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w:.-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

const cdataOpening = Buffer.from("<![CDATA[");
const markupOpening = Buffer.from("<!");
const doctypeOpening = Buffer.from("<!DOCTYPE");
const commentOpening = Buffer.from("<!--");
const commentEnd = Buffer.from("-->");
const instructionEnd = Buffer.from("?>");
const cdataEnd = Buffer.from("]]>");

const flawTexts = {
  "bare-ampersand": "an & that begins no reference was taken for itself",
  "entity-unknown": "a reference to an entity that nothing declares was left as it is written",
  "control-character": "a character that XML does not allow was removed",
  "invalid-utf8": "bytes that are no characters of the encoding became U+FFFD",
  "attribute-repeated": "of an attribute given twice in one tag the first was taken",
} as const;
type Flaw = keyof typeof flawTexts;

export class XmlReader {
  /** The bytes at hand, as UTF-8. Tokens hold until the next call of `next` or `fill`. */
  bytes: Buffer = Buffer.alloc(0);
  /** The name of the element that was opened or closed last. */
  name: XmlName;
  /** How many elements are open, with one just opened, and with one just closed. */
  depth = 0;
  textFrom = 0;
  textTo = 0;
  attributeCount = 0;
  readonly attributeNames: XmlName[] = [];
  /** What `collect` puts the text into. */
  readonly content = new XmlContent();
  /** With `skipErrors`: what ended the reading before its time. */
  damage: GeoferryError | null = null;

  private at = 0;
  /** The end of what can be looked at: the window without a character cut in two. */
  private end = 0;
  /** Where the token last given began. */
  private tokenAt = 0;
  private afterTag = true;
  /** An empty element is still to be closed. */
  private closing = false;
  private finished = false;
  /** What was being passed over when the window ended. */
  private skipping: Buffer | null = null;
  /** The end tag that is looked for, to pass over what stands before it. */
  private passing: Buffer | null = null;
  private inCdata = false;
  /** The text token is of a CDATA section. */
  private literal = false;
  /** The text token needs resolving. */
  private encoded = false;
  private valid = true;
  private rootSeen = false;
  private last = false;
  /** Where the window begins in the file. */
  private base = 0;
  /** A place in the window, and how many bytes of the file stand before it there. */
  private measuredAt = 0;
  private measured = 0;
  private input: XmlInput | null = null;
  private encoding = "utf-8";
  private doctype = "";
  private pending: { readonly at: number; readonly reason: string; readonly truncated: boolean } | null = null;
  private tagCount = 0;
  /** Where the tag at hand has an attribute for the second time, -1 where nowhere. */
  private repeatedAt = -1;
  private valueFrom = new Uint32Array(64);
  private valueTo = new Uint32Array(64);
  private valueEncoded = new Uint8Array(64);
  private readonly stack: XmlName[] = [];
  private readonly least: number;
  private readonly names: XmlNames;
  private readonly namespaces = new Namespaces();
  private readonly entities = new Entities();
  private readonly flaws = new Map<Flaw, { count: number; readonly byte: number }>();

  constructor(
    private readonly file: SourceFile,
    private readonly settings: XmlSettings,
  ) {
    this.names = new XmlNames(settings.vocabulary);
    const { start } = settings;
    for (const name of start?.open ?? []) this.stack.push(this.intern(name));
    this.depth = this.stack.length;
    this.least = settings.to === undefined || settings.leaves ? 0 : this.depth;
    this.rootSeen = this.depth > 0;
    for (const [prefix, uri] of start?.namespaces ?? []) this.namespaces.declare(prefix, uri, 0);
    if (start) {
      this.doctype = start.doctype;
      this.entities.declare(start.doctype);
      this.encoding = start.encoding;
    }
    this.name = this.stack.at(-1) ?? this.intern("");
  }

  private intern(text: string): XmlName {
    const bytes = Buffer.from(text);
    return this.names.find(bytes, 0, bytes.length);
  }

  /** The next token. */
  next(): number {
    if (this.closing) {
      this.closing = false;
      return this.close();
    }
    if (this.pending) return Token.more;
    if (this.finished) return Token.end;
    for (;;) {
      if (this.passing && !this.pass(this.passing))
        return this.last ? this.truncated(`<${this.name.text}>`) : Token.more;
      if (this.skipping && !this.skip(this.skipping)) return this.last ? this.truncated("a comment") : Token.more;
      if (this.inCdata) return this.cdata();
      const { bytes, end } = this;
      let { at } = this;
      if (this.afterTag) while (at < end && isSpace(bytes[at]!)) at++;
      this.at = at;
      this.tokenAt = at;
      if (at >= end) return this.last ? this.finish() : Token.more;
      if (bytes[at] !== lessThan) return this.text();
      if (at + 1 >= end) return this.last ? this.truncated("a tag") : Token.more;
      const second = bytes[at + 1]!;
      if (second === slash) return this.closeTag();
      if (second !== exclamation && second !== question) return this.openTag();
      const token = second === question ? this.instruction() : this.declaration();
      if (token !== -1) return token;
    }
  }

  /** Gets more of the file. @throws input-corrupt, input-truncated, unsupported */
  async fill(): Promise<void> {
    if (this.pending) {
      const error = await this.failure(this.pending);
      this.pending = null;
      if (!this.settings.context.skipErrors) throw error;
      this.damage = error;
      this.finished = true;
      return;
    }
    this.settings.context.signal.throwIfAborted();
    const input = this.input ?? (await this.begin());
    const { at } = this;
    this.base = this.byteAt(at);
    this.measuredAt = 0;
    this.measured = 0;
    this.bytes = await input.after(this.bytes.subarray(at));
    this.at = this.tokenAt = 0;
    this.last = input.ended;
    this.end = this.last ? this.bytes.length : wholeCharacters(this.bytes);
    this.valid = isUtf8(this.bytes.subarray(0, this.end));
  }

  private async begin(): Promise<XmlInput> {
    const { start, to, context, source } = this.settings;
    let from = start?.byte ?? 0;
    if (!start) {
      const found = encodingOf(await this.file.read(0, 4096));
      this.encoding = found.name;
      from = found.start;
    }
    try {
      const decoder = (name: string) => context.decoder(name);
      const range = { from, to: to ?? this.file.size, pieceSize: this.settings.pieceSize ?? 1 << 20 };
      this.input = new XmlInput(this.file, this.encoding, decoder, range);
    } catch (error) {
      const reason = `its encoding is said to be "${this.encoding}", which is not known`;
      throw fault("unsupported", { source, reason }, error);
    }
    this.base = from;
    return this.input;
  }

  /** Passes over everything up to `mark`; false where it is not there yet. */
  private skip(mark: Buffer): boolean {
    const found = this.bytes.indexOf(mark, this.at);
    if (found < 0 || found + mark.length > this.end) {
      this.at = Math.max(this.at, Math.min(this.end, this.bytes.length) - mark.length + 1);
      return false;
    }
    this.at = found + mark.length;
    this.skipping = null;
    return true;
  }

  /**
   * Right after `open`: passes over all that is in the element, unseen, so that `close` comes next. Only for elements
   * that are never within others of their name, and where somebody else sees to it that the content is well-formed.
   */
  passOver(): void {
    if (!this.closing) this.passing = Buffer.concat([Buffer.from("</"), this.name.bytes]);
  }

  /** Moves to the end tag, past comments and CDATA sections; false where it is not there yet. */
  private pass(tag: Buffer): boolean {
    for (;;) {
      if (this.skipping && !this.skip(this.skipping)) return false;
      const found = this.bytes.indexOf(tag, this.at);
      const markup = this.bytes.subarray(0, found < 0 ? this.bytes.length : found).indexOf(markupOpening, this.at);
      if (markup >= 0 && markup + 9 <= this.end) {
        this.at = markup + 2;
        if (sameBytes(cdataOpening, this.bytes, markup)) this.skipping = cdataEnd;
        else if (sameBytes(commentOpening, this.bytes, markup)) {
          this.at = markup + 4;
          this.skipping = commentEnd;
        }
        continue;
      }
      if (markup < 0 && found >= 0 && found + tag.length < this.end) {
        this.at = found;
        if (inName[this.bytes[found + tag.length]!] === 0) {
          this.passing = null;
          return true;
        }
        this.at++;
        continue;
      }
      this.at = Math.max(this.at, Math.min(found < 0 ? this.end : found, markup < 0 ? this.end : markup) - tag.length);
      return false;
    }
  }

  private instruction(): number {
    this.at += 2;
    this.skipping = instructionEnd;
    return -1;
  }

  private declaration(): number {
    const { bytes, at, end } = this;
    if (end - at < 9 && !this.last) return Token.more;
    if (bytes[at + 2] === 45 && bytes[at + 3] === 45) {
      this.at += 4;
      this.skipping = commentEnd;
      return -1;
    }
    if (sameBytes(cdataOpening, bytes, at)) {
      if (this.depth === 0) return this.fail(at, "text outside of the root element");
      this.at += cdataOpening.length;
      this.inCdata = true;
      this.afterTag = false;
      return -1;
    }
    if (sameBytes(doctypeOpening, bytes, at) && !this.rootSeen && this.doctype === "") return this.documentType();
    return this.fail(at, "a declaration that has no place here");
  }

  /** Takes a document type whole. */
  private documentType(): number {
    const { bytes, at, end } = this;
    const to = doctypeEnd(bytes, at + doctypeOpening.length, Math.min(end, at + mostDoctype));
    if (to < 0) {
      if (end - at >= mostDoctype) return this.fail(at, `a document type of more than ${mostDoctype} bytes`);
      return this.last ? this.truncated("a document type") : Token.more;
    }
    this.doctype = bytes.toString("utf8", at, to);
    this.entities.declare(this.doctype);
    this.at = to;
    return -1;
  }

  private text(): number {
    const { bytes, end, at } = this;
    let found = 0;
    let to = at;
    for (; to < end; to++) {
      const meaning = inText[bytes[to]!]!;
      if (meaning === 0) continue;
      if (meaning === 1) break;
      found |= meaning;
    }
    if (this.depth === 0) return this.fail(at, "text outside of the root element");
    if (to >= end && !this.last) {
      if (to - at < textPiece) return Token.more;
      to = this.pieceEnd(to);
    }
    this.encoded = found !== 0;
    this.literal = false;
    return this.textToken(at, to);
  }

  /** Where text that goes on is cut: not in a reference, nor between the two characters of a line end. */
  private pieceEnd(end: number): number {
    const { bytes } = this;
    const open = bytes.lastIndexOf(ampersand, end - 1);
    if (open >= end - 64 && open > this.at && !bytes.subarray(open, end).includes(59)) return open;
    return bytes[end - 1] === carriageReturn ? end - 1 : end;
  }

  private cdata(): number {
    const { bytes, at, end } = this;
    const found = bytes.indexOf(cdataEnd, at);
    const isWhole = found >= 0 && found + cdataEnd.length <= end;
    if (!isWhole && end - at < textPiece) return this.last ? this.truncated("a CDATA section") : Token.more;
    let to = isWhole ? found : end - cdataEnd.length;
    if (!isWhole) {
      while (to > at && (bytes[to]! & 0xc0) === 0x80) to--;
      if (bytes[to - 1] === carriageReturn) to--;
    }
    this.inCdata = !isWhole;
    this.literal = true;
    this.encoded = false;
    for (let i = at; i < to; i++) if (inText[bytes[i]!]! === 3 || bytes[i] === carriageReturn) this.encoded = true;
    this.textToken(at, to);
    if (isWhole) this.at = found + cdataEnd.length;
    return Token.text;
  }

  private textToken(from: number, to: number): number {
    this.textFrom = from;
    this.textTo = to;
    this.at = to;
    this.tokenAt = from;
    this.afterTag = false;
    return Token.text;
  }

  private closeTag(): number {
    const { bytes, at, end } = this;
    const expected = this.stack[this.depth - 1];
    if (expected === undefined || this.depth <= this.least) {
      return this.fail(at, "the end of an element that did not begin");
    }
    const { length } = expected.bytes;
    let i = at + 2 + length;
    if (i >= end) return this.incomplete("a tag");
    const matches = sameBytes(expected.bytes, bytes, at + 2) && inName[bytes[i]!] === 0;
    if (!matches) return this.mismatch(expected);
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return this.incomplete("a tag");
    if (bytes[i] !== greaterThan) return this.fail(i, `"${expected.text}" is not the whole of the tag`);
    this.at = i + 1;
    return this.close();
  }

  private mismatch(expected: XmlName): number {
    const { bytes, at, end } = this;
    let to = at + 2;
    while (to < end && inName[bytes[to]!] === 1 && to - at < 80) to++;
    return this.fail(at, `</${bytes.toString("utf8", at + 2, to)}> where </${expected.text}> has to be`);
  }

  private close(): number {
    this.name = this.stack.pop()!;
    this.depth--;
    this.namespaces.leave(this.depth + 1);
    this.afterTag = true;
    return Token.close;
  }

  private openTag(): number {
    const { bytes, at, end } = this;
    let i = at + 1;
    while (i < end && inName[bytes[i]!] === 1) i++;
    if (i >= end) return this.incomplete("a tag");
    if (i === at + 1) return this.fail(at, `"<" that begins no tag; as text it has to be &lt;`);
    const name = this.names.find(bytes, at + 1, i);
    this.attributeCount = 0;
    this.repeatedAt = -1;
    this.tagCount++;
    for (;;) {
      while (i < end && isSpace(bytes[i]!)) i++;
      if (i >= end) return this.incomplete("a tag");
      const byte = bytes[i]!;
      if (byte === greaterThan) break;
      if (byte === slash) {
        if (i + 1 >= end) return this.incomplete("a tag");
        if (bytes[i + 1] !== greaterThan) return this.fail(i, `"/" that does not end the tag`);
        this.closing = true;
        i++;
        break;
      }
      i = this.attributeAt(i);
      if (i < 0) return i === -1 ? this.incomplete("a tag") : Token.more;
    }
    return this.open(name, i + 1);
  }

  /** Reads the attribute at `i`: where it ends, -1 where the window does, -2 where it is damaged. */
  private attributeAt(start: number): number {
    const { bytes, end } = this;
    let i = start;
    while (i < end && inName[bytes[i]!] === 1) i++;
    if (i >= end) return -1;
    if (i === start) return this.badAttribute(i, "an attribute's name has to be");
    const nameEnd = i;
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return -1;
    if (bytes[i] !== 61) return this.badAttribute(i, `"=" has to follow an attribute's name`);
    i++;
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return -1;
    const quote = bytes[i]!;
    if (quote !== 34 && quote !== 39) return this.badAttribute(i, "an attribute's value has to be in quotes");
    const from = ++i;
    let found = 0;
    for (; ; i++) {
      if (i >= end) return -1;
      const byte = bytes[i]!;
      const meaning = inValue[byte]!;
      if (meaning === 0) continue;
      if (byte === quote) break;
      if (meaning === 1) return this.badAttribute(i, `"<" in an attribute's value`);
      if (meaning < 4) found = 1;
    }
    const name = this.names.find(bytes, start, nameEnd);
    if (name.tag === this.tagCount) this.repeatedAt = start;
    else if (this.attributeCount === mostAttributes) {
      return this.badAttribute(start, `more than ${mostAttributes} attributes in one tag`);
    } else this.keepAttribute(name, from, i, found);
    name.tag = this.tagCount;
    return i + 1;
  }

  private badAttribute(at: number, reason: string): number {
    this.fail(at, reason);
    return -2;
  }

  private keepAttribute(name: XmlName, from: number, to: number, encoded: number): void {
    const index = this.attributeCount++;
    if (index === this.valueFrom.length) this.growAttributes();
    this.attributeNames[index] = name;
    this.valueFrom[index] = from;
    this.valueTo[index] = to;
    this.valueEncoded[index] = encoded;
  }

  private growAttributes(): void {
    const { valueFrom, valueTo, valueEncoded } = this;
    const length = valueFrom.length * 2;
    this.valueFrom = new Uint32Array(length);
    this.valueFrom.set(valueFrom);
    this.valueTo = new Uint32Array(length);
    this.valueTo.set(valueTo);
    this.valueEncoded = new Uint8Array(length);
    this.valueEncoded.set(valueEncoded);
  }

  private open(name: XmlName, after: number): number {
    const { at } = this;
    if (this.depth === mostDepth) return this.fail(at, `elements nested more than ${mostDepth} deep`);
    if (this.depth === 0 && this.rootSeen) return this.fail(at, "a second root element");
    if (this.repeatedAt >= 0) this.flaw("attribute-repeated", this.repeatedAt);
    this.rootSeen = true;
    this.at = after;
    this.tokenAt = at;
    this.name = name;
    this.stack.push(name);
    this.depth++;
    this.afterTag = true;
    for (let a = 0; a < this.attributeCount; a++) {
      const { prefix, local } = this.attributeNames[a]!;
      if (prefix === "xmlns") this.namespaces.declare(local, this.value(a), this.depth);
      else if (prefix === "" && local === "xmlns") this.namespaces.declare("", this.value(a), this.depth);
    }
    return Token.open;
  }

  /** The namespace of the element opened last, empty where it has none, null where its prefix is not declared. */
  namespace(): string | null {
    return this.namespaces.of(this.name);
  }

  /** The index of the attribute whose local name has this code in the vocabulary, -1 where there is none. */
  attributeIndex(code: number): number {
    for (let a = 0; a < this.attributeCount; a++) if (this.attributeNames[a]!.code === code) return a;
    return -1;
  }

  /** The value of the attribute at `index`, resolved. */
  value(index: number): string {
    const from = this.valueFrom[index]!;
    const to = this.valueTo[index]!;
    const raw = this.bytes.toString("utf8", from, to);
    if (!this.valid && !isUtf8(this.bytes.subarray(from, to))) this.flaw("invalid-utf8", from);
    return this.valueEncoded[index] === 1 ? this.resolve(raw.replace(/\r\n|[\r\n\t]/g, " "), from) : raw;
  }

  /** The value of the attribute at `index`, for values that come again and again: one string serves them all. */
  keyword(index: number): string {
    if (this.valueEncoded[index] === 1 || !this.valid) return this.value(index);
    return this.names.find(this.bytes, this.valueFrom[index]!, this.valueTo[index]!).text;
  }

  /** The value of the attribute at `index` as a number, NaN where it is none. */
  valueNumber(index: number): number {
    const from = this.valueFrom[index]!;
    const to = this.valueTo[index]!;
    const number = parseNumber(this.bytes, from, to);
    return Number.isNaN(number) ? numberOf(this.value(index)) : number;
  }

  /** The value of the attribute with this local name, null where there is none. */
  attribute(local: string): string | null {
    for (let a = 0; a < this.attributeCount; a++) if (this.attributeNames[a]!.local === local) return this.value(a);
    return null;
  }

  /** Adds the text token at hand to `content`, resolved. */
  collect(): void {
    const { bytes, textFrom, textTo, content } = this;
    const { source } = this.settings;
    if (!this.valid && !isUtf8(bytes.subarray(textFrom, textTo))) this.flaw("invalid-utf8", textFrom);
    if (!this.encoded) content.add(bytes, textFrom, textTo, this.valid, source);
    else if (this.literal || !this.valid || !content.addEscaped(bytes, textFrom, textTo, source)) {
      const raw = bytes.toString("utf8", textFrom, textTo).replace(/\r\n?/g, "\n");
      if (this.literal) content.addText(this.cleaned(raw, textFrom), source);
      else content.addResolved(this.resolve(raw, textFrom), spaceBefore(raw), spaceAfter(raw), source);
    }
  }

  private cleaned(raw: string, at: number): string {
    return raw.replace(controls, () => {
      this.flaw("control-character", at);
      return "";
    });
  }

  private resolve(raw: string, at: number): string {
    return this.cleaned(raw, at).replace(/&(?:(#?[\p{L}\p{N}_:.-]{1,64});)?/gu, (written: string, name?: string) => {
      if (name === undefined) {
        this.flaw("bare-ampersand", at);
        return written;
      }
      return this.entity(name, at) ?? written;
    });
  }

  private entity(name: string, at: number): string | null {
    try {
      const text = this.entities.text(name);
      if (text === null) this.flaw(name.startsWith("#") ? "control-character" : "entity-unknown", at);
      return text === null && name.startsWith("#") ? "" : text;
    } catch (error) {
      if (!(error instanceof EntityRefusal)) throw error;
      this.fail(at, error.message);
      return null;
    }
  }

  private flaw(code: Flaw, at: number): void {
    const known = this.flaws.get(code);
    if (known) known.count++;
    else this.flaws.set(code, { count: 1, byte: this.byteAt(at) });
  }

  /** Tells what was repaired since the last report. */
  report(): void {
    for (const [code, { count, byte }] of this.flaws) {
      this.settings.context.notice(code, undefined, `${flawTexts[code]}, first near byte ${byte}`, count);
    }
    this.flaws.clear();
  }

  /** Where the token given last begins, in bytes from the start of the file. */
  get byte(): number {
    return this.byteAt(this.tokenAt);
  }

  private byteAt(at: number): number {
    if (at < this.measuredAt) {
      this.measuredAt = 0;
      this.measured = 0;
    }
    // From place to place, as measuring what was decoded takes its time.
    this.measured += this.input?.sourceLength(this.bytes, this.measuredAt, at) ?? 0;
    this.measuredAt = at;
    return this.base + this.measured;
  }

  /** Where the token given last ends, in bytes from the start of the file. */
  get byteAfter(): number {
    return this.byteAt(this.at);
  }

  /** Whether other readers can begin at places that this one finds. */
  get splittable(): boolean {
    return this.encoding === "utf-8";
  }

  /** Right after `open` of an element: what a reader needs to begin with its first child, or with any other child. */
  childStart(): XmlStart {
    return {
      byte: this.byteAfter,
      encoding: this.encoding,
      open: this.stack.map((name) => name.text),
      namespaces: this.namespaces.list(),
      doctype: this.doctype,
    };
  }

  private finish(): number {
    const mayBeOpen = this.settings.leaves && this.settings.to !== undefined;
    if (this.depth > this.least && !mayBeOpen) return this.truncated(`<${this.stack.at(-1)!.text}>`);
    if (!this.rootSeen) return this.fail(this.at, "there is no element in it");
    this.finished = true;
    return Token.end;
  }

  private incomplete(what: string): number {
    this.closing = false;
    if (this.last) return this.truncated(what);
    if (this.end - this.at > mostMarkup) return this.fail(this.at, `a tag of more than ${mostMarkup} bytes`);
    return Token.more;
  }

  private truncated(what: string): number {
    this.pending ??= { at: this.end, reason: `${what} is not closed`, truncated: true };
    return Token.more;
  }

  private fail(at: number, reason: string): number {
    this.closing = false;
    this.pending ??= { at, reason, truncated: false };
    return Token.more;
  }

  /** The error for damage, with the line, which is counted only now. */
  private async failure({ at, reason, truncated }: NonNullable<typeof this.pending>): Promise<GeoferryError> {
    const byte = this.byteAt(at);
    const place = { line: await this.lineOf(byte), byte };
    return fault(truncated ? "input-truncated" : "input-corrupt", { source: this.settings.source, place, reason });
  }

  /** The line, from 1, of a byte of the file. */
  private async lineOf(byte: number): Promise<number> {
    let line = 1;
    for (let from = 0; from < byte; ) {
      const piece = await this.file.read(from, Math.min(1 << 20, byte - from));
      if (piece.length === 0) break;
      for (let i = piece.indexOf(10); i >= 0; i = piece.indexOf(10, i + 1)) line++;
      from += piece.length;
    }
    return line;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

const spaceBefore = (text: string): number => /^[ \t\n]*/.exec(text)![0].length;

function spaceAfter(text: string): number {
  let at = text.length;
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
  return text.length - at;
}

/** The number that a text is, with white space around it; NaN where it is none. */
function numberOf(text: string): number {
  const bytes = Buffer.from(text.trim());
  return parseNumber(bytes, 0, bytes.length);
}

/** Where the document type ends, behind its `>`; -1 where it is not there. Brackets in quotes and comments are none. */
function doctypeEnd(bytes: Buffer, from: number, end: number): number {
  let inside = false;
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === 34 || byte === 39) i = bytes.indexOf(byte, i + 1);
    else if (byte === lessThan && sameBytes(commentOpening, bytes, i)) {
      i = bytes.indexOf(commentEnd, i + 4);
      if (i >= 0) i += 2;
    } else if (byte === 91) inside = true;
    else if (byte === 93) inside = false;
    else if (byte === greaterThan && !inside) return i + 1;
    if (i < 0 || i >= end) return -1;
  }
  return -1;
}

/** The length of `bytes` without a character at their end that is cut in two. */
function wholeCharacters(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? length - back : length;
  }
  return length;
}
