/**
 * A pull parser for XML 1.0 with namespaces. Tokens are ranges in a window of UTF-8 bytes that moves over the file, so that
 * numbers and texts need no string or object each.
 *
 * ```ts
 * const reader = new XmlReader(file, { source: source.name, context, vocabulary: { trk: 1, name: 2 } });
 * try {
 *   for (;;) {
 *     const token = reader.next();
 *     if (token === XmlToken.end) break;
 *     if (token === XmlToken.more) await reader.fill();             // the only wait, once per MiB
 *     else if (token === XmlToken.open && reader.name.code === 2) reader.content.clear();
 *     else if (token === XmlToken.text) reader.collect();           // adds to reader.content
 *     else if (token === XmlToken.close && reader.name.code === 2) use(reader.content.text());
 *   }
 * } finally {
 *   reader.report();                                               // notices for repairs
 * }
 * ```
 *
 * - After `open`: `name`, `depth` (1 for the root), `attributes`, `namespace()`. After `close`: `name` and `depth` of the
 *   element that ends; an empty element gives `open` and `close`. After `text`: `textFrom`, `textTo` in `bytes`, raw. One
 *   element's text may come in several tokens. White space between tags is not a token.
 * - The reader detects the encoding. `collect` and `attributes` resolve declared and predefined entities, character
 *   references and CDATA. Of a document type, only short internal entities are read.
 * - Prefixes need not be declared: `name.local` and `name.prefix` are set in any case.
 * - Flaws that leave the meaning clear (a bare `&`, control characters, invalid UTF-8, a repeated attribute) are repaired,
 *   and `report` reports them. Other input that is not well-formed ends the reading with `input-corrupt` or
 *   `input-truncated`, with line and byte. With `context.skipErrors` it ends with `XmlToken.end`, and `damage` is set.
 * - To begin in the middle, for splits: `childStart()` right after `open` of an element is the `start` of its first child.
 *   With the `byte` after `open` of another child (`{ ...start, byte: reader.byte }`), it is the start of that child. `to`
 *   is such a byte, too. `splittable` is whether the encoding allows it.
 */
import type { GeoferryError } from "../../../src/errors.js";
import type { SourceFile } from "../../../src/plugin/format.js";
import { XmlAttributes } from "./attributes.js";
import {
  cdataOpening,
  commentEnd,
  commentOpening,
  doctypeOpening,
  exclamation,
  greaterThan,
  isSpace,
  lessThan,
  nameBytes,
  processingInstructionEnd,
  question,
  slash,
  startsWithBytes,
} from "./bytes.js";
import { XmlContentBuffer } from "./content-buffer.js";
import { findDoctypeEnd } from "./doctype.js";
import { XmlElementStack } from "./element-stack.js";
import { type XmlName, XmlNameTable } from "./names.js";
import type { NumberPairScanner } from "./number-pairs.js";
import type { XmlRecordTemplate } from "./record-template.js";
import { XmlReferenceResolver } from "./reference-resolver.js";
import type { XmlPosition, XmlReaderSettings } from "./settings.js";
import { XmlSkipper } from "./skipper.js";
import { XmlTagCache } from "./tag-cache.js";
import { XmlTextToken } from "./text-token.js";
import { XmlWindow } from "./window.js";

export { XmlContentBuffer } from "./content-buffer.js";
export { XmlName, type XmlVocabulary } from "./names.js";
export type { XmlPosition, XmlReaderSettings, XmlReaderTuning } from "./settings.js";

/** What `next` found; after `more`, call `fill`. */
export const XmlToken = { end: 0, open: 1, close: 2, text: 3, more: 4 } as const;

/** The maximum length in bytes of a tag with its attributes, and of a document type. */
const maxMarkupBytes = 1 << 24;
const maxDoctypeBytes = 1 << 16;
/** This many bytes identify a construct that begins with `<!`. */
const maxOpeningBytes = 9;
/** Deeper elements use no templates: a record needs room for its own elements below `maxElementDepth`. */
const maxTemplateDepth = 256;

export class XmlReader {
  /** The attributes of the element opened last. */
  readonly attributes: XmlAttributes;
  /** Receives the text from `collect`. */
  readonly content = new XmlContentBuffer();
  /** With `skipErrors`: the error that ended the reading. */
  damage: GeoferryError | null = null;
  /** Whether white space between tags is a text token, as HTML needs it. */
  keepsSpace = false;

