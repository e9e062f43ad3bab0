import { parseNumber } from "../../shared/text/parse-number.js";
import { parsePlainDecimal } from "../../shared/text/plain-decimal.js";
import { isSpace } from "../../shared/xml/bytes.js";

/** The classes of bytes in a list of coordinates. */
const ByteClass = { other: 0, number: 1, space: 2, comma: 3, separator: 4 } as const;
const byteClasses = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[0-9+\-.eE]/.test(character)) return ByteClass.number;
  if (/[ \t\n\r\f\v]/.test(character)) return ByteClass.space;
  if (character === ",") return ByteClass.comma;
  return /[;|/]/.test(character) ? ByteClass.separator : ByteClass.other;
});

const comma = 0x2c;

/** The positions of one feature. */
export class PositionBuffer {
  /** Longitudes and latitudes, interleaved, in degrees. */
  xy = new Float64Array(256);
  /** Heights in metres, NaN for none; valid only if `hasZ`. */
  z = new Float64Array(128);
  hasZ = false;
  count = 0;

  clear(): void {
    this.count = 0;
    this.hasZ = false;
  }

  /** Ensures capacity for one more position. */
  reserve(): void {
    if (this.count < this.z.length) return;
    const grown = new Float64Array(this.xy.length * 2);
    grown.set(this.xy);
    this.xy = grown;
    const heights = new Float64Array(this.z.length * 2);
    heights.set(this.z);
    this.z = heights;
  }

  add(x: number, y: number, z: number): void {
    this.reserve();
    const { xy, count } = this;
    xy[2 * count] = x;
    xy[2 * count + 1] = y;
    if (this.hasZ) this.z[count] = z;
    else if (!Number.isNaN(z)) {
      this.beginHeights();
      this.z[count] = z;
    }
    this.count++;
  }

  /** Prepares for the height of the next position; positions before it without one have NaN. */
  beginHeights(): void {
    if (this.hasZ) return;
    this.z.fill(Number.NaN, 0, this.count);
    this.hasZ = true;
  }

  /** Returns the height of position `k`, NaN for none. */
  heightOf(k: number): number {
    return this.hasZ ? this.z[k]! : Number.NaN;
  }
}

/** Counts of repairs in coordinates. */
export interface CoordinateRepairs {
  /** Positions of more than three numbers, of which the first three were used. */
  surplus: number;
  /** Positions with wrong separators. */
  separatorRepairs: number;
}

/** Longer chains of numbers with commas have no meaning. */
const maxChainLength = 3 << 16;

/**
 * Parses the text of `<coordinates>`: positions of longitude, latitude and optionally height, with commas between the
 * numbers and white space between the positions (OGC 07-147r2, 10.9.3). It also accepts common errors: blanks after
 * commas, a comma at the end, commas or semicolons between positions.
 */
export class CoordinateParser {
  private chain = new Float64Array(64);
  /** The numbers of the chain whose comma is followed by a blank. */
  private gaps: number[] = [];
  private length = 0;
  private from = 0;

  constructor(
    private readonly positions: PositionBuffer,
    private readonly repairs: CoordinateRepairs,
  ) {}

  /**
   * Adds the positions in `bytes[from … to]`.
   * @returns the problem, in words; null for none
   */
  parse(bytes: Uint8Array, from: number, to: number): string | null {
    let i = from;
    let lonely = 0;
    const first = this.positions.count;
    this.from = from;
    for (;;) {
      i = this.skip(bytes, i, to);
      if (i >= to) break;
      const end = this.plain(bytes, i, to);
      if (end > 0) {
        i = end;
        continue;
      }
      i = this.readChain(bytes, i, to);
      if (i < 0) return this.problem(bytes, -1 - i, to);
      const { length } = this;
      if (length === 2 || length === 3) {
        // With one blank after two commas, "1, 2,3" may have lost its latitude, and "2,3" may be the next position.
        if (this.gaps.length > 0 && this.gaps.length < length - 1) this.repairs.separatorRepairs++;
        this.positions.add(this.chain[0]!, this.chain[1]!, length === 3 ? this.chain[2]! : Number.NaN);
      } else if (length === 1) {
        lonely++;
        if (lonely > 3) return "numbers without commas between longitude and latitude";
        // Decided at the end: the whole text may be one position with blanks in place of commas.
        this.lonely[lonely - 1] = this.chain[0]!;
      } else if (!this.divideChain()) return `${length} consecutive numbers that cannot be divided into positions`;
    }
    return lonely === 0 ? null : this.finishSingleNumbers(lonely, this.positions.count - first);
  }

