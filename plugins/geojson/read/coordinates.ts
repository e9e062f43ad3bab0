import { type GeometryBuilder, Kind } from "../../../src/model/index.js";
import { type JsonCursor, maxDepth } from "../../shared/json/cursor.js";
import { parseNumber } from "../../shared/text/parse-number.js";
import { parsePlainDecimal } from "../../shared/text/plain-decimal.js";

/** Nesting depth of positions by kind (RFC 7946, section 3.1); the array of a Point is itself a position. */
const nestingByKind = [0, 1, 2, 3, 2, 3, 4];

function grow<A extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(array: A): A {
  const grown = new (array.constructor as new (length: number) => A)(array.length * 2);
  (grown as Float64Array).set(array as Float64Array);
  return grown;
}

/**
 * Reads the "coordinates" member of one geometry into flat arrays of positions and of the ends of the enclosing arrays.
 * It works before the type is known, and is reused for the next geometry.
 */
export class CoordinateReader {
  private xy = new Float64Array(8192);
  private z = new Float64Array(4096);
  /** Receives the numbers of a position beyond its height. */
  private readonly more = new Float64Array(1);
  /** Whether a position has a height. */
  hasZ = false;
  /** Positions. */
  count = 0;
  /** The nesting level of positions, 0 before the first; the outermost array is level 1. */
  private positionLevel = 0;
  /** The deepest array that is not a position. */
  private deepest = 0;
  /** The end of each array of level 2 (3), counted in arrays of level 3 (4). */
  private ends2 = new Uint32Array(256);
  private length2 = 0;
  private ends3 = new Uint32Array(256);
  private length3 = 0;
  /** Why the value is not coordinates, or null. */
  problem: string | null = null;
  /** Why a position, which became NaN, is unreadable; null if all are readable. */
  flaw: string | null = null;
  /** Positions with more than three numbers. */
  surplus = 0;
  /** Polygon rings closed and empty arrays dropped by the last `write`. */
  closed = 0;
  dropped = 0;

  /** Reads the value at the cursor. Skips JSON that is not coordinates and sets `problem`. */
  read(cursor: JsonCursor): void {
    this.forget();
    const { at } = cursor;
    if (cursor.bytes[at] === 91 && this.nested(cursor)) return;
    this.problem ??= "its coordinates are not an array of numbers";
    cursor.at = at;
    cursor.value();
  }

  /** Drops all positions. */
  forget(): void {
    this.count = this.positionLevel = this.deepest = this.length2 = this.length3 = this.surplus = 0;
    this.hasZ = false;
    this.problem = this.flaw = null;
  }

  /** Returns false for a value that is neither an array nor a number. */
  private nested(cursor: JsonCursor): boolean {
    let level = 0;
    for (;;) {
      level++;
      if (level > maxDepth) return false;
      cursor.at++;
      const byte = cursor.space();
      if (byte === 91) continue;
      if (byte === 93) {
        cursor.at++;
        this.close(level);
      } else if (!this.position(cursor, level)) return false;
      level--;
      for (;;) {
        if (level === 0) return true;
        let separator = cursor.space();
        if (separator === 44) {
          cursor.at++;
          separator = cursor.space();
          if (separator === 91) break;
          if (separator !== 93) return false;
          cursor.surplusCommas++;
        }
        if (separator !== 93) cursor.fail("',' or ']'");
        cursor.at++;
        this.close(level);
        level--;
      }
    }
  }

  private close(level: number): void {
    if (level > this.deepest) this.deepest = level;
    if (level === 2) {
      if (this.length2 === this.ends2.length) this.ends2 = grow(this.ends2);
      this.ends2[this.length2++] = this.positionLevel === 3 ? this.count : this.length3;
    } else if (level === 3) {
      if (this.length3 === this.ends3.length) this.ends3 = grow(this.ends3);
      this.ends3[this.length3++] = this.count;
    }
  }

