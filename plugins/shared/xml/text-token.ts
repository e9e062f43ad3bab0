import {
  ampersandByte,
  ByteClass,
  carriageReturn,
  cdataEnd,
  isSpace,
  lessThan,
  slash,
  textByteClasses,
} from "./bytes.js";
import type { XmlContentBuffer } from "./content-buffer.js";
import type { XmlReferenceResolver } from "./reference-resolver.js";
import type { XmlWindow } from "./window.js";

/** Up to this length, a text is scanned byte by byte; for longer texts, `indexOf` is faster. */
const maxLoopBytes = 64;
/** A text longer than the window is split into tokens of at least this size. */
const minChunkBytes = 1 << 16;
const semicolonByte = 59;

/** The range of a text between tags, of a CDATA section, or of a part of either. */
export class XmlTextToken {
  from = 0;
  to = 0;
  /** Whether the window continues within a CDATA section. */
  inCdata = false;
  /** Whether it is in a CDATA section. */
  private literal = false;
  /** The byte classes found before `scannedTo`; the rest is scanned on request. */
  private found = 0;
  private scannedTo = 0;

  constructor(
    private readonly window: XmlWindow,
    private readonly resolver: XmlReferenceResolver,
    private readonly source: string,
  ) {}

  /** Reads the text up to the next tag. @returns false where that needs more of the file */
  read(): boolean {
    const { bytes, end, at, last } = this.window;
    const near = Math.min(end, at + maxLoopBytes);
    this.found = 0;
    let to = at;
    for (; to < near; to++) {
      const meaning = textByteClasses[bytes[to]!]!;
      if (meaning === ByteClass.none) continue;
      if (meaning === ByteClass.tag) break;
      this.found |= meaning;
    }
    this.scannedTo = to;
    if (to === near && to < end) {
      const tag = bytes.indexOf(lessThan, to);
      to = tag < 0 || tag > end ? end : tag;
    }
    if (to >= end && !last) {
      if (to - at < minChunkBytes) return false;
      to = this.pieceEnd(to);
    }
    this.literal = false;
    this.take(to);
    return true;
  }

  /** Whether it needs decoding. */
  private get isEncoded(): boolean {
    const { bytes } = this.window;
    for (; this.scannedTo < this.to; this.scannedTo++) this.found |= textByteClasses[bytes[this.scannedTo]!]!;
    return this.found !== 0;
  }

  /** Whether the end tag of its element follows, and it is not a CDATA section. */
  get endsElement(): boolean {
    const { bytes, end } = this.window;
    const { to } = this;
    return !this.literal && to + 1 < end && bytes[to] === lessThan && bytes[to + 1] === slash;
  }

  /** Whether it is in a CDATA section. */
  get isCdata(): boolean {
    return this.literal;
  }

  /** Returns where to split a long text: not within a reference or within a line end of two characters. */
  private pieceEnd(end: number): number {
    const { bytes, at } = this.window;
    const open = bytes.lastIndexOf(ampersandByte, end - 1);
    if (open >= end - 64 && open > at && !bytes.subarray(open, end).includes(semicolonByte)) return open;
    return bytes[end - 1] === carriageReturn ? end - 1 : end;
  }

  /** Reads the rest of a CDATA section, or a part of it. @returns false where that needs more of the file */
  readCdata(): boolean {
    const { window } = this;
    const { bytes, at, end } = window;
    const found = bytes.indexOf(cdataEnd, at);
    const isWhole = found >= 0 && found + cdataEnd.length <= end;
    if (!isWhole && end - at < minChunkBytes) return false;
    let to = isWhole ? found : end - cdataEnd.length;
    if (!isWhole) {
      while (to > at && (bytes[to]! & 0xc0) === 0x80) to--;
      if (bytes[to - 1] === carriageReturn) to--;
    }
    this.inCdata = !isWhole;
    this.literal = true;
    this.found = 0;
    this.scannedTo = to;
    for (let i = at; i < to; i++) {
      if (textByteClasses[bytes[i]!] === ByteClass.forbidden || bytes[i] === carriageReturn) this.found = 1;
    }
    this.take(to);
    if (isWhole) window.at = found + cdataEnd.length;
    return true;
  }

  private take(to: number): void {
    const { window } = this;
    this.from = window.tokenAt = window.at;
    this.to = window.at = to;
  }

  /** Adds it to `content` as written, except for line ends and characters that XML does not allow. */
  collectRaw(content: XmlContentBuffer): void {
    const { from, to, source, resolver } = this;
    resolver.checkUtf8(from, to);
    const raw = this.window.bytes.toString("utf8", from, to).replace(/\r\n?/g, "\n");
    content.addText(resolver.clean(raw, from), source);
  }

  /** Adds it to `content`, decoded. */
  collect(content: XmlContentBuffer): void {
    const { from, to, source, resolver } = this;
    const { bytes, valid } = this.window;
    resolver.checkUtf8(from, to);
    if (!this.isEncoded) content.add(bytes, from, to, valid, source);
    else if (this.literal || !valid || !content.addEscaped(bytes, from, to, source)) {
      const raw = bytes.toString("utf8", from, to).replace(/\r\n?/g, "\n");
      if (this.literal) content.addText(resolver.clean(raw, from), source);
      else content.addResolved(resolver.resolve(raw, from), countLeadingSpace(raw), countTrailingSpace(raw), source);
    }
  }
}

const countLeadingSpace = (text: string): number => /^[ \t\n]*/.exec(text)![0].length;

function countTrailingSpace(text: string): number {
  let at = text.length;
  while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
  return text.length - at;
}
