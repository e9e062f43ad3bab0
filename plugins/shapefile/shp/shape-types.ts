import type { GeometryType } from "../../../src/model/index.js";

/** Shape types (Technical Description, table 2). Z types are the plain ones plus 10, M types plus 20. */
export const ShapeType = { null: 0, point: 1, polyline: 3, polygon: 5, multipoint: 8, multipatch: 31 } as const;

/** Offset of the Z types from the plain ones. */
export const zTypeOffset = 10;
export const mTypeOffset = 20;

/**
 * A shape type without its dimensions: 15 (PolygonZ) gives 5 (Polygon). MultiPatch stays unchanged; -1 is an invalid
 * type.
 */
export function plainShapeType(type: number): number {
  if (type === ShapeType.null || type === ShapeType.multipatch) return type;
  if (type < 1 || type > 28) return -1;
  const plain = type % 10;
  return plain === ShapeType.point ||
    plain === ShapeType.polyline ||
    plain === ShapeType.polygon ||
    plain === ShapeType.multipoint
    ? plain
    : -1;
}

/** The geometry types for shapes of this type; null if the type determines none. */
export function geometryTypesOf(type: number): readonly GeometryType[] | null {
  switch (plainShapeType(type)) {
    case ShapeType.point:
      return ["Point"];
    case ShapeType.multipoint:
      return ["MultiPoint"];
    case ShapeType.polyline:
      return ["LineString", "MultiLineString"];
    case ShapeType.polygon:
      return ["Polygon", "MultiPolygon"];
    case ShapeType.multipatch:
      return ["MultiPolygon"];
    default:
      return null;
  }
}

/** Measures below this mean "no data" (Technical Description, "Numeric types"). */
export const noDataMeasureLimit = -1e38;
/** Written for a position without a measure. */
export const noDataMeasure = -1e39;
