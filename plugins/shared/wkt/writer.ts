import { type GeometryColumn, Kind, positionRange } from "../../../src/model/geometry.js";
import { dimensionsOf } from "../dimensions.js";
import type { TextBuffer } from "../text/text-buffer.js";
import { closeParenthesis, comma, openParenthesis } from "./tokenizer.js";

const typeNames = [
  "",
  "POINT",
  "LINESTRING",
  "POLYGON",
  "MULTIPOINT",
  "MULTILINESTRING",
  "MULTIPOLYGON",
  "GEOMETRYCOLLECTION",
];

/**
 * Writes geometries as WKT, with `Z`, `M` and `ZM` tags. Missing heights or measures of positions in a geometry that has
 * them become 0: WKT has no NaN (OGC 06-103r4, 7.2.2).
 */
export class WktWriter {
  private z = false;
  private m = false;
  /** Positions whose missing height became 0, over all geometries. */
  missingZ = 0;
  /** Positions whose missing measure became 0. */
  missingM = 0;

  /** `decimals` of x and y; null writes the shortest exact text, as always for z and m. */
  constructor(
    private readonly out: TextBuffer,
    private readonly decimals: number | null,
  ) {}

  /** Writes feature `i`, which must not be null. */
  write(column: GeometryColumn, i: number): void {
    const { z, m } = dimensionsOf(column, i);
    this.z = z;
    this.m = m;
    this.geometry(column, i);
  }

  /** Writes a geometry; members of a collection have its dimensions. */
  private geometry(column: GeometryColumn, i: number): void {
    const { out, z, m } = this;
    const kind = column.kinds[i]!;
    out.ascii(typeNames[kind]!);
    if (z || m) out.ascii(z && m ? " ZM" : z ? " Z" : " M");
    if (kind === Kind.GeometryCollection) {
      this.members(column, i);
      return;
    }
    const from = column.partOffsets[i]!;
    const to = column.partOffsets[i + 1]!;
    const [first, last] = positionRange(column, i);
    if (first === last) {
      out.ascii(" EMPTY");
      return;
    }
    out.byte(32);
    if (kind === Kind.MultiPolygon) {
      for (let p = from; p < to; p++) {
        out.byte(p === from ? openParenthesis : comma);
        this.part(column, p);
      }
      out.byte(closeParenthesis);
    } else if (kind === Kind.Polygon || kind === Kind.MultiLineString) this.part(column, from);
    else this.ring(column, column.ringOffsets[from]!, kind === Kind.MultiPoint);
  }

  private members(column: GeometryColumn, i: number): void {
    const { out } = this;
    const from = column.memberOffsets ? column.memberOffsets[i]! : 0;
    const to = column.memberOffsets ? column.memberOffsets[i + 1]! : 0;
    if (from === to || !column.members) {
      out.ascii(" EMPTY");
      return;
    }
    out.byte(32);
    for (let k = from; k < to; k++) {
      out.byte(k === from ? openParenthesis : comma);
      this.geometry(column.members, k);
    }
    out.byte(closeParenthesis);
  }

  private part(column: GeometryColumn, p: number): void {
    const from = column.ringOffsets[p]!;
    for (let r = from; r < column.ringOffsets[p + 1]!; r++) {
      this.out.byte(r === from ? openParenthesis : comma);
      this.ring(column, r, false);
    }
    this.out.byte(closeParenthesis);
  }

  private ring(column: GeometryColumn, r: number, wrapped: boolean): void {
    const { out } = this;
    const from = column.positionOffsets[r]!;
    const to = column.positionOffsets[r + 1]!;
    if (from === to) {
      out.ascii("EMPTY");
      return;
    }
    for (let k = from; k < to; k++) {
      out.byte(k === from ? openParenthesis : comma);
      if (wrapped) out.byte(openParenthesis);
      this.position(column, k);
      if (wrapped) out.byte(closeParenthesis);
    }
    out.byte(closeParenthesis);
  }

  private position(column: GeometryColumn, k: number): void {
    const { out, decimals } = this;
    const { xy } = column;
    if (decimals === null) {
      out.numberAt(xy, 2 * k);
      out.byte(32);
      out.numberAt(xy, 2 * k + 1);
    } else {
      out.fixedAt(xy, 2 * k, decimals);
      out.byte(32);
      out.fixedAt(xy, 2 * k + 1, decimals);
    }
    if (this.z) {
      out.byte(32);
      const z = column.z ? column.z[k]! : Number.NaN;
      if (Number.isNaN(z)) this.missingZ++;
      out.number(Number.isNaN(z) ? 0 : z);
    }
    if (this.m) {
      out.byte(32);
      const m = column.m ? column.m[k]! : Number.NaN;
      if (Number.isNaN(m)) this.missingM++;
      out.number(Number.isNaN(m) ? 0 : m);
    }
  }
}
