import { isUtf8 } from "node:buffer";
import { createError } from "../../../src/errors.js";
import { isSpace } from "./bytes.js";

/** The maximum text of one element: 256 MiB. */
const maxContentBytes = 1 << 28;

const predefinedReferences = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const predefinedNames = Object.keys(predefinedReferences).map((name) => Buffer.from(`&${name};`));
/** The character of a predefined reference, by the sum of the first two bytes of its name, which differs for each. */
const predefinedCharacterByHash = new Uint8Array(512);
for (const [name, character] of Object.entries(predefinedReferences)) {
  predefinedCharacterByHash[name.charCodeAt(0) + name.charCodeAt(1)] = character.charCodeAt(0);
}

/** The length of the predefined reference at `at`, 0 for none. */
function predefinedReferenceLength(bytes: Buffer, at: number, end: number): number {
  for (const reference of predefinedNames) {
    let i = 1;
    while (i < reference.length && at + i < end && bytes[at + i] === reference[i]) i++;
    if (i === reference.length) return i;
  }
  return 0;
}

/**
 * Collects the text of elements from its tokens, as UTF-8: of one element at a time (`clear`, then the reader's
 * `collect`), or of several that are kept one after another until they are used (`begin` before each).
 */
export class XmlContentBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;
  /** The start of the last text. */
  from = 0;
  /** White space between these positions was written as references, and belongs to the text. */
  private pinnedFrom = Number.POSITIVE_INFINITY;
  private pinnedTo = 0;

  clear(): void {
    this.length = 0;
    this.begin();
  }

  /** Begins another text after the present ones. */
  begin(): void {
    this.from = this.length;
    this.pinnedFrom = Number.POSITIVE_INFINITY;
    this.pinnedTo = 0;
  }

  /** Removes the last text. */
  drop(): void {
    this.length = this.from;
    this.begin();
  }

  private reserve(size: number, source: string): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    if (needed > maxContentBytes) {
      throw createError("unsupported", { source, reason: `an element has more than ${maxContentBytes} bytes of text` });
    }
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Adds `from[start … end]`. @param valid whether the bytes are known to be valid UTF-8 */
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

  /**
   * Adds `from[start … end]`, valid UTF-8, with predefined references resolved and line ends as line feeds.
   * @returns false, with nothing added, where anything else needs decoding
   */
  addEscaped(from: Buffer, start: number, end: number, source: string): boolean {
    this.reserve(end - start, source);
    const { bytes } = this;
    let to = this.length;
    for (let i = start; i < end; i++) {
      const byte = from[i]!;
      if (byte === 38) {
        const length = predefinedReferenceLength(from, i, end);
        if (length === 0) return false;
        bytes[to++] = predefinedCharacterByHash[from[i + 1]! + from[i + 2]!]!;
        i += length - 1;
      } else if (byte === 13) {
        bytes[to++] = 10;
        if (i + 1 < end && from[i + 1] === 10) i++;
      } else if (byte < 32 && byte !== 9 && byte !== 10) return false;
      else bytes[to++] = byte;
    }
    this.length = to;
    return true;
  }

  addText(text: string, source: string): void {
    this.reserve(text.length * 3, source);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Adds a decoded text, which literal white space of the lengths `before` and `after` surrounds. */
  addResolved(text: string, before: number, after: number, source: string): void {
    const start = this.length;
    this.addText(text, source);
    if (text.length <= before) return;
    this.pinnedFrom = Math.min(this.pinnedFrom, start + before);
    this.pinnedTo = this.length - after;
  }

  /** The start of the last text without the white space around it. */
  get start(): number {
    let at = this.from;
    const most = Math.min(this.length, this.pinnedFrom);
    while (at < most && isSpace(this.bytes[at]!)) at++;
    return at;
  }

  /** The end of the last text without the white space around it; its start where it has nothing else. */
  get end(): number {
    let at = this.length;
    const least = Math.max(this.start, this.pinnedTo);
    while (at > least && isSpace(this.bytes[at - 1]!)) at--;
    return at;
  }

  /** The last text, without the white space around it. */
  text(): string {
    return this.bytes.toString("utf8", this.start, this.end);
  }
}