  /** Reads numbers up to and including the closing bracket. */
  private position(cursor: JsonCursor, level: number): boolean {
    const { count } = this;
    if (2 * count + 2 > this.xy.length) {
      this.xy = grow(this.xy);
      this.z = grow(this.z);
    }
    const { at } = cursor;
    let numbers = this.pair(cursor) ? 2 : this.numbers(cursor);
    if (numbers === 0) {
      cursor.at = at;
      if (!this.pass(cursor)) return false;
      numbers = 2;
    }
    cursor.at++;
    if (numbers < 2) this.spoil("a position has fewer than two numbers");
    if (numbers > 3) this.surplus++;
    if (this.hasZ && numbers < 3) this.z[count] = Number.NaN;
    if (this.positionLevel === 0) this.positionLevel = level;
    else if (this.positionLevel !== level) this.problem ??= "its positions are nested unevenly";
    this.count = count + 1;
    return true;
  }

  /** Marks the current position as unreadable. */
  private spoil(reason: string): void {
    this.flaw ??= reason;
    this.xy[2 * this.count] = this.xy[2 * this.count + 1] = Number.NaN;
  }

  /**
   * Skips a position that contains a value other than numbers, up to its bracket. @returns false if it contains an
   * array or object
   */
  private pass(cursor: JsonCursor): boolean {
    for (;;) {
      const byte = cursor.space();
      if (byte === 93) break;
      if (byte === 91 || byte === 123) return false;
      cursor.value();
      const separator = cursor.space();
      if (separator === 44) cursor.at++;
      else if (separator !== 93) cursor.fail("',' or ']'");
    }
    this.spoil("its coordinates are not an array of numbers");
    return true;
  }

  /**
   * Reads two plain decimals separated by a comma, up to the bracket: `-71.06,42.36]`. Returns false for any other
   * text.
   */
  private pair(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    const { xy, count } = this;
    const comma = parsePlainDecimal(bytes, cursor.at, end, xy, 2 * count);
    if (comma === 0 || bytes[comma] !== 44) return false;
    const bracket = parsePlainDecimal(bytes, comma + 1, end, xy, 2 * count + 1);
    if (bracket === 0 || bytes[bracket] !== 93) return false;
    cursor.at = bracket;
    return true;
  }

  /** Reads and counts numbers up to the bracket; returns 0 for any other value. */
  private numbers(cursor: JsonCursor): number {
    const { bytes } = cursor;
    const { count } = this;
    let numbers = 0;
    let beyond = false;
    for (;;) {
      const first = bytes[cursor.at]!;
      if (!((first >= 48 && first <= 57) || first === 45)) return 0;
      const into = numbers < 2 ? this.xy : numbers === 2 ? this.z : this.more;
      const slot = numbers < 2 ? 2 * count + numbers : numbers === 2 ? count : 0;
      this.number(cursor, into, slot);
      if (numbers === 2 && !this.hasZ) {
        this.z.fill(Number.NaN, 0, count);
        this.hasZ = true;
      }
      numbers++;
      const value = into[slot]!;
      if (!(value - value === 0)) beyond = true;
      let separator = bytes[cursor.at]!;
      if (separator !== 44 && separator !== 93) separator = cursor.space();
      if (separator === 93) break;
      if (separator !== 44) cursor.fail("',' or ']'");
      cursor.at++;
      if (bytes[cursor.at]! <= 32) cursor.space();
      if (bytes[cursor.at] === 93) {
        cursor.surplusCommas++;
        break;
      }
    }
    if (beyond) this.spoil("a coordinate is beyond the range of numbers");
    return numbers;
  }

  /** Stores the number at the cursor; `parseNumber` handles all but plain decimals. */
  private number(cursor: JsonCursor, into: Float64Array, slot: number): void {
    const { bytes, at } = cursor;
    const next = parsePlainDecimal(bytes, at, cursor.end, into, slot);
    if (next === 0 || (bytes[next]! | 32) === 101) into[slot] = this.odd(cursor);
    else cursor.at = next;
  }

