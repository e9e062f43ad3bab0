import type { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import type { CurvePoints } from "../curves.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { closeParenthesis, comma, openParenthesis, WktTokenizer } from "./tokenizer.js";

/**
 * Reads the positions of WKT. Without a dimension tag, the first position of a geometry determines the number of
 * coordinates (6.1.2 requires equal ones); surplus numbers of others are dropped and counted.
 */
export abstract class WktPositionReader extends WktTokenizer {
  /** Rings that were closed, over all texts. */
  closedRings = 0;
  /** Positions with surplus numbers, over all texts. */
  shortened = 0;

  /** Why a position of the last text, which is NaN in the builder, is unreadable; null if all are readable. */
  protected flaw: GeometryParseError | null = null;

  /** Dimensions of the tag; "" without a tag. */
  protected dimensions = "";
  /** Maximum number of coordinates per position, from the tag or the first position. */
  protected most = 2;
  protected isFirst = true;

  protected points(): CurvePoints {
    const points: CurvePoints = [];
    this.expect(openParenthesis);
    do {
      this.numbers();
      points.push(this.x, this.y, this.z, this.m);
    } while (this.more());
    return points;
  }

  protected positions(builder: GeometryBuilder): void {
    this.expect(openParenthesis);
    while (this.nextPosition(builder));
  }

  protected closedPositions(builder: GeometryBuilder): void {
    this.expect(openParenthesis);
    let more = this.nextPosition(builder);
    const { x, y, z, m } = this;
    const isOne = !more;
    while (more) more = this.nextPosition(builder);
    if (isOne || Number.isNaN(x) || (this.x === x && this.y === y)) return;
    builder.addPositionZM(x, y, z, m);
    this.closedRings++;
  }

  /** Reads a position and the sign after it. @returns whether another position follows */
  protected nextPosition(builder: GeometryBuilder): boolean {
    const { bytes, at, found } = this;
    let next = this.plain(bytes[at] === 32 ? at + 1 : at, 0);
    if (next > 0 && bytes[next] === 32) {
      next = this.plain(next + 1, 1);
      let count = 2;
      if (next > 0 && bytes[next] === 32) {
        next = this.plain(next + 1, 2);
        count = 3;
      }
      const byte = next > 0 ? bytes[next]! : 0;
      if ((byte === comma || byte === closeParenthesis) && (count <= this.most || this.isFirst)) {
        this.at = next + 1;
        this.x = found[0]!;
        this.y = found[1]!;
        this.z = Number.NaN;
        this.m = Number.NaN;
        if (this.isFirst && count > this.most) this.most = count;
        this.isFirst = false;
        if (count === 2) builder.addPosition(found[0]!, found[1]!);
        else {
          if (this.dimensions === "M") this.m = found[2]!;
          else this.z = found[2]!;
          builder.addPositionZM(this.x, this.y, this.z, this.m);
        }
        return byte === comma;
      }
    }
    this.position(builder);
    return this.more();
  }

  protected position(builder: GeometryBuilder): void {
    this.skipSpace();
    const { at } = this;
    try {
      this.numbers();
      this.checkEnd();
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      this.skipPosition(error, at);
    }
    if (Number.isNaN(this.z) && Number.isNaN(this.m)) builder.addPosition(this.x, this.y);
    else builder.addPositionZM(this.x, this.y, this.z, this.m);
  }

  /** Fails if another number follows. */
  private checkEnd(): void {
    const next = this.peek();
    if (next !== comma && next !== closeParenthesis) throw this.error('"," or ")" is missing');
  }

  /** Skips an unreadable position up to the next sign. @throws the error if there is none */
  private skipPosition(error: GeometryParseError, from: number): void {
    const { bytes, end } = this;
    let at = from;
    while (at < end && bytes[at] !== comma && bytes[at] !== closeParenthesis && bytes[at] !== openParenthesis) at++;
    if (at === from || at === end || bytes[at] === openParenthesis) throw error;
    this.at = at;
    this.flaw ??= error;
    this.x = this.y = this.z = this.m = Number.NaN;
  }

  protected x = 0;
  protected y = 0;
  protected z = 0;
  protected m = 0;

  protected numbers(): void {
    this.x = this.number(false);
    this.y = this.number(false);
    this.z = Number.NaN;
    this.m = Number.NaN;
    const third = this.peek();
    let count = 2;
    if (third !== comma && third !== closeParenthesis) {
      const value = this.number(true);
      if (this.dimensions === "M") this.m = value;
      else this.z = value;
      count = 3;
      const fourth = this.peek();
      if (fourth !== comma && fourth !== closeParenthesis) {
        this.m = this.number(true);
        count = 4;
      }
    }
    if (this.isFirst) {
      this.most = Math.max(this.most, count);
      this.isFirst = false;
    } else if (count > this.most) this.shorten();
  }

  protected shorten(): void {
    this.shortened++;
    this.m = Number.NaN;
    if (this.most < 3) this.z = Number.NaN;
  }
}
