import { plainShapeType, ShapeType } from "./shape-types.js";

/** Bytes before the offsets of the parts: type, box, number of parts, number of points. */
export const partsOffset = 44;
const multipointOffset = 40;

/**
 * The layout of one shape, validated against the available bytes (Technical Description, "Main File Record Contents").
 */
export class ShapeLayout {
  plain = 0;
  parts = 0;
  points = 0;
  /** Offsets of the first position's x and y, z and m; 0 for a dimension that the shape lacks. */
  xyAt = 0;
  zAt = 0;
  mAt = 0;
  type: number = ShapeType.null;
  /** Bytes of the content that the shape uses. */
  used = 0;

  constructor(private readonly view: DataView) {}

  /** Parses the content `from` … `to`; returns why it is damaged, or null. */
  measure(from: number, to: number): string | null {
    const { view } = this;
    const size = to - from;
    if (size < 4) return `its content of ${size} bytes has no shape type`;
    const type = view.getInt32(from, true);
    const plain = plainShapeType(type);
    this.plain = plain;
    this.parts = 0;
    this.points = 0;
    this.zAt = 0;
    this.mAt = 0;
    this.type = type;
    this.used = 4;
    if (plain === ShapeType.null) return null;
    if (plain < 0) return `${type} is not a shape type`;
    const hasZ = (type > 10 && type < 20) || plain === ShapeType.multipatch;
    const hasM = hasZ || type > 20;
    if (plain === ShapeType.point) {
      const need = hasZ ? 28 : 20;
      if (size < need) return `a point takes ${need} bytes, its content has ${size}`;
      this.points = 1;
      this.xyAt = from + 4;
      if (hasZ) this.zAt = from + 20;
      if (hasM && size >= need + 8) this.mAt = from + need;
      this.used = this.mAt > 0 ? need + 8 : need;
      return null;
    }
    return this.measureMany(from, size, hasZ, hasM);
  }

  private measureMany(from: number, size: number, hasZ: boolean, hasM: boolean): string | null {
    const { view } = this;
    const many = this.plain !== ShapeType.multipoint;
    const head = many ? partsOffset : multipointOffset;
    if (size < head) return `its content of ${size} bytes ends before its counts`;
    const parts = many ? view.getInt32(from + 36, true) : 0;
    const points = view.getInt32(from + head - 4, true);
    const perPart = this.plain === ShapeType.multipatch ? 8 : 4;
    const xyEnd = head + parts * perPart + points * 16;
    const zEnd = hasZ ? xyEnd + 16 + points * 8 : xyEnd;
    if (parts < 0 || points < 0 || xyEnd > size) {
      return `${many ? `${parts} parts and ` : ""}${points} points do not fit into its content of ${size} bytes`;
    }
    if (zEnd > size && points > 0)
      return `the heights of ${points} points do not fit into its content of ${size} bytes`;
    this.parts = parts;
    this.points = points;
    this.xyAt = from + xyEnd - points * 16;
    if (hasZ) this.zAt = from + xyEnd + 16;
    // Measures are optional in every shape of many points.
    if (hasM && zEnd + 16 + points * 8 <= size) this.mAt = from + zEnd + 16;
    this.used = this.mAt > 0 ? zEnd + 16 + points * 8 : zEnd;
    return many ? this.checkParts(from + partsOffset, parts, points) : null;
  }

  private checkParts(at: number, parts: number, points: number): string | null {
    let before = 0;
    for (let p = 0; p < parts; p++) {
      const offset = this.view.getInt32(at + 4 * p, true);
      if (offset < before || offset > points) {
        return `part ${p + 1} of ${parts} starts at point ${offset} of ${points}, after one that starts at ${before}`;
      }
      before = offset;
    }
    return null;
  }
}