  private afterTag = true;
  /** The next token is the `close` of an empty element. */
  private closing = false;
  private finished = false;
  /** The window begins within something that is skipped, or within a CDATA section. */
  private isWithin = false;
  private doctype: string;
  private readonly names: XmlNameTable;
  private readonly tags = new XmlTagCache();
  private readonly elements: XmlElementStack;
  private readonly window: XmlWindow;
  private readonly resolver: XmlReferenceResolver;
  private readonly skipper: XmlSkipper;
  private readonly text: XmlTextToken;

  constructor(
    file: SourceFile,
    private readonly settings: XmlReaderSettings,
  ) {
    const { start, source, context } = settings;
    this.names = new XmlNameTable(settings.vocabulary);
    this.window = new XmlWindow(file, settings);
    this.resolver = new XmlReferenceResolver(this.window, context);
    this.attributes = new XmlAttributes(this.window, this.names, this.resolver);
    this.skipper = new XmlSkipper(this.window);
    this.text = new XmlTextToken(this.window, this.resolver, source);
    this.elements = new XmlElementStack(this.names, settings);
    this.doctype = start?.doctype ?? "";
    this.resolver.declare(this.doctype);
  }

  /** The name of the element opened or closed last. */
  get name(): XmlName {
    return this.elements.name;
  }

  /** The number of open elements, including one just opened and excluding one just closed. */
  get depth(): number {
    return this.elements.depth;
  }

  /** The bytes of the window, as UTF-8. Token ranges are valid until the next call of `next` or `fill`. */
  get bytes(): Buffer {
    return this.window.bytes;
  }

  /** The start of the text token in `bytes`. */
  get textFrom(): number {
    return this.text.from;
  }

  /** The end of the text token in `bytes`. */
  get textTo(): number {
    return this.text.to;
  }

  /**
   * Whether the text token is the end of its element's content and not a CDATA section. Its bytes are those of the
   * document: references, line ends and characters that XML does not allow are unchanged.
   */
  get endsElement(): boolean {
    return this.text.endsElement;
  }

  /** The next token. */
  next(): number {
    const { window } = this;
    if (this.closing) {
      this.closing = false;
      if (!window.isDamaged) return this.close();
    }
    if (window.isDamaged) return XmlToken.more;
    if (this.finished) return XmlToken.end;
    for (;;) {
      if (this.isWithin) {
        const token = this.within();
        if (token !== -1) return token;
      }
      const { bytes, end } = window;
      let { at } = window;
      if (this.afterTag && !this.keepsSpace) while (at < end && isSpace(bytes[at]!)) at++;
      window.at = window.tokenAt = at;
      if (at >= end) return window.last ? this.finish() : XmlToken.more;
      if (bytes[at] !== lessThan) {
        if (this.depth === 0) return this.fail(at, "text outside the root element");
        return this.text.read() ? this.textToken() : XmlToken.more;
      }
      if (at + 1 >= end) return this.more("a tag");
      const second = bytes[at + 1]!;
      if (second === slash) return this.closeTag();
      if (second !== exclamation && second !== question) return this.openTag();
      const token = second === question ? this.instruction() : this.declaration();
      if (token !== -1) return token;
    }
  }

  /**
   * Reads the next record where the template matches it. `byte` and `byteAfter` are then those of the whole record, and
   * its element is not open.
   */
  matches(template: XmlRecordTemplate<unknown>): boolean {
    const { window, elements } = this;
    const { bytes, end, valid } = window;
    if (this.closing || this.isWithin || this.finished || window.isDamaged) return false;
    if (this.settings.templates === false || !valid || elements.depth === 0 || elements.depth > maxTemplateDepth)
      return false;
    if (!template.isReady(elements.generation)) return false;
    let { at } = window;
    if (this.afterTag) while (at < end && isSpace(bytes[at]!)) at++;
    const to = template.match(bytes, at, end);
    if (to < 0) return false;
    window.tokenAt = at;
    window.at = to;
    this.afterTag = true;
    return true;
  }

  /** Reads number pairs that follow a matched record. @returns their number */
  follow(pairs: NumberPairScanner<unknown>): number {
    const { window } = this;
    const count = pairs.pass(window.bytes, window.at, window.end);
    window.at = window.tokenAt = pairs.to;
    return count;
  }

  /** Goes back to the beginning of the record that a template matched. */
  back(): void {
    this.window.at = this.window.tokenAt;
  }