  private odd(cursor: JsonCursor): number {
    const { at } = cursor;
    if (cursor.bytes[at] === 45 && cursor.bytes[at + 1] === 73) {
      cursor.value();
      return Number.NaN;
    }
    cursor.number();
    return parseNumber(cursor.bytes, at, cursor.at);
  }

  /** Whether the coordinates are a single position. */
  get isPosition(): boolean {
    return this.problem === null && this.flaw === null && this.count === 1 && this.positionLevel === 1;
  }

  /** Extends a box (minimum x, minimum y, maximum x, maximum y) by the first position. */
  widen(box: [number, number, number, number]): void {
    const x = this.xy[0]!;
    const y = this.xy[1]!;
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x > box[2]) box[2] = x;
    if (y > box[3]) box[3] = y;
  }

  /**
   * Writes the coordinates as a geometry of this kind, including unreadable positions. Returns the reason if they do
   * not fit the kind; the geometry in the builder is then incomplete.
   */
  write(builder: GeometryBuilder, kind: number): string | null {
    this.closed = this.dropped = 0;
    if (this.problem) return this.problem;
    const level = nestingByKind[kind]!;
    if (this.positionLevel !== 0 && this.positionLevel !== level) {
      return `its coordinates are nested ${this.positionLevel} deep where its type needs ${level}`;
    }
    if (this.deepest > level || (this.deepest === level && level > 1)) return "a position has fewer than two numbers";
    if (level === 1) return this.single(builder, kind);
    builder.begin(kind);
    if (level === 2) {
      if (this.count > 0) {
        builder.beginPart();
        this.ring(builder, 0, this.count, false);
      }
      return null;
    }
    if (level === 3) return this.part(builder, 0, this.length2, this.ends2, kind === Kind.Polygon);
    for (let p = 0; p < this.length2; p++) {
      const from = p === 0 ? 0 : this.ends2[p - 1]!;
      if (from === this.ends2[p]) this.dropped++;
      const problem = this.part(builder, from, this.ends2[p]!, this.ends3, true);
      if (problem) return problem;
    }
    return null;
  }

  private single(builder: GeometryBuilder, kind: number): string | null {
    builder.begin(kind);
    if (this.count === 0) return null;
    builder.beginPart();
    this.ring(builder, 0, 1, false);
    return null;
  }

  /** Writes the rings `from … to`. Drops empty rings, and a part of only empty rings. */
  private part(builder: GeometryBuilder, from: number, to: number, ends: Uint32Array, polygon: boolean): string | null {
    let opened = false;
    for (let r = from; r < to; r++) {
      const start = r === 0 ? 0 : ends[r - 1]!;
      const end = ends[r]!;
      if (start === end) {
        this.dropped++;
        continue;
      }
      if (polygon && !opened && r > from) return "its exterior ring is empty but it has holes";
      if (!opened) builder.beginPart();
      opened = true;
      this.ring(builder, start, end, polygon);
    }
    return null;
  }

  private ring(builder: GeometryBuilder, from: number, to: number, closed: boolean): void {
    const { xy, z, hasZ } = this;
    builder.beginRing();
    if (hasZ) for (let k = from; k < to; k++) builder.addPositionZM(xy[2 * k]!, xy[2 * k + 1]!, z[k]!, Number.NaN);
    else for (let k = from; k < to; k++) builder.addPosition(xy[2 * k]!, xy[2 * k + 1]!);
    if (
      !closed ||
      Number.isNaN(xy[2 * from]) ||
      (xy[2 * from] === xy[2 * to - 2] && xy[2 * from + 1] === xy[2 * to - 1])
    )
      return;
    this.closed++;
    if (hasZ) builder.addPositionZM(xy[2 * from]!, xy[2 * from + 1]!, z[from]!, Number.NaN);
    else builder.addPosition(xy[2 * from]!, xy[2 * from + 1]!);
  }
}
