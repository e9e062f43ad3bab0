import {
  cdataEnd,
  cdataOpening,
  commentEnd,
  commentOpening,
  markupOpening,
  nameBytes,
  startsWithBytes,
} from "./bytes.js";
import type { XmlWindow } from "./window.js";

/** Skips markup that is not parsed, across windows. */
export class XmlSkipper {
  /** The bytes to skip past. */
  private mark: Buffer | null = null;
  /** The beginning of the end tag to skip to. */
  private tag: Buffer | null = null;

  constructor(private readonly window: XmlWindow) {}

  /** Begins to skip everything up to `mark`, inclusive. */
  past(mark: Buffer): void {
    this.mark = mark;
  }

  /** Begins to skip everything up to the end tag of the element with this name. */
  toEndOf(name: Uint8Array): void {
    this.tag = Buffer.concat([Buffer.from("</"), name]);
  }

  /** Whether the content of an element is being skipped. */
  get isInElement(): boolean {
    return this.tag !== null;
  }

  /** Continues. @returns false where the window ends first */
  skip(): boolean {
    return (this.tag === null || this.skipElement(this.tag)) && (this.mark === null || this.skipMark(this.mark));
  }

  private skipMark(mark: Buffer): boolean {
    const { window } = this;
    const { bytes, at, end } = window;
    const found = bytes.indexOf(mark, at);
    if (found < 0 || found + mark.length > end) {
      window.at = Math.max(at, end - mark.length + 1);
      return false;
    }
    window.at = found + mark.length;
    this.mark = null;
    return true;
  }

  /** Skips comments and CDATA sections as a whole, because tags in them are text. */
  private skipElement(tag: Buffer): boolean {
    const { window } = this;
    const { bytes, end } = window;
    for (;;) {
      if (this.mark && !this.skipMark(this.mark)) return false;
      const found = bytes.indexOf(tag, window.at);
      const markup = bytes.subarray(0, found < 0 ? bytes.length : found).indexOf(markupOpening, window.at);
      if (markup >= 0 && markup + cdataOpening.length <= end) {
        window.at = markup + markupOpening.length;
        if (startsWithBytes(cdataOpening, bytes, markup)) this.mark = cdataEnd;
        else if (startsWithBytes(commentOpening, bytes, markup)) {
          window.at = markup + commentOpening.length;
          this.mark = commentEnd;
        }
      } else if (markup < 0 && found >= 0 && found + tag.length < end) {
        window.at = found;
        if (nameBytes[bytes[found + tag.length]!] === 0) {
          this.tag = null;
          return true;
        }
        window.at++;
      } else {
        const next = Math.min(found < 0 ? end : found, markup < 0 ? end : markup);
        window.at = Math.max(window.at, next - tag.length);
        return false;
      }
    }
  }
}
