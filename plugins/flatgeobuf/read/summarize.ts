/** Summarizes features from the sizes of their values, their types of geometries and points, without creating batches. */
import {
  type Extent,
  emptyKindSummary,
  type FieldSummary,
  type FieldType,
  Kind,
  type KindSummary,
  type LayerSummary,
} from "../../../src/model/index.js";
import { isValidUtf8 } from "../../shared/text/utf8.js";
import { kindByWkbType } from "../../shared/wkb/cursor.js";
import { FlatDamage, FlatReader } from "../header/flat-reader.js";
import { GeometryType } from "../header/header.js";
import { GeometryMember } from "./geometry-reader.js";
import type { FgbPlan } from "./plan.js";
import { valueBytes } from "./property-table.js";

const sizeBytes = 4;

/** Bytes of the longest value as text, for types whose values are not measured. */
const maxTextBytes: Partial<Readonly<Record<FieldType, number>>> = {
  boolean: 5,
  int32: 11,
  // Of an unsigned integer of 32 bits; those of 64 bits are measured.
  int64: 10,
  double: 24,
  text: 20,
};
/** A date or time that is brought into the form of ISO 8601 has no more, unless it had more before. */
const maxTemporalBytes = 35;
/** Below this, a double holds the value of an int64 exactly, so that its digits can be counted. */
const maxExactInteger = 1e15;
/** Length of the longest int64 as text: -9223372036854775808. */
const maxInt64Bytes = 20;

/** An upper bound of the number of digits; exact below `maxExactInteger`. */
function countDigits(magnitude: number): number {
  if (magnitude >= maxExactInteger) return maxInt64Bytes;
  let digits = 1;
  for (let limit = 10; limit <= magnitude; limit *= 10) digits++;
  return digits;
}

/** What replaces a byte that is not UTF-8. */
const replacementBytes = 3;

export class FeatureSummarizer {
  private readonly flat = new FlatReader();
  private readonly sizes: Uint8Array;
  /** Which columns are int64. */
  private readonly integers: Uint8Array;
  private readonly values: Float64Array;
  private readonly maxBytes: Float64Array;
  private readonly kinds: KindSummary[] = Array.from({ length: 8 }, emptyKindSummary);
  private readonly box = Float64Array.of(Infinity, Infinity, -Infinity, -Infinity);
  private count = 0;

  /** @param within where points may be; null: there may be none */
  constructor(
    private readonly plan: FgbPlan,
    private readonly within: Extent | null,
  ) {
    this.sizes = Uint8Array.from(plan.columns, ({ type }) => valueBytes[type]!);
    this.integers = Uint8Array.from(plan.columns, ({ field }, c) =>
      field.type === "int64" && this.sizes[c] === 8 ? 1 : 0,
    );
    this.values = new Float64Array(plan.columns.length);
    this.maxBytes = new Float64Array(plan.columns.length);
  }

  /** Adds the features in `bytes`. @returns false if they must be read to know more @throws FlatDamage */
  add(bytes: Uint8Array, view: DataView): boolean {
    const { flat } = this;
    for (let at = 0; at < bytes.length; ) {
      if (bytes.length - at < sizeBytes) return false;
      const end = at + sizeBytes + view.getUint32(at, true);
      if (end > bytes.length) return false;
      flat.open(view, at + sizeBytes, end);
      const table = flat.follow(at + sizeBytes);
      if (!this.addGeometry(flat.table(table, 0), view)) return false;
      const properties = flat.vector(table, 1, 1);
      this.addProperties(bytes, view, properties, properties + flat.length);
      this.count++;
      at = end;
    }
    return true;
  }

  private addGeometry(table: number, view: DataView): boolean {
    const { flat, plan, within, box } = this;
    if (table === 0) {
      this.kinds[Kind.none]!.count++;
      return true;
    }
    const type = plan.geometryType || flat.uint8(table, GeometryMember.type);
    const kind = kindByWkbType[type] ?? 0;
    if (kind === 0 || kind === Kind.GeometryCollection) return false;
    this.kinds[kind]!.count++;
    if (type !== GeometryType.point) return true;
    const xy = flat.vector(table, GeometryMember.xy, 8);
    if (within === null || flat.length !== 2) return false;
    const x = view.getFloat64(xy, true);
    const y = view.getFloat64(xy + 8, true);
    // Negated, so that NaN takes this branch.
    if (!(x >= within[0] && x <= within[2] && y >= within[1] && y <= within[3])) return false;
    if (x < box[0]!) box[0] = x;
    if (y < box[1]!) box[1] = y;
    if (x > box[2]!) box[2] = x;
    if (y > box[3]!) box[3] = y;
    return true;
  }

  /** @throws FlatDamage */
  private addProperties(bytes: Uint8Array, view: DataView, from: number, end: number): void {
    const { sizes, integers, values, maxBytes, plan } = this;
    let at = from;
    while (at + 1 < end) {
      const column = view.getUint16(at, true);
      if (column >= sizes.length) throw new FlatDamage("a property is of no column");
      at += 2;
      values[column]!++;
      let size = sizes[column]!;
      if (size === 0) {
        if (at + 4 > end) throw new FlatDamage("properties end within the length of a value");
        size = view.getUint32(at, true);
        at += 4;
        if (at + size > end) throw new FlatDamage("properties end within a value");
        if (size > maxBytes[column]!) {
          const isText = plan.columns[column]!.field.type === "text" && !isValidUtf8(bytes, at, at + size);
          maxBytes[column] = isText ? replacementBytes * size : size;
        }
      } else if (integers[column] === 1) {
        const bytes64 = this.int64Bytes(view, at, end);
        if (bytes64 > maxBytes[column]!) maxBytes[column] = bytes64;
      }
      at += size;
    }
  }

  /** An upper bound of the length of a value as text, with its sign. @throws FlatDamage */
  private int64Bytes(view: DataView, at: number, end: number): number {
    if (at + 8 > end) throw new FlatDamage("properties end within a value");
    const high = view.getInt32(at + 4, true);
    const value = high * 4294967296 + view.getUint32(at, true);
    return countDigits(Math.abs(value)) + (value < 0 ? 1 : 0);
  }

  /** Counts and sizes are upper bounds. */
  finish(): LayerSummary {
    const { plan, kinds, box, count } = this;
    const isOnlyPoints = kinds.every((each, kind) => each.count === 0 || kind <= Kind.Point);
    for (const [kind, each] of kinds.entries()) {
      if (kind === Kind.none || each.count === 0) continue;
      each.hasZ = plan.hasZ;
      each.hasM = plan.hasM;
      if (kind === Kind.Point) each.box = [box[0]!, box[1]!, box[2]!, box[3]!];
    }
    const fields = plan.columns.map(({ field }, c): FieldSummary => {
      const values = this.values[c]!;
      const isTemporal = field.type === "date" || field.type === "time" || field.type === "datetime";
      const isMeasured = this.sizes[c] === 0 || this.integers[c] === 1;
      const least = isTemporal ? maxTemporalBytes : isMeasured ? 0 : maxTextBytes[field.type]!;
      return { ...field, values, maxBytes: values === 0 ? 0 : Math.max(least, this.maxBytes[c]!) };
    });
    return {
      featureCount: count,
      fields,
      kinds,
      hasZ: kinds.some(({ hasZ }) => hasZ),
      hasM: kinds.some(({ hasM }) => hasM),
      extent: isOnlyPoints && box[0]! <= box[2]! ? [box[0]!, box[1]!, box[2]!, box[3]!] : null,
      idType: null,
      maxIdBytes: 0,
    };
  }
}