  /** The start of the last token in `bytes`. */
  get tokenFrom(): number {
    return this.window.tokenAt;
  }

  /** The end of the last token in `bytes`. */
  get tokenTo(): number {
    return this.window.at;
  }

  /** Continues a skip or a CDATA section. @returns −1 at its end */
  private within(): number {
    const { skipper, text } = this;
    if (!skipper.skip()) return this.more(skipper.isInElement ? `<${this.name.text}>` : "a comment");
    this.isWithin = text.inCdata;
    if (!text.inCdata) return -1;
    return text.readCdata() ? this.textToken() : this.more("a CDATA section");
  }

  private textToken(): number {
    this.afterTag = false;
    return XmlToken.text;
  }

  /** Reads more of the file. @throws input-corrupt, input-truncated, unsupported */
  async fill(): Promise<void> {
    const { window } = this;
    if (!window.isDamaged) return window.fill();
    const error = await window.damageFound();
    if (!this.settings.context.skipErrors) throw error;
    this.damage = error;
    this.finished = true;
  }

  /**
   * Right after `open`: skips the content of the element without parsing it, so that `close` is the next token. Only for
   * elements that never contain others of their name, and where the content is checked elsewhere to be well-formed.
   */
  skipContent(): void {
    if (this.closing) return;
    this.skipper.toEndOf(this.name.bytes);
    this.isWithin = true;
  }

  private instruction(): number {
    this.window.at += 2;
    this.skipper.past(processingInstructionEnd);
    this.isWithin = true;
    return -1;
  }

  private declaration(): number {
    const { window } = this;
    const { bytes, at, end } = window;
    if (end - at < maxOpeningBytes && !window.last) return XmlToken.more;
    if (startsWithBytes(commentOpening, bytes, at)) {
      window.at += commentOpening.length;
      this.skipper.past(commentEnd);
      this.isWithin = true;
      return -1;
    }
    if (startsWithBytes(cdataOpening, bytes, at)) {
      if (this.depth === 0) return this.fail(at, "text outside the root element");
      window.at += cdataOpening.length;
      this.text.inCdata = this.isWithin = true;
      this.afterTag = false;
      return -1;
    }
    if (startsWithBytes(doctypeOpening, bytes, at) && !this.elements.rootSeen && this.doctype === "")
      return this.documentType();
    return this.fail(at, "a declaration that has no place here");
  }

  /** Reads a whole document type. */
  private documentType(): number {
    const { window } = this;
    const { bytes, at, end } = window;
    const to = findDoctypeEnd(bytes, at + doctypeOpening.length, Math.min(end, at + maxDoctypeBytes));
    if (to < 0) {
      if (end - at >= maxDoctypeBytes) return this.fail(at, `a document type of more than ${maxDoctypeBytes} bytes`);
      return this.more("a document type");
    }
    this.doctype = bytes.toString("utf8", at, to);
    this.resolver.declare(this.doctype);
    window.at = to;
    return -1;
  }

  private closeTag(): number {
    const { window } = this;
    const { bytes, at, end } = window;
    const expected = this.elements.innermost;
    if (expected === undefined) return this.fail(at, "the end of an element that did not begin");
    let i = at + 2 + expected.bytes.length;
    if (i >= end) return this.moreOfTag();
    const matches = startsWithBytes(expected.bytes, bytes, at + 2) && nameBytes[bytes[i]!] === 0;
    if (!matches) return this.mismatch(expected);
    while (i < end && isSpace(bytes[i]!)) i++;
    if (i >= end) return this.moreOfTag();
    if (bytes[i] !== greaterThan) return this.fail(i, `"${expected.text}" is not the whole of the tag`);
    window.at = i + 1;
    return this.close();
  }

  private mismatch(expected: XmlName): number {
    const { bytes, at, end } = this.window;
    let to = at + 2;
    while (to < end && nameBytes[bytes[to]!] === 1 && to - at < 80) to++;
    return this.fail(at, `</${bytes.toString("utf8", at + 2, to)}> where </${expected.text}> is expected`);
  }

  private close(): number {
    this.elements.close();
    this.afterTag = true;
    return XmlToken.close;
  }