  /**
   * Adds the positions in `bytes[from … to]`, which are raw XML: plain positions contain neither references nor characters
   * that XML does not allow.
   * @returns false, with none added, where `parse` is needed
   */
  parsePlain(bytes: Uint8Array, from: number, to: number): boolean {
    const { positions } = this;
    const first = positions.count;
    let i = from;
    while (i < to && isSpace(bytes[i]!)) i++;
    while (i < to) {
      i = this.plain(bytes, i, to);
      if (i > 0) continue;
      positions.count = first;
      return false;
    }
    return true;
  }

  /**
   * Adds a position in the form of the standard, with plain decimals.
   * @returns its end; 0, with nothing added, where `parse` is needed
   */
  private plain(bytes: Uint8Array, from: number, to: number): number {
    const { positions } = this;
    positions.reserve();
    const { xy, count } = positions;
    let i = parsePlainDecimal(bytes, from, to, xy, 2 * count);
    if (i === 0 || bytes[i] !== comma) return 0;
    i = parsePlainDecimal(bytes, i + 1, to, xy, 2 * count + 1);
    if (i === 0) return 0;
    if (i < to && bytes[i] === comma) {
      positions.beginHeights();
      i = parsePlainDecimal(bytes, i + 1, to, positions.z, count);
      if (i === 0) return 0;
    } else if (positions.hasZ) positions.z[count] = Number.NaN;
    // A comma after blanks would continue the same position.
    const end = i;
    while (i < to && isSpace(bytes[i]!)) i++;
    if (i < to && (i === end || byteClasses[bytes[i]!] !== ByteClass.number)) return 0;
    positions.count++;
    return i;
  }

  private readonly lonely = new Float64Array(3);

  /** Ends a text of numbers without commas: they are one position if nothing else precedes. */
  private finishSingleNumbers(count: number, others: number): string | null {
    if (count === 1 || others > 0) return "a position of one number";
    this.repairs.separatorRepairs++;
    this.positions.add(this.lonely[0]!, this.lonely[1]!, count === 3 ? this.lonely[2]! : Number.NaN);
    return null;
  }

  private skip(bytes: Uint8Array, from: number, to: number): number {
    let i = from;
    for (; i < to; i++) {
      const sort = byteClasses[bytes[i]!]!;
      if (sort === ByteClass.space) continue;
      if (sort === ByteClass.comma || sort === ByteClass.separator) this.repairs.separatorRepairs++;
      // A no-break space, as word processors insert it.
      else if (bytes[i] === 0xc2 && bytes[i + 1] === 0xa0) i++;
      else break;
    }
    return i;
  }

  /** Parses numbers with commas between them. @returns their end, or −1 − the position of what is not a number */
  private readChain(bytes: Uint8Array, from: number, to: number): number {
    let i = from;
    let isParted = false;
    this.length = 0;
    if (this.gaps.length > 0) this.gaps = [];
    for (;;) {
      const start = i;
      while (i < to && byteClasses[bytes[i]!] === ByteClass.number) i++;
      const value = i === start ? Number.NaN : parseNumber(bytes, start, i);
      if (!Number.isFinite(value)) return -1 - start;
      if (this.length === this.chain.length && !this.grow()) return -1 - start;
      this.chain[this.length++] = value;
      let next = i;
      while (next < to && byteClasses[bytes[next]!] === ByteClass.space) next++;
      if (next >= to || bytes[next] !== 44) return i;
      // The number after such a comma may be of another position, whose longitude is missing.
      if (next > i && !isParted) {
        isParted = true;
        this.repairs.separatorRepairs++;
      }
      next++;
      const afterComma = next;
      while (next < to && byteClasses[bytes[next]!] === ByteClass.space) next++;
      // A comma at the end is ignored.
      if (next >= to || byteClasses[bytes[next]!] !== ByteClass.number)
        return this.endAtComma(bytes, afterComma, next, to);
      if (next > afterComma) this.gaps.push(this.length);
      i = next;
    }
  }

