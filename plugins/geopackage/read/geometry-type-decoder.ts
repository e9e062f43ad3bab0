import { Kind } from "../../../src/model/index.js";
import { findWkbStart } from "./geometry-blob.js";
import { GeometryDecoder } from "./geometry-decoder.js";

/** Decodes geometry types only: the geometries in its columns have no positions. */
export class GeometryTypeDecoder extends GeometryDecoder {
  /** Whether types alone suffice: false as soon as there is a point, whose extent needs its coordinates. */
  isConclusive = true;

  protected override blob(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    const start = findWkbStart(bytes, from, to);
    const kind = typeof start === "string" ? null : this.wkb.flatKind(bytes, start, to);
    if (kind === null || kind === Kind.Point) this.isConclusive = false;
    this.builder.begin(kind ?? Kind.none);
    this.builder.end();
  }
}
