import { Kind } from "../../../src/model/geometry.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { WkbCursor } from "./cursor.js";

/** Size of the shortest geometry: byte order, type and a count. */
export const minGeometryBytes = 9;

/** Multi kinds follow the single kinds in the same order. */
const memberKind = (kind: number): number => kind - Kind.MultiPoint + Kind.Point;

/**
 * Reads headers and counts of WKB and skips positions. A base class of the reader rather than a separate class: V8 would
 * otherwise recompile the shared code for both.
 */
export abstract class WkbHeaderScanner extends WkbCursor {
  /**
   * The kind of the geometry `bytes[from … to]`; null if it must be decoded: collections, curves, heights, measures and
   * damaged blobs.
   */
  flatKind(bytes: Uint8Array, from: number, to: number): number | null {
    this.open(bytes);
    this.at = from;
    this.end = to;
    this.srid = null;
    try {
      const type = this.header();
      return this.skipContent(type) && this.at === this.end ? type : null;
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      return null;
    }
  }

  /** Skips the content after a header. @returns false if it must be decoded */
  private skipContent(type: number): boolean {
    if (this.hasZ || this.hasM) return false;
    switch (type) {
      case Kind.Point:
        this.need(16);
        this.at += 16;
        return true;
      case Kind.LineString:
        this.skipLine();
        return true;
      case Kind.Polygon:
        for (let rings = this.count(4); rings > 0; rings--) this.skipLine();
        return true;
      case Kind.MultiPoint:
      case Kind.MultiLineString:
      case Kind.MultiPolygon:
        for (let members = this.count(minGeometryBytes); members > 0; members--) {
          const member = this.header();
          if (member !== memberKind(type) || !this.skipContent(member)) return false;
        }
        return true;
      default:
        return false;
    }
  }

  private skipLine(): void {
    const count = this.count(16);
    this.at += 16 * count;
  }
}