  private endAtComma(bytes: Uint8Array, afterComma: number, next: number, to: number): number {
    const isBreak = next >= to || bytes[next] === 0xc2 || byteClasses[bytes[next]!] === ByteClass.separator;
    // A second comma may separate positions, but cannot replace a latitude.
    if (!isBreak && !(bytes[next] === 44 && this.length > 1)) return -1 - next;
    this.repairs.separatorRepairs++;
    return afterComma;
  }

  private grow(): boolean {
    if (this.chain.length >= maxChainLength) return false;
    const grown = new Float64Array(this.chain.length * 2);
    grown.set(this.chain);
    this.chain = grown;
    return true;
  }

  /** Divides four or more numbers into positions: by the blanks between them, else by threes or twos. */
  private divideChain(): boolean {
    const { length, gaps } = this;
    const ends = [...gaps, length];
    if (gaps.length > 0 && ends.every((end, n) => end - (ends[n - 1] ?? 0) === 2 || end - (ends[n - 1] ?? 0) === 3)) {
      this.repairs.separatorRepairs++;
      for (const [n, end] of ends.entries()) this.addPart(ends[n - 1] ?? 0, end);
      return true;
    }
    if (gaps.length > 0 && gaps.length !== length - 1) return false;
    if (length < 6) {
      this.repairs.surplus++;
      this.addPart(0, 3);
      return true;
    }
    const size = length % 3 === 0 ? 3 : 2;
    // Six numbers may be two positions or three; with heights of one size, and longitudes that fit, they are two.
    if (length % size !== 0 || (length % 6 === 0 && !this.fits(3))) return false;
    this.repairs.separatorRepairs++;
    for (let n = 0; n < length; n += size) this.addPart(n, n + size);
    return true;
  }

  /** Whether each position has a valid longitude and latitude under this division. */
  private fits(size: number): boolean {
    for (let n = 0; n < this.length; n += size) {
      if (Math.abs(this.chain[n]!) > 360 || Math.abs(this.chain[n + 1]!) > 90) return false;
    }
    return true;
  }

  private addPart(from: number, to: number): void {
    const { chain } = this;
    this.positions.add(chain[from]!, chain[from + 1]!, to - from === 3 ? chain[from + 2]! : Number.NaN);
  }

  private problem(bytes: Uint8Array, at: number, to: number): string {
    let end = at;
    while (end < to && end < at + 24 && byteClasses[bytes[end]!] !== ByteClass.space && bytes[end] !== 44) end++;
    const text = Buffer.from(bytes.subarray(at, end)).toString("utf8");
    return `"${text}" in its coordinates is not a number (position ${this.positionOf(bytes, at)})`;
  }

  /** Returns the number of the position that contains a byte, from 1. */
  private positionOf(bytes: Uint8Array, at: number): number {
    const before = Buffer.from(bytes.subarray(this.from, at)).toString("latin1").trimStart();
    return before.split(/\s+/).length;
  }
}

/** Adds the position of a `<gx:coord>`, numbers with blanks between them. @returns false for an empty one, or the problem in words */
export function parseTrackPosition(
  bytes: Uint8Array,
  from: number,
  to: number,
  positions: PositionBuffer,
): boolean | string {
  const numbers: number[] = [];
  let i = from;
  for (;;) {
    while (i < to && byteClasses[bytes[i]!] !== ByteClass.number && byteClasses[bytes[i]!] !== ByteClass.other) i++;
    if (i >= to) break;
    const start = i;
    while (i < to && (byteClasses[bytes[i]!] === ByteClass.number || byteClasses[bytes[i]!] === ByteClass.other)) i++;
    numbers.push(parseNumber(bytes, start, i));
  }
  if (numbers.length === 0) return false;
  if (numbers.length < 2 || numbers.some((number) => !Number.isFinite(number))) {
    return `"${Buffer.from(bytes.subarray(from, to)).toString("utf8").slice(0, 40)}" is not a position of a track`;
  }
  positions.add(numbers[0]!, numbers[1]!, numbers[2] ?? Number.NaN);
  return true;
}
