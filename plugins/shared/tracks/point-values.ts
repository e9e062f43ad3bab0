import { writeJsonString } from "../text/json-string.js";
import { TextBuffer } from "../text/text-buffer.js";

/** The maximum number of names of point values; values with other names are left out, to limit the size of a feature. */
export const maxKeys = 256;

/** The values of one name for the points of a line, as growing JSON. */
class ValueList {
  readonly out = new TextBuffer(1024);
  /** The segment, and the point in it, of the next value. */
  segment = 0;
  point = 0;
  /** The end of the values of earlier segments. */
  mark = 0;
  /** The start of the last point's value, and whether that is an array of several. */
  from = 0;
  isArray = false;

  constructor(
    readonly name: string,
    /** The segment of the first value. */
    readonly firstSegment: number,
  ) {}
}

const comma = 44;
const opening = 91;
const closing = 93;
const jsonNumber = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?(e[+-]?\d{1,2})?$/i;
const jsonLikeText = /^(true|false|null|-?\d)|^["[{]/;

/**
 * Collects the values of the points of one or several lines for `coordinateProperties` (the convention of @tmcw/togeojson):
 * for each name an array with a value for each point, nested by segments where there are several.
 */
export class PointValues {
  private lists = new Map<string, ValueList>();
  /** The number of points of each segment. */
  private lengths: number[] = [0];
  /** The number of values left out. */
  surplus = 0;

  /** Begins another line. */
  clear(): void {
    if (this.lengths.length > 1 || this.lengths[0] !== 0) this.lengths = [0];
    if (this.lists.size > 0) this.lists = new Map();
  }

  get isEmpty(): boolean {
    return this.lists.size === 0;
  }

  /** Ends a point, after its values. */
  endPoint(): void {
    this.lengths[this.lengths.length - 1]!++;
  }

  /** Begins a segment, unless the current one has no points. */
  segment(): void {
    if (this.lengths.at(-1)! > 0) this.lengths.push(0);
  }

  /** Removes the points of the current segment. */
  dropSegment(): void {
    const segment = this.lengths.length - 1;
    this.lengths[segment] = 0;
    for (const [name, list] of this.lists) {
      if (list.segment !== segment) continue;
      if (list.firstSegment === segment) this.lists.delete(name);
      else {
        list.out.length = list.mark;
        list.segment--;
        list.point = this.lengths[list.segment]!;
      }
    }
  }

  /** Returns the buffer for this point's value of `name`; null where it has one, or where there are too many names. */
  private at(name: string): TextBuffer | null {
    const list = this.listOf(name);
    return list && !this.hasValue(list) ? this.begin(list) : null;
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
  private hasValue(list: ValueList): boolean {
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
    if (!this.hasValue(list)) this.begin(list).byte(opening);
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

  /** Adds a text. @returns false where the point has a value of this name, or where there are too many names */
  text(name: string, bytes: Buffer, from: number, to: number): boolean {
    const out = this.at(name);
    if (out) writeJsonString(out, bytes, from, to);
    return out !== null;
  }

  /**
   * Adds a number, where the text is one in JSON that a double holds exactly, else the text. Several values of a point
   * become an array. @returns false where there are too many names
   */
  value(name: string, bytes: Buffer, from: number, to: number): boolean {
    const list = this.listOf(name);
    if (!list) return false;
    if (this.hasValue(list)) {
      writeJsonValue(this.beginMember(list), bytes, from, to);
      list.out.byte(closing);
    } else writeJsonValue(this.begin(list), bytes, from, to);
    return true;
  }

  /** Adds a number or text, as `value`, that a point has once. @returns false where it has one already */
  number(name: string, bytes: Buffer, from: number, to: number): boolean {
    const out = this.at(name);
    if (out) writeJsonValue(out, bytes, from, to);
    return out !== null;
  }

  /** Adds a member to the point's array. @returns false where there are too many names */
  member(name: string, value: unknown): boolean {
    const list = this.listOf(name);
    if (!list) return false;
    const out = this.beginMember(list);
    out.utf8(JSON.stringify(value));
    out.byte(closing);
    return true;
  }

  /** Adds a value that geoferry wrote: JSON, or a text. */
  own(name: string, bytes: Buffer, from: number, to: number): boolean {
    const text = bytes.toString("utf8", from, to);
    const out = this.at(name);
    if (!out) return false;
    const value = jsonLikeText.test(text) ? parseJson(text) : undefined;
    out.utf8(JSON.stringify(value === undefined ? text : value));
    return true;
  }

  /** Adds a value as JSON. */
  json(name: string, value: unknown): boolean {
    const out = this.at(name);
    out?.utf8(JSON.stringify(value));
    return out !== null;
  }

  /** Writes the object with all arrays. @param nested whether each has one array per segment */
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
