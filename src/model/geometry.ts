/**
 * Geometries of many features, packed into flat arrays (the layout follows GeoArrow's nesting of offsets).
 *
 * Feature i has kind `kinds[i]`. Its parts are `partOffsets[i] … partOffsets[i+1]`, the rings of part p are
 * `ringOffsets[p] … ringOffsets[p+1]`, the positions of ring r are `positionOffsets[r] … positionOffsets[r+1]`.
 *
 * | kind | parts | rings of a part | positions of a ring |
 * | --- | --- | --- | --- |
 * | none (null geometry) | 0 | | |
 * | Point | 1 (0: empty) | 1 | 1 |
 * | LineString | 1 (0: empty) | 1 | n |
 * | Polygon | 1 (0: empty) | shell, holes | n, closed |
 * | MultiPoint | 1 (0: empty) | 1 | n |
 * | MultiLineString | 1 (0: empty) | the lines | n |
 * | MultiPolygon | the polygons | shell, holes | n, closed |
 * | GeometryCollection | 0 | | its members are in `members` |
 */
export const Kind = {
  none: 0,
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
} as const;

/** The seven geometry types of RFC 7946, section 3.1; the numbers of `Kind` are those of WKB (OGC 06-103r4, 8.2.3). */
export type GeometryType = Exclude<keyof typeof Kind, "none">;

/** Geometry types by the number of their kind; index 0 means no geometry. */
export const geometryTypes: readonly (GeometryType | null)[] = [
  null,
  "Point",
  "LineString",
  "Polygon",
  "MultiPoint",
  "MultiLineString",
  "MultiPolygon",
  "GeometryCollection",
];

/** All geometry types. */
export const allGeometryTypes: readonly GeometryType[] = geometryTypes.filter((type) => type !== null);

export interface GeometryColumn {
  /** Number of features. */
  readonly length: number;
  readonly kinds: Uint8Array;
  readonly partOffsets: Uint32Array;
  readonly ringOffsets: Uint32Array;
  readonly positionOffsets: Uint32Array;
  /** x and y of each position, interleaved; longitude or easting first, always. */
  readonly xy: Float64Array;
  /** Height of each position in metres, NaN if a position has none; null if none has. */
  readonly z: Float64Array | null;
  /** Measure of each position, NaN if a position has none; null if none has. */
  readonly m: Float64Array | null;
  /**
   * Least x, least y, greatest x, greatest y of each feature's own positions, four numbers a feature, where the reader
   * computed them: then every number of `xy` is finite. The box of a feature without positions has infinity as minimum and
   * −infinity as maximum. Code that changes positions must also change the boxes, or set them to null.
   */
  readonly boxes: Float64Array | null;
  /** Members of the GeometryCollections: those of feature i are `memberOffsets[i] … memberOffsets[i+1]`. */
  readonly members: GeometryColumn | null;
  readonly memberOffsets: Uint32Array | null;
}

export type Position = number[];
export type Geometry =
  | { type: "Point"; coordinates: Position }
  | { type: "LineString" | "MultiPoint"; coordinates: Position[] }
  | { type: "Polygon" | "MultiLineString"; coordinates: Position[][] }
  | { type: "MultiPolygon"; coordinates: Position[][][] }
  | { type: "GeometryCollection"; geometries: Geometry[] };

/** [least x, least y, greatest x, greatest y] */
export type Extent = readonly [number, number, number, number];

/** Tolerance beyond ±180° and ±90° for rounding, in degrees: 11 cm, the last of six decimals. */
export const coordinateToleranceDegrees = 1e-6;

/** Whether the first extent is inside the second; true without positions. */
export const isExtentWithin = (inner: Extent, outer: Extent): boolean =>
  inner[0] >= outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2] && inner[3] <= outer[3];

/** The position k as GeoJSON has it: M is not part of it, Z only where the position has one. */
function positionAt(column: GeometryColumn, k: number): Position {
  const { xy, z } = column;
  if (z && !Number.isNaN(z[k]!)) return [xy[2 * k]!, xy[2 * k + 1]!, z[k]!];
  return [xy[2 * k]!, xy[2 * k + 1]!];
}

function ringAt(column: GeometryColumn, r: number): Position[] {
  const ring: Position[] = [];
  for (let k = column.positionOffsets[r]!; k < column.positionOffsets[r + 1]!; k++) ring.push(positionAt(column, k));
  return ring;
}

function partAt(column: GeometryColumn, p: number): Position[][] {
  const rings: Position[][] = [];
  for (let r = column.ringOffsets[p]!; r < column.ringOffsets[p + 1]!; r++) rings.push(ringAt(column, r));
  return rings;
}

/** Feature i of the column as a GeoJSON geometry object; null if it has none. */
export function geometryAt(column: GeometryColumn, i: number): Geometry | null {
  const type = geometryTypes[column.kinds[i]!];
  if (!type) return null;
  const from = column.partOffsets[i]!;
  const empty = column.partOffsets[i + 1] === from;
  switch (type) {
    case "Point":
      return { type, coordinates: empty ? [] : (partAt(column, from)[0]?.[0] ?? []) };
    case "LineString":
    case "MultiPoint":
      return { type, coordinates: empty ? [] : (partAt(column, from)[0] ?? []) };
    case "Polygon":
    case "MultiLineString":
      return { type, coordinates: empty ? [] : partAt(column, from) };
    case "MultiPolygon": {
      const coordinates: Position[][][] = [];
      for (let p = from; p < column.partOffsets[i + 1]!; p++) coordinates.push(partAt(column, p));
      return { type, coordinates };
    }
    case "GeometryCollection": {
      const geometries: Geometry[] = [];
      const { members, memberOffsets } = column;
      if (members && memberOffsets) {
        for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) {
          const member = geometryAt(members, k);
          if (member) geometries.push(member);
        }
      }
      return { type, geometries };
    }
  }
}

/** The positions of feature i, members of collections left out: `[from, to]` in positions. */
export function positionRange(column: GeometryColumn, i: number): readonly [number, number] {
  const { partOffsets, ringOffsets, positionOffsets } = column;
  return [positionOffsets[ringOffsets[partOffsets[i]!]!]!, positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!];
}
