import { isUtf8 } from "node:buffer";
import { createError } from "../../../src/errors.js";
import { isSpace } from "./bytes.js";

/** More text than this in one element is refused: 256 MiB. */
const maxContentBytes = 1 << 28;

const predefinedReferences = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const predefinedNames = Object.keys(predefinedReferences).map((name) => Buffer.from(`&${name};`));
/** The character of a predefined reference, by the sum of the first two bytes of its name, which differs for each. */
const predefinedCharacterByHash = new Uint8Array(512);
for (const [name, character] of Object.entries(predefinedReferences)) {
  predefinedCharacterByHash[name.charCodeAt(0) + name.charCodeAt(1)] = character.charCodeAt(0);
}

/** How long the predefined reference at `at` is, 0 where none is there. */
function predefinedReferenceLength(bytes: Buffer, at: number, end: number): number {
  for (const reference of predefinedNames) {
    let i = 1;
    while (i < reference.length && at + i < end && bytes[at + i] === reference[i]) i++;
    if (i === reference.length) return i;
  }
  return 0;
}

/**
 * Text of elements, put together from its pieces, as UTF-8 that grows as it comes: of one at a time (`clear`, then
 * `collect` of the reader), or of several that are kept side by side until they are used (`begin` before each).
 */
export class XmlContentBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;
  /** Where the text begun last begins. */
  from = 0;
  /** White space in between was written as a reference, and belongs to the text. */
  private pinnedFrom = Number.POSITIVE_INFINITY;
  private pinnedTo = 0;

  clear(): void {
    this.length = 0;
    this.begin();
  }

  /** Begins another text behind those that are there. */
  begin(): void {
    this.from = this.length;
    this.pinnedFrom = Number.POSITIVE_INFINITY;
    this.pinnedTo = 0;
  }

  /** Forgets the text begun last. */
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

  /**
   * Adds `from[start … end]`, valid UTF-8, with the references that XML predefines resolved and its line ends as line
   * feeds; false where there is anything else to be resolved, and nothing was added.
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

  /** Adds a text whose references are resolved; white space that was none of them stood `before` and `after` it. */
  addResolved(text: string, before: number, after: number, source: string): void {
    const start = this.length;
    this.addText(text, source);
    if (text.length <= before) return;
    this.pinnedFrom = Math.min(this.pinnedFrom, start + before);
    this.pinnedTo = this.length - after;
  }

  /** Where the text begun last begins without the white space around it. */
  get start(): number {
    let at = this.from;
    const most = Math.min(this.length, this.pinnedFrom);
    while (at < most && isSpace(this.bytes[at]!)) at++;
    return at;
  }

  /** Where the text begun last ends without the white space around it: at its start where there is nothing else. */
  get end(): number {
    let at = this.length;
    const least = Math.max(this.start, this.pinnedTo);
    while (at > least && isSpace(this.bytes[at - 1]!)) at--;
    return at;
  }

  /** The text begun last, without the white space around it. */
  text(): string {
    return this.bytes.toString("utf8", this.start, this.end);
  }
}
