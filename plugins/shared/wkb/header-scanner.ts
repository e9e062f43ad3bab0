import { Kind } from "../../../src/model/geometry.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { WkbCursor } from "./cursor.js";

/** Bytes of the shortest geometry: byte order, type and a count. */
export const minGeometryBytes = 9;

/** The kinds of several geometries come behind those of one, in the same order. */
const memberKind = (kind: number): number => kind - Kind.MultiPoint + Kind.Point;

/**
 * Reads headers and counts of WKB, and passes over the positions. A part of the reader, not a reader of its own: what
 * they share would be compiled for one first, and for both when the other comes.
 */
export abstract class WkbHeaderScanner extends WkbCursor {
  /**
   * The kind of the geometry `bytes[from … to]`; null where only decoding tells what it has: collections, curves,
   * heights, measures, and what is damaged.
   */
  flatKind(bytes: Uint8Array, from: number, to: number): number | null {
    this.open(bytes);
    this.at = from;
    this.end = to;
    this.srid = null;
    try {
      const type = this.header();
      return this.passes(type) && this.at === this.end ? type : null;
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      return null;
    }
  }

  /** Passes over what follows a header. @returns false where it is to be decoded */
  private passes(type: number): boolean {
    if (this.hasZ || this.hasM) return false;
    switch (type) {
      case Kind.Point:
        this.need(16);
        this.at += 16;
        return true;
      case Kind.LineString:
        this.passLine();
        return true;
      case Kind.Polygon:
        for (let rings = this.count(4); rings > 0; rings--) this.passLine();
        return true;
      case Kind.MultiPoint:
      case Kind.MultiLineString:
      case Kind.MultiPolygon:
        for (let members = this.count(minGeometryBytes); members > 0; members--) {
          const member = this.header();
          if (member !== memberKind(type) || !this.passes(member)) return false;
        }
        return true;
      default:
        return false;
    }
  }

  private passLine(): void {
    const count = this.count(16);
    this.at += 16 * count;
  }
}