  private openTag(): number {
    const { attributes, tags } = this;
    const { bytes, at, end } = this.window;
    const known = tags.expected(bytes, at, end);
    if (known) {
      attributes.take(known, at);
      this.closing = known.isEmpty;
      return this.open(known.name, at + known.bytes.length);
    }
    let i = at + 1;
    while (i < end && nameBytes[bytes[i]!] === 1) i++;
    if (i >= end) return this.moreOfTag();
    if (i === at + 1) return this.fail(at, `"<" that begins no tag; in text, write &lt;`);
    const name = this.names.find(bytes, at + 1, i);
    attributes.begin();
    for (;;) {
      while (i < end && isSpace(bytes[i]!)) i++;
      if (i >= end) return this.moreOfTag();
      const byte = bytes[i]!;
      if (byte === greaterThan) return this.openNew(name, i + 1);
      if (byte === slash) {
        if (i + 1 >= end) return this.moreOfTag();
        if (bytes[i + 1] !== greaterThan) return this.fail(i, `"/" that does not end the tag`);
        this.closing = true;
        return this.openNew(name, i + 2);
      }
      i = attributes.read(i);
      if (i < 0) return i === -1 ? this.moreOfTag() : XmlToken.more;
    }
  }

  /** Opens an element whose tag is not in the cache. */
  private openNew(name: XmlName, after: number): number {
    const { attributes } = this;
    const { bytes, at } = this.window;
    const token = this.open(name, after);
    if (token !== XmlToken.open) return token;
    if (attributes.repeatedAt >= 0) this.resolver.flaw("attribute-repeated", attributes.repeatedAt);
    else this.tags.add(bytes, at, after, name, attributes);
    return token;
  }

  private open(name: XmlName, after: number): number {
    const { window, attributes, elements } = this;
    const { refusal } = elements;
    if (refusal !== null) return this.fail(window.at, refusal);
    window.at = after;
    this.afterTag = true;
    elements.open(name, attributes);
    return XmlToken.open;
  }

  /** The namespace of the element opened last; empty for none, null for a prefix that is not declared. */
  namespace(): string | null {
    return this.elements.namespace();
  }

  /** The namespace of an attribute of the element opened last; without a prefix, it has none (Namespaces in XML, 6.2). */
  namespaceOf(attribute: XmlName): string | null {
    return attribute.prefix === "" ? "" : this.elements.namespaceOf(attribute);
  }

  /** Whether the text token is in a CDATA section. */
  get isCdata(): boolean {
    return this.text.isCdata;
  }

  /** Adds the text token to `content` as written, with its references. */
  collectRaw(): void {
    this.text.collectRaw(this.content);
  }

  /** Adds the last tag to `content` as written; nothing for the end of an empty element. */
  collectTag(): void {
    const { bytes, tokenAt, at } = this.window;
    const raw = bytes.toString("utf8", tokenAt, at);
    this.content.addText(raw, this.settings.source);
  }

  /** Adds the text token to `content`, with references resolved. */
  collect(): void {
    this.text.collect(this.content);
  }

  /** Reports the repairs since the last call. */
  report(): void {
    this.resolver.report();
  }

  /** The start of the last token, in bytes from the start of the file. */
  get byte(): number {
    return this.window.byteAt(this.window.tokenAt);
  }

  /** The end of the last token, in bytes from the start of the file. */
  get byteAfter(): number {
    return this.window.byteAt(this.window.at);
  }

  /** Whether another reader can begin at a position from this one. */
  get splittable(): boolean {
    return this.window.encoding === "utf-8";
  }

  /** Right after `open` of an element: the position of its first child, from which that of other children derives. */
  childStart(): XmlPosition {
    return {
      byte: this.byteAfter,
      encoding: this.window.encoding,
      ...this.elements.list(),
      doctype: this.doctype,
    };
  }

  private finish(): number {
    const { unclosed, rootSeen } = this.elements;
    if (unclosed) return this.more(`<${unclosed.text}>`);
    if (!rootSeen) return this.fail(this.window.at, "there is no element in it");
    this.finished = true;
    return XmlToken.end;
  }

  /** Requests more of the file; at its end, fails because `what` is not closed. */
  private more(what: string): number {
    if (this.window.last) this.window.failAtEnd(what);
    return XmlToken.more;
  }

  private moreOfTag(): number {
    const { at, end, last } = this.window;
    if (!last && end - at > maxMarkupBytes) return this.fail(at, `a tag of more than ${maxMarkupBytes} bytes`);
    return this.more("a tag");
  }

  private fail(at: number, reason: string): number {
    this.window.fail(at, reason);
    return XmlToken.more;
  }
}
