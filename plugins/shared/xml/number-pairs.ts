import { highBits } from "../text/byte-words.js";
import { DataViewCache } from "../text/data-view.js";
import { parseNumber } from "../text/parse-number.js";
import { parsePlainDecimal } from "../text/plain-decimal.js";
import { apostrophe, ByteClass, isSpace, quotation, startsWithBytes, valueByteClasses } from "./bytes.js";
import type { XmlRecordTemplate } from "./record-template.js";
import { matchesRun, type TemplateRun, toComparisonWords } from "./template-run.js";

/** Records that one call reads at most. */
export const maxPairs = 1024;
/** With more white space between records, they are read one by one. */
const maxSpace = 64;

/**
 * Scans consecutive records that consist of one tag with two numbers: many files are mostly track points. This loop is
 * faster than a template, which searches for each run and slot again.
 */
export class NumberPairScanner<Action> {
  /** The two numbers of each scanned record, in the order in which they are written. */
  readonly numbers = new Float64Array(2 * maxPairs);
  /** The bytes before, between and after the two numbers. */
  private head: TemplateRun<Action> | undefined;
  private middle: TemplateRun<Action> | undefined;
  private tail: TemplateRun<Action> | undefined;
  private middleEnd = 0;
  private tailEnd = 0;
  /** The bytes from the end of one record's numbers to the next record's numbers, including white space. */
  private joint: TemplateRun<Action> | undefined;
  private readonly views = new DataViewCache();
  /** The end of the last scanned record. */
  to = 0;

  constructor(
    /** Whether to parse the numbers. Without, any attribute value is accepted. */
    private readonly wantsNumbers: boolean,
  ) {}

  /** Whether the record that the template matched last is such a pair. */
  takes(template: XmlRecordTemplate<Action>): boolean {
    const head = template.firstRun;
    const middle = head?.next?.last;
    const tail = middle?.next?.last;
    if (!tail || tail.next !== null) return false;
    if (head === this.head && middle === this.middle && tail === this.tail) return true;
    const [first, second] = [head!.next!, middle!.next!];
    const areValues = isQuote(first.end) && isQuote(second.end) && !first.isChecked && !second.isChecked;
    if (!areValues || head!.actions.length + middle!.actions.length + tail.actions.length > 0) return false;
    this.head = head;
    this.middle = middle;
    this.tail = tail;
    this.middleEnd = first.end;
    this.tailEnd = second.end;
    this.joint = undefined;
    return true;
  }

  /** Scans the records after `at`, the end of a record. @returns their number */
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

  /** Returns the end of the head after the white space at `at`, or −1. */
  private headEnd(words: DataView, bytes: Uint8Array, at: number, end: number): number {
    const head = this.head!;
    let i = at;
    while (i < end && isSpace(bytes[i]!)) i++;
    return i + head.bytes.length <= end && matchesRun(head, words, bytes, i) ? i + head.bytes.length : -1;
  }

  /** Returns the joint that ends with `bytes[at … to]`, or null for too much white space. */
  private jointAt(bytes: Uint8Array, at: number, to: number): TemplateRun<Action> | null {
    const { joint, head, tail } = this;
    const { length } = tail!.bytes;
    if (joint && joint.bytes.length - length === to - at && startsWithBytes(joint.bytes.subarray(length), bytes, at)) {
      return joint;
    }
    if (to - at > maxSpace + head!.bytes.length) return null;
    const joined = new Uint8Array(length + to - at);
    joined.set(tail!.bytes);
    joined.set(bytes.subarray(at, to), length);
    this.joint = { bytes: joined, ...toComparisonWords(joined), actions: [], next: head!.next };
    return this.joint;
  }
}

const isQuote = (byte: number): boolean => byte === quotation || byte === apostrophe;

/** Returns the end of the value at `from`, or −1 where it needs decoding or does not end. */
function findValueEnd(words: DataView, bytes: Uint8Array, from: number, end: number, quote: number): number {
  let i = from;
  while (i + 4 <= end && areNumberBytes(words.getInt32(i, true))) i += 4;
  while (i < end && valueByteClasses[bytes[i]!] === ByteClass.none) i++;
  return i < end && bytes[i] === quote ? i : -1;
}

/** Whether four bytes are all between `(` and `;`, which includes digits, signs and points, and no quote. */
const areNumberBytes = (four: number): boolean =>
  ((four + 0x58585858) & ~(four + 0x44444444) & ~four & highBits) === highBits;

/** Parses the value at `from` into `numbers[at]`. @returns the end of the value, or −1 where it is not a number */
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
