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

/** Passes over what no one looks at, over as many windows as it takes. */
export class XmlSkipper {
  /** What is looked for, to go on behind it. */
  private mark: Buffer | null = null;
  /** The end tag that is looked for, to go on before it. */
  private tag: Buffer | null = null;

  constructor(private readonly window: XmlWindow) {}

  /** From now on: over everything up to `mark`, and over that. */
  past(mark: Buffer): void {
    this.mark = mark;
  }

  /** From now on: over everything up to the end tag of the element of this name. */
  toEndOf(name: Uint8Array): void {
    this.tag = Buffer.concat([Buffer.from("</"), name]);
  }

  /** Whether it is within an element of which nothing is wanted. */
  get isInElement(): boolean {
    return this.tag !== null;
  }

  /** Moves on; false where the window ends before the place that is looked for. */
  pass(): boolean {
    return (this.tag === null || this.passElement(this.tag)) && (this.mark === null || this.passMark(this.mark));
  }

  private passMark(mark: Buffer): boolean {
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

  /** Past comments and CDATA sections, in which a tag is none. */
  private passElement(tag: Buffer): boolean {
    const { window } = this;
    const { bytes, end } = window;
    for (;;) {
      if (this.mark && !this.passMark(this.mark)) return false;
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
