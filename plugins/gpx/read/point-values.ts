import { TextBuffer } from "../../shared/text/text-buffer.js";

/** Beyond so many different values of points, the rest of them is left out: a feature would grow without bounds. */
export const maxKeys = 256;

/** The values of one name for the points of a line, as JSON that grows. */
class ValueList {
  readonly out = new TextBuffer(1024);
  /** The segment and the point in it that come next. */
  segment = 0;
  point = 0;
  /** Where the values of the segments before this one end. */
  mark = 0;
  /** Where the value of the last point begins, and whether it is an array of several. */
  from = 0;
  isArray = false;

  constructor(
    readonly name: string,
    /** The segment that had the first value. */
    readonly born: number,
  ) {}
}

const comma = 44;
const quote = 34;
const opening = 91;
const closing = 93;
const jsonNumber = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?(e[+-]?\d{1,2})?$/i;
const jsonLikeText = /^(true|false|null|-?\d)|^["[{]/;

/**
 * Values of the points of one line or of several, one array a name, as long as there are points: what
 * `coordinateProperties` is made of (the convention of @tmcw/togeojson). Nested by segments where there are several.
 */
export class PointValues {
  private lists = new Map<string, ValueList>();
  /** Points of the segments so far. */
  private lengths: number[] = [0];
  /** Values left out. */
  surplus = 0;

  /** Begins with another line. */
  clear(): void {
    if (this.lengths.length > 1 || this.lengths[0] !== 0) this.lengths = [0];
    if (this.lists.size > 0) this.lists = new Map();
  }

  get isEmpty(): boolean {
    return this.lists.size === 0;
  }

  /** The next point, its values added, is counted. */
  endPoint(): void {
    this.lengths[this.lengths.length - 1]!++;
  }

  /** The points from now on are another segment's, unless the segment available has none. */
  segment(): void {
    if (this.lengths.at(-1)! > 0) this.lengths.push(0);
  }

  /** Forgets the points of the segment available. */
  dropSegment(): void {
    const segment = this.lengths.length - 1;
    this.lengths[segment] = 0;
    for (const [name, list] of this.lists) {
      if (list.segment !== segment) continue;
      if (list.born === segment) this.lists.delete(name);
      else {
        list.out.length = list.mark;
        list.segment--;
        list.point = this.lengths[list.segment]!;
      }
    }
  }

  /** Where the value of `name` for this point is to be written; null where it has one or there is no room. */
  private at(name: string): TextBuffer | null {
    const list = this.listOf(name);
    return list && !this.isTold(list) ? this.begin(list) : null;
  }

  private listOf(name: string): ValueList | null {
    let list = this.lists.get(name);
    if (!list) {
      if (this.lists.size === maxKeys) {
        this.surplus++;
        return null;
      }
      list = new ValueList(name, this.lengths.length - 1);
      this.lists.set(name, list);
    }
    return list;
  }

  /** Whether this point has a value of the list. */
  private isTold(list: ValueList): boolean {
    const segment = this.lengths.length - 1;
    return list.segment === segment && list.point > this.lengths[segment]!;
  }

  /** Begins the value of this point. */
  private begin(list: ValueList): TextBuffer {
    const segment = this.lengths.length - 1;
    this.pad(list, segment, this.lengths[segment]!);
    if (list.point > 0) list.out.byte(comma);
    list.point++;
    list.from = list.out.length;
    list.isArray = false;
    return list.out;
  }

  /** Begins one more value of this point, as a member of an array. */
  private beginMember(list: ValueList): TextBuffer {
    const { out } = list;
    if (!this.isTold(list)) this.begin(list).byte(opening);
    else if (list.isArray) out.length--;
    else out.insert(list.from, opening);
    if (out.length > list.from + 1) out.byte(comma);
    list.isArray = true;
    return out;
  }

  private pad(list: ValueList, segment: number, point: number): void {
    const { out } = list;
    while (list.segment < segment) {
      this.padSegment(list, this.lengths[list.segment]!);
      list.mark = out.length;
      out.ascii("],[");
      list.segment++;
      list.point = 0;
    }
    this.padSegment(list, point);
  }

  private padSegment(list: ValueList, length: number): void {
    for (; list.point < length; list.point++) list.out.ascii(list.point > 0 ? ",null" : "null");
  }

  /** Adds a text; false where the point has a value of this name already, or there are too many names. */
  text(name: string, bytes: Buffer, from: number, to: number): boolean {
    const out = this.at(name);
    if (out) writeJsonString(out, bytes, from, to);
    return out !== null;
  }

  /**
   * Adds a number where the text is one in JSON's form and as exact as a double, else the text. Several values of a
   * point are an array. @returns false where there are too many names
   */
  value(name: string, bytes: Buffer, from: number, to: number): boolean {
    const list = this.listOf(name);
    if (!list) return false;
    if (this.isTold(list)) {
      writeJsonValue(this.beginMember(list), bytes, from, to);
      list.out.byte(closing);
    } else writeJsonValue(this.begin(list), bytes, from, to);
    return true;
  }

  /** The same of a value that a point has once; false where it has one already. */
  number(name: string, bytes: Buffer, from: number, to: number): boolean {
    const out = this.at(name);
    if (out) writeJsonValue(out, bytes, from, to);
    return out !== null;
  }

  /** Adds a value to the array that the point has; false where there are too many names. */
  member(name: string, value: unknown): boolean {
    const list = this.listOf(name);
    if (!list) return false;
    const out = this.beginMember(list);
    out.utf8(JSON.stringify(value));
    out.byte(closing);
    return true;
  }

  /** Adds what our writer wrote: JSON where the text is some, else the text. */
  own(name: string, bytes: Buffer, from: number, to: number): boolean {
    const text = bytes.toString("utf8", from, to);
    const out = this.at(name);
    if (!out) return false;
    const value = jsonLikeText.test(text) ? parseJson(text) : undefined;
    out.utf8(JSON.stringify(value === undefined ? text : value));
    return true;
  }

  /** Adds a value. */
  json(name: string, value: unknown): boolean {
    const out = this.at(name);
    out?.utf8(JSON.stringify(value));
    return out !== null;
  }

  /** Writes the object of all arrays; `nested` where they have one for each segment. */
  write(to: TextBuffer, nested: boolean): void {
    if (this.lengths.length > 1 && this.lengths.at(-1) === 0) this.lengths.pop();
    const segment = this.lengths.length - 1;
    const point = this.lengths[segment]!;
    to.byte(123);
    let first = true;
    for (const list of this.lists.values()) {
      this.pad(list, segment, point);
      if (!first) to.byte(comma);
      first = false;
      to.utf8(JSON.stringify(list.name));
      to.byte(58);
      to.byte(opening);
      if (nested) to.byte(opening);
      const bytes = list.out.finish();
      to.bytes(bytes, 0, bytes.length);
      if (nested) to.byte(closing);
      to.byte(closing);
    }
    to.byte(125);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function writeJsonValue(out: TextBuffer, bytes: Buffer, from: number, to: number): void {
  if (isShortNumber(bytes, from, to)) out.bytes(bytes, from, to);
  else writeJsonString(out, bytes, from, to);
}

function isShortNumber(bytes: Buffer, from: number, to: number): boolean {
  const first = bytes[from]!;
  if (to - from > 18 || !((first >= 48 && first <= 57) || first === 45)) return false;
  return jsonNumber.test(bytes.toString("latin1", from, to));
}

/** Writes UTF-8 as a string of JSON. */
export function writeJsonString(out: TextBuffer, bytes: Buffer, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte < 32 || byte === quote || byte === 92) {
      out.utf8(JSON.stringify(bytes.toString("utf8", from, to)));
      return;
    }
  }
  out.byte(quote);
  out.bytes(bytes, from, to);
  out.byte(quote);
}
