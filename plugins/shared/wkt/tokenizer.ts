import { GeometryParseError } from "../geometry-parse-error.js";
import { parseNumber } from "../text/parse-number.js";
import { parsePlainDecimal } from "../text/plain-decimal.js";

export const openParenthesis = 40;
export const closeParenthesis = 41;
export const comma = 44;

const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);
export const isLetter = (byte: number) => (byte | 32) >= 97 && (byte | 32) <= 122;
const isNan = (bytes: Uint8Array, from: number, to: number) =>
  to - from === 3 && (bytes[from]! | 32) === 110 && (bytes[from + 1]! | 32) === 97 && (bytes[from + 2]! | 32) === 110;

/** Reads signs, words and numbers of WKT from bytes. */
export abstract class WktTokenizer {
  protected bytes: Uint8Array = new Uint8Array();
  protected at = 0;
  protected end = 0;

  protected error(reason: string): GeometryParseError {
    return new GeometryParseError(reason, this.at);
  }

  protected skipSpace(): void {
    while (this.at < this.end && isSpace(this.bytes[this.at]!)) this.at++;
  }

  protected peek(): number {
    this.skipSpace();
    return this.at < this.end ? this.bytes[this.at]! : -1;
  }

  protected expect(byte: number): void {
    if (this.peek() !== byte) throw this.error(`"${String.fromCharCode(byte)}" is missing`);
    this.at++;
  }

  /** Reads the sign after a list item. @returns whether another item follows */
  protected more(): boolean {
    const byte = this.peek();
    if (byte !== comma && byte !== closeParenthesis) throw this.error('"," or ")" is missing');
    this.at++;
    return byte === comma;
  }

  protected word(): string {
    this.skipSpace();
    const from = this.at;
    while (this.at < this.end && isLetter(this.bytes[this.at]!)) this.at++;
    let text = "";
    for (let i = from; i < this.at; i++) text += String.fromCharCode(this.bytes[i]! & 0xdf);
    return text;
  }

  /** Result of `plain`; an array, since returning doubles would allocate. */
  protected readonly found = new Float64Array(3);

  /**
   * Parses a plain decimal at `start` that other text follows. @returns its end, or −1 if `parseNumber` must read it
   */
  protected plain(start: number, slot: number): number {
    const next = parsePlainDecimal(this.bytes, start, this.end, this.found, slot);
    return next > 0 && next < this.end ? next : -1;
  }

  protected number(mayLack: boolean): number {
    this.skipSpace();
    const { bytes, end } = this;
    const from = this.at;
    let i = from;
    while (i < end) {
      const byte = bytes[i]!;
      if (byte === comma || byte === closeParenthesis || byte === openParenthesis || isSpace(byte)) break;
      i++;
    }
    const value = parseNumber(bytes, from, i);
    if (!Number.isFinite(value) && !(mayLack && isNan(bytes, from, i))) throw this.error("a number is missing");
    this.at = i;
    return value;
  }
}
