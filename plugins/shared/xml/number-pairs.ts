import { highBits } from "../text/byte-words.js";
import { DataViewCache } from "../text/data-view.js";
import { parseNumber } from "../text/parse-number.js";
import { parsePlainDecimal } from "../text/plain-decimal.js";
import { apostrophe, ByteClass, isSpace, quotation, startsWithBytes, valueByteClasses } from "./bytes.js";
import { matchesRun, type TemplateRun, toComparisonWords, type XmlRecordTemplate } from "./record-template.js";

/** Units that are passed at once. */
export const maxPairs = 1024;
/** Units with more white space between them are read one by one. */
const maxSpace = 64;

/**
 * Units that are a tag of two numbers and nothing else, one right behind the other: points of tracks are most of many a
 * file. A loop of its own is faster than a stencil, which looks for each run and slot again.
 */
export class NumberPairScanner<Deed> {
  /** Of each unit that was passed, the numbers in the order in which they stand there. */
  readonly numbers = new Float64Array(2 * maxPairs);
  /** What stands before, between and behind the numbers of a unit. */
  private head: TemplateRun<Deed> | undefined;
  private middle: TemplateRun<Deed> | undefined;
  private tail: TemplateRun<Deed> | undefined;
  private middleEnd = 0;
  private tailEnd = 0;
  /** What stands behind one unit's numbers and before those of the next, with the white space in between. */
  private joint: TemplateRun<Deed> | undefined;
  private readonly views = new DataViewCache();
  /** Where the unit ends that was passed last. */
  to = 0;

  constructor(
    /** Whether the numbers are wanted; if not, they need not be any. */
    private readonly wantsNumbers: boolean,
  ) {}

  /** Whether the unit that the stencil fitted last is such a pair. */
  takes(stencil: XmlRecordTemplate<Deed>): boolean {
    const head = stencil.firstRun;
    const middle = head?.next?.last;
    const tail = middle?.next?.last;
    if (!tail || tail.next !== null) return false;
    if (head === this.head && middle === this.middle && tail === this.tail) return true;
    const [first, second] = [head!.next!, middle!.next!];
    const areValues = isQuote(first.end) && isQuote(second.end) && !first.isChecked && !second.isChecked;
    if (!areValues || head!.deeds.length + middle!.deeds.length + tail.deeds.length > 0) return false;
    this.head = head;
    this.middle = middle;
    this.tail = tail;
    this.middleEnd = first.end;
    this.tailEnd = second.end;
    this.joint = undefined;
    return true;
  }

  /** Passes the units that follow `at`, where one has ended, and says how many they are. */
  pass(bytes: Uint8Array, at: number, end: number): number {
    const words = this.views.of(bytes);
    const { numbers, wantsNumbers, middleEnd, tailEnd } = this;
    const middle = this.middle!;
    const tail = this.tail!;
    this.to = at;
    let i = this.headEnd(words, bytes, at, end);
    const joint = i < 0 ? null : this.jointAt(bytes, at, i);
    if (!joint) return 0;
    for (let count = 0; count < maxPairs; ) {
      i = wantsNumbers
        ? parseQuotedNumber(words, bytes, i, end, middleEnd, numbers, 2 * count)
        : findValueEnd(words, bytes, i, end, middleEnd);
      if (i < 0 || i + middle.bytes.length > end || !matchesRun(middle, words, bytes, i)) return count;
      i += middle.bytes.length;
      i = wantsNumbers
        ? parseQuotedNumber(words, bytes, i, end, tailEnd, numbers, 2 * count + 1)
        : findValueEnd(words, bytes, i, end, tailEnd);
      if (i < 0) return count;
      const isFollowed = i + joint.bytes.length <= end && matchesRun(joint, words, bytes, i);
      if (!isFollowed && (i + tail.bytes.length > end || !matchesRun(tail, words, bytes, i))) return count;
      this.to = i + tail.bytes.length;
      count++;
      if (!isFollowed) return count;
      i += joint.bytes.length;
    }
    return maxPairs;
  }

  /** Where the head ends that stands behind the white space at `at`, −1 where there is none. */
  private headEnd(words: DataView, bytes: Uint8Array, at: number, end: number): number {
    const head = this.head!;
    let i = at;
    while (i < end && isSpace(bytes[i]!)) i++;
    return i + head.bytes.length <= end && matchesRun(head, words, bytes, i) ? i + head.bytes.length : -1;
  }

  /** The joint that ends with `bytes[at … to]`; null where that has too much white space. */
  private jointAt(bytes: Uint8Array, at: number, to: number): TemplateRun<Deed> | null {
    const { joint, head, tail } = this;
    const { length } = tail!.bytes;
    if (joint && joint.bytes.length - length === to - at && startsWithBytes(joint.bytes.subarray(length), bytes, at)) {
      return joint;
    }
    if (to - at > maxSpace + head!.bytes.length) return null;
    const own = new Uint8Array(length + to - at);
    own.set(tail!.bytes);
    own.set(bytes.subarray(at, to), length);
    this.joint = { bytes: own, ...toComparisonWords(own), deeds: [], next: head!.next };
    return this.joint;
  }
}

const isQuote = (byte: number): boolean => byte === quotation || byte === apostrophe;

/** Where the value at `from` ends, −1 where it has to be resolved, or does not end. */
function findValueEnd(words: DataView, bytes: Uint8Array, from: number, end: number, quote: number): number {
  let i = from;
  while (i + 4 <= end && areNumberBytes(words.getInt32(i, true))) i += 4;
  while (i < end && valueByteClasses[bytes[i]!] === ByteClass.none) i++;
  return i < end && bytes[i] === quote ? i : -1;
}

/** Whether four bytes are all between `(` and `;`: digits, signs and points are, and nothing that ends a value. */
const areNumberBytes = (four: number): boolean =>
  ((four + 0x58585858) & ~(four + 0x44444444) & ~four & highBits) === highBits;

/** The same of a number, which is put into `numbers[at]`. */
function parseQuotedNumber(
  words: DataView,
  bytes: Uint8Array,
  from: number,
  end: number,
  quote: number,
  numbers: Float64Array,
  at: number,
): number {
  const plain = parsePlainDecimal(bytes, from, end, numbers, at);
  if (plain > 0 && plain < end && bytes[plain] === quote) return plain;
  const to = findValueEnd(words, bytes, from, end, quote);
  if (to < 0) return -1;
  const number = parseNumber(bytes, from, to);
  numbers[at] = number;
  return Number.isNaN(number) ? -1 : to;
}
