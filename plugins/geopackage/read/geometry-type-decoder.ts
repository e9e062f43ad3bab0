import { Kind } from "../../../src/model/index.js";
import { findWkbStart } from "./geometry-blob.js";
import { GeometryDecoder } from "./geometry-decoder.js";

/** Takes the kinds of a layer's geometries alone: in its columns they are without positions. */
export class GeometryTypeDecoder extends GeometryDecoder {
  /** Whether the kinds say all; a point is decoded as soon as its kind is found out. */
  tellsAll = true;

  protected override blob(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    const start = findWkbStart(bytes, from, to);
    const kind = typeof start === "string" ? null : this.wkb.flatKind(bytes, start, to);
    if (kind === null || kind === Kind.Point) this.tellsAll = false;
    this.builder.begin(kind ?? Kind.none);
    this.builder.end();
  }
}
