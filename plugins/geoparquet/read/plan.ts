import type { Crs, Extent, Field } from "../../../src/model/index.js";
import type { ChunkPlace } from "../parquet/column-pages.js";
import type { Leaf, SchemaNode } from "../parquet/schema.js";
import type { Decoding } from "./field-decoding.js";

/** Encodings of a geometry column (GeoParquet 1.1, "Encoding"). */
export const nativeEncodings = {
  point: "Point",
  linestring: "LineString",
  polygon: "Polygon",
  multipoint: "MultiPoint",
  multilinestring: "MultiLineString",
  multipolygon: "MultiPolygon",
} as const;
export type NativeEncoding = keyof typeof nativeEncodings;

export interface FieldPlan {
  readonly field: Field;
  /** Null for a nested column, which becomes JSON. */
  readonly decoding: Decoding | null;
  readonly node: SchemaNode;
  readonly leaves: readonly Leaf[];
}

export interface GeometryPlan {
  readonly name: string;
  readonly encoding: "wkb" | NativeEncoding;
  /** One leaf of WKB, or those of x, y, z and m. */
  readonly leaves: readonly Leaf[];
  /** Names of the dimensions of the leaves, `x` first. */
  readonly dimensions: readonly string[];
  /** The definition levels at which the geometry is there, and at which each list has an element, outermost first. */
  readonly levels: { readonly geometry: number; readonly lists: readonly number[] };
}

/** The least and the greatest value of a column in a row group, as the footer has them: of any type, or damaged. */
export interface ColumnRange {
  readonly least: unknown;
  readonly greatest: unknown;
}

export interface GroupPlan {
  readonly rows: number;
  readonly bytes: number;
  /** By the index of the leaf; null for columns that are not read. */
  readonly chunks: readonly (ChunkPlace | null)[];
  readonly ranges: readonly (ColumnRange | null)[];
  /** Bounds of the features, from the covering column or the statistics of the geometry. */
  readonly extent: Extent | null;
}

/** How a file is read, as plain data. */
export interface ParquetPlan {
  readonly name: string;
  readonly crs: Crs | null;
  readonly geometry: GeometryPlan | null;
  readonly fields: readonly FieldPlan[];
  readonly groups: readonly GroupPlan[];
  readonly rows: number;
}
