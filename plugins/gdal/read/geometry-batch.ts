/** The geometries of a run of features, taken out of GDAL together. */
import type { Feature, GeometryCollection } from "gdal-async";
import type { GeometryBuilder } from "../../../src/model/index.js";
import { GeometryParseError, type WkbReader } from "../../shared/wkb/index.js";
import type { Gdal } from "../process/library.js";

/** WKB that one export may have: one more geometry may go beyond. */
const maxBytes = 1 << 20;

/** What comes before the members: byte order, type and count. */
const collectionHeaderBytes = 9;

/** Geometries of one dimension; of several, a collection would have the greatest. */
interface DimensionGroup {
  readonly collection: GeometryCollection;
  bytes: Buffer;
  /** Where the next member begins; −1 where it is not known since one before could not be read. */
  at: number;
  taken: number;
  count: number;
}

/** Old types with heights have the highest bit, ISO's have a thousand, two or three. */
function dimensionsOf(type: number): number {
  const plain = type >>> 0;
  return plain >= 0x80000000 ? 1 : Math.floor(plain / 1000);
}

/**
 * To export a geometry costs gdal-async some microseconds for the buffer alone: those of many features are exported as
 * one collection, which took a third of the time for points.
 */
export class GeometryBatch {
  private readonly groups = new Map<number, DimensionGroup>();
  /** By feature: where its geometry is, null for none, or why it is nowhere. */
  private readonly order: (DimensionGroup | string | null)[] = [];
  private size = 0;

  constructor(
    private readonly gdal: Gdal,
    private readonly wkb: WkbReader,
  ) {}

  get isFull(): boolean {
    return this.size >= maxBytes;
  }

  /** The geometry of the next feature. */
  add(feature: Feature): void {
    const geometry = this.geometryOf(feature);
    if (geometry === null || typeof geometry === "string") {
      this.order.push(geometry);
      return;
    }
    const dimensions = dimensionsOf(geometry.wkbType);
    let group = this.groups.get(dimensions);
    if (!group) {
      const collection = new this.gdal.GeometryCollection();
      group = { collection, bytes: Buffer.alloc(0), at: 0, taken: 0, count: 0 };
      this.groups.set(dimensions, group);
    }
    group.collection.children.add(geometry);
    group.count++;
    this.size += geometry.wkbSize;
    this.order.push(group);
  }

  /** gdal-async has no triangulated surfaces (TIN, PolyhedralSurface), and says so by an exception. */
  private geometryOf(feature: Feature) {
    try {
      return feature.getGeometry();
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** A feature of a table. */
  addNone(): void {
    this.order.push(null);
  }

  /**
   * Puts the geometries into the builder, in the order of their features. `after` is told of each feature, with the
   * reason where its geometry cannot be read: nothing is added then.
   */
  take(builder: GeometryBuilder, after: (feature: number, reason: string | null) => void): void {
    for (const group of this.groups.values()) {
      if (group.count === 0) continue;
      group.bytes = group.collection.toWKB("LSB", "ISO");
      group.at = collectionHeaderBytes;
      group.taken = 0;
    }
    this.order.forEach((group, feature) => {
      if (typeof group === "string") after(feature, group);
      else if (group !== null) after(feature, this.next(group, builder));
      else {
        builder.addNull();
        after(feature, null);
      }
    });
    for (const group of this.groups.values()) {
      group.collection.children.remove(-1);
      group.count = 0;
      group.bytes = Buffer.alloc(0);
    }
    this.order.length = 0;
    this.size = 0;
  }

  private next(group: DimensionGroup, builder: GeometryBuilder): string | null {
    const member = group.taken++;
    try {
      if (group.at >= 0) group.at = this.wkb.readMember(group.bytes, group.at, builder);
      else {
        const bytes = group.collection.children.get(member).toWKB("LSB", "ISO");
        this.wkb.read(bytes, 0, bytes.length, builder);
      }
      return null;
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      group.at = -1;
      return error.message;
    }
  }
}
