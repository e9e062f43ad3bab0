import { isUtf8 } from "node:buffer";
import { fault } from "../../src/errors.js";

/** More text than this in one element is refused: 256 MiB. */
const mostContent = 1 << 28;

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 9 || byte === 13;

/** The text of an element, put together from its pieces, as UTF-8 that grows as it comes. */
export class XmlContent {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  private reserve(size: number, source: string): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    if (needed > mostContent) {
      throw fault("unsupported", { source, reason: `an element has more than ${mostContent} bytes of text` });
    }
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Adds `from[start … end]`; `valid` tells that it is UTF-8 for sure. */
  add(from: Buffer, start: number, end: number, valid: boolean, source: string): void {
    if (!valid && !isUtf8(from.subarray(start, end))) {
      this.addText(from.toString("utf8", start, end), source);
      return;
    }
    const size = end - start;
    if (this.length + size > this.bytes.length) this.reserve(size, source);
    const { bytes, length } = this;
    // Copying a few bytes by hand is cheaper than the call that copies many.
    if (size < 32) for (let i = 0; i < size; i++) bytes[length + i] = from[start + i]!;
    else from.copy(bytes, length, start, end);
    this.length += size;
  }

  addText(text: string, source: string): void {
    this.reserve(text.length * 3, source);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Where the text begins without the white space around it, and where it ends: the same where there is nothing else. */
  trimmed(): readonly [number, number] {
    let from = 0;
    let to = this.length;
    while (from < to && isSpace(this.bytes[from]!)) from++;
    while (to > from && isSpace(this.bytes[to - 1]!)) to--;
    return [from, to];
  }

  /** The text without the white space around it. */
  text(): string {
    const [from, to] = this.trimmed();
    return this.bytes.toString("utf8", from, to);
  }
}
