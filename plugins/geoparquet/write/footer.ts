/** The table of contents of a file (Parquet, parquet.thrift, FileMetaData). */
import { type FieldType, geometryTypes } from "../../../src/model/index.js";
import { codecNumbers } from "../parquet/codecs.js";
import { encodeStruct, type ThriftStruct, type ThriftValue } from "../parquet/thrift-writer.js";
import type { Zones } from "./column-encoder.js";
import type { ValueKind } from "./column-part.js";
import type { ParquetChunk } from "./encoder.js";
import { boxSides, kindOf, type Layout, type PhysicalType, physicalTypeOf, physicalTypes } from "./layout.js";
import type { Bounds } from "./statistics.js";

/** The geometries of a file or row group. */
export interface GeometrySummary {
  /** By `kind + 8 × (z + 2 m)`, the number of geometries. */
  readonly types: Uint32Array;
  /** Min x, min y, max x, max y; min > max if there are no positions. */
  readonly box: Float64Array;
}

export const createGeometrySummary = (): GeometrySummary => ({
  types: new Uint32Array(32),
  box: Float64Array.of(Infinity, Infinity, -Infinity, -Infinity),
});

/** Adds the rows `from … to` of a chunk. */
export function addGeometries(summary: GeometrySummary, chunk: ParquetChunk, from: number, to: number): void {
  const { types, boxes } = chunk;
  if (!types || !boxes) return;
  const { box } = summary;
  for (let row = from; row < to; row++) {
    const type = types[row]!;
    if (type === 0) continue;
    summary.types[type] = summary.types[type]! + 1;
    const at = 4 * row;
    if (boxes[at]! < box[0]!) box[0] = boxes[at]!;
    if (boxes[at + 1]! < box[1]!) box[1] = boxes[at + 1]!;
    if (boxes[at + 2]! > box[2]!) box[2] = boxes[at + 2]!;
    if (boxes[at + 3]! > box[3]!) box[3] = boxes[at + 3]!;
  }
}

/** The geometries of all row groups. */
export function mergeGeometries(groups: readonly GeometrySummary[]): GeometrySummary {
  const merged = createGeometrySummary();
  for (const { types, box } of groups) {
    types.forEach((count, type) => {
      merged.types[type]! += count;
    });
    for (const side of [0, 1]) merged.box[side] = Math.min(merged.box[side]!, box[side]!);
    for (const side of [2, 3]) merged.box[side] = Math.max(merged.box[side]!, box[side]!);
  }
  return merged;
}

/** What a row group says about the chunk of a column. */
export interface ChunkEntry {
  readonly offset: number;
  readonly size: number;
  readonly uncompressed: number;
  readonly nulls: number;
  readonly bounds: Bounds;
}

export interface GroupEntry {
  readonly rows: number;
  readonly offset: number;
  readonly chunks: readonly ChunkEntry[];
  readonly geometry: GeometrySummary;
}

export interface FileEntry {
  readonly layout: Layout;
  readonly groups: readonly GroupEntry[];
  /** By field, for datetimes. */
  readonly zones: readonly Zones[];
  readonly geometry: GeometrySummary;
  /** PROJJSON; undefined for WGS 84 (OGC:CRS84), null if unknown. */
  readonly projJson: Readonly<Record<string, unknown>> | null | undefined;
  /** The code of the system, if it has one of EPSG. */
  readonly srid: string | null;
  /** Whether the geometry has the logical type GEOMETRY. */
  readonly isLogical: boolean;
}

interface LeafEntry {
  readonly path: readonly string[];
  readonly type: PhysicalType;
  readonly kind: ValueKind;
}

const optional: ThriftValue = { i32: 1 };
const required: ThriftValue = { i32: 0 };
const convertedTypes = { UTF8: 0, DATE: 6, TIMESTAMP_MICROS: 10, JSON: 19 } as const;
const empty: ThriftValue = { struct: [] };
const microseconds: ThriftValue = { struct: [[2, empty]] };

/** The annotations of a field's type: the older converted type, and the logical type. */
function annotations(
  type: FieldType,
  zones: Zones,
): { converted?: keyof typeof convertedTypes; logical?: ThriftStruct } {
  switch (type) {
    case "text":
      return { converted: "UTF8", logical: [[1, empty]] };
    case "date":
      return { converted: "DATE", logical: [[6, empty]] };
    case "json":
      return { converted: "JSON", logical: [[12, empty]] };
    case "time":
      return {
        logical: [
          [
            7,
            {
              struct: [
                [1, false],
                [2, microseconds],
              ],
            },
          ],
        ],
      };
    case "datetime": {
      const isUtc = zones.utc > 0;
      return {
        ...(isUtc ? { converted: "TIMESTAMP_MICROS" as const } : {}),
        logical: [
          [
            8,
            {
              struct: [
                [1, isUtc],
                [2, microseconds],
              ],
            },
          ],
        ],
      };
    }
    default:
      return {};
  }
}

/** The leaf columns, in the order of the file. */
export const leavesOf = ({ fields, geometry, box }: Layout): LeafEntry[] => [
  ...fields.map(({ name, type }) => ({ path: [name], type: physicalTypeOf[type], kind: kindOf[type] })),
  ...(geometry === null ? [] : [{ path: [geometry], type: "BYTE_ARRAY", kind: "bytes" } as const]),
  ...(box === null ? [] : boxSides.map((side) => ({ path: [box, side], type: "FLOAT", kind: "float" }) as const)),
];

const projJsonKey = "geo_crs";

/** The text of the CRS in the logical type; undefined for OGC:CRS84. */
const logicalCrs = ({ projJson, srid }: FileEntry): string | undefined =>
  projJson === undefined
    ? undefined
    : projJson === null
      ? "srid:0"
      : srid === null
        ? `projjson:${projJsonKey}`
        : `srid:${srid}`;

function schema(file: FileEntry): ThriftValue[] {
  const { fields, geometry, box } = file.layout;
  const roots = fields.length + (geometry === null ? 0 : 1) + (box === null ? 0 : 1);
  const leaf = (name: string, type: PhysicalType, repetition: ThriftValue, more: ThriftStruct = []): ThriftValue => ({
    struct: [[1, { i32: physicalTypes[type] }], [3, repetition], [4, { binary: name }], ...more],
  });
  const elements: ThriftValue[] = [
    {
      struct: [
        [4, { binary: "schema" }],
        [5, { i32: roots }],
      ],
    },
  ];
  fields.forEach(({ name, type }, f) => {
    const { converted, logical } = annotations(type, file.zones[f]!);
    elements.push(
      leaf(name, physicalTypeOf[type], optional, [
        [6, converted && { i32: convertedTypes[converted] }],
        [10, logical && { struct: logical }],
      ]),
    );
  });
  if (geometry !== null) {
    const crs = logicalCrs(file);
    const logical: ThriftStruct = [[17, { struct: [[1, crs === undefined ? null : { binary: crs }]] }]];
    elements.push(leaf(geometry, "BYTE_ARRAY", optional, file.isLogical ? [[10, { struct: logical }]] : []));
  }
  if (box !== null) {
    elements.push({
      struct: [
        [3, optional],
        [4, { binary: box }],
        [5, { i32: boxSides.length }],
      ],
    });
    for (const side of boxSides) elements.push(leaf(side, "FLOAT", required));
  }
  return elements;
}

/** ISO WKB types that occur: 1001 is a Point with heights. */
function wkbTypes({ types }: GeometrySummary): number[] {
  return [...types.keys()].filter((at) => types[at]! > 0).map((at) => (at & 7) + 1000 * (at >> 3));
}

function geospatialStatistics(summary: GeometrySummary): ThriftValue {
  const [xmin, ymin, xmax, ymax] = summary.box as unknown as [number, number, number, number];
  const bounds: ThriftStruct = [
    [1, { double: xmin }],
    [2, { double: xmax }],
    [3, { double: ymin }],
    [4, { double: ymax }],
  ];
  return {
    struct: [
      [1, xmin <= xmax ? { struct: bounds } : null],
      [2, { list: wkbTypes(summary).map((type) => ({ i32: type })) }],
    ],
  };
}

function columnChunk(file: FileEntry, group: GroupEntry, leaf: LeafEntry, chunk: ChunkEntry): ThriftValue {
  const isGeometry = file.isLogical && leaf.path[0] === file.layout.geometry;
  const bound = (value: Uint8Array | null) => value && ({ binary: value } as const);
  const metadata: ThriftStruct = [
    [1, { i32: physicalTypes[leaf.type] }],
    [2, { list: [{ i32: 0 }, { i32: 3 }] }],
    [3, { list: leaf.path.map((step) => ({ binary: step })) }],
    [4, { i32: codecNumbers[file.layout.codec] }],
    [5, { i64: group.rows }],
    [6, { i64: chunk.uncompressed }],
    [7, { i64: chunk.size }],
    [9, { i64: chunk.offset }],
    [
      12,
      {
        struct: [
          [3, { i64: chunk.nulls }],
          [5, bound(chunk.bounds.greatest)],
          [6, bound(chunk.bounds.least)],
        ],
      },
    ],
    [17, isGeometry ? geospatialStatistics(group.geometry) : null],
  ];
  return {
    struct: [
      [2, { i64: 0 }],
      [3, { struct: metadata }],
    ],
  };
}

function rowGroup(file: FileEntry, leaves: readonly LeafEntry[], group: GroupEntry, ordinal: number): ThriftValue {
  const sum = (of: "size" | "uncompressed") => group.chunks.reduce((total, chunk) => total + chunk[of], 0);
  return {
    struct: [
      [1, { list: leaves.map((leaf, c) => columnChunk(file, group, leaf, group.chunks[c]!)) }],
      [2, { i64: sum("uncompressed") }],
      [3, { i64: group.rows }],
      [5, { i64: group.offset }],
      [6, { i64: sum("size") }],
      [7, ordinal < 2 ** 15 ? { i16: ordinal } : null],
    ],
  };
}

/** The metadata of GeoParquet 1.1 (https://geoparquet.org/releases/v1.1.0/). */
export function geoMetadata({ layout, geometry, projJson }: FileEntry): Record<string, unknown> {
  const { geometry: name, box } = layout;
  const types = wkbTypes(geometry);
  // Measures cannot be declared: an empty list says that any type may occur.
  const declared = types.some((type) => type >= 2000)
    ? []
    : types.map((type) => `${geometryTypes[type % 1000]}${type >= 1000 ? " Z" : ""}`);
  const covering = box !== null && { bbox: Object.fromEntries(boxSides.map((side) => [side, [box, side]])) };
  const column = {
    encoding: "WKB",
    geometry_types: declared,
    ...(projJson === undefined ? {} : { crs: projJson }),
    ...(geometry.box[0]! <= geometry.box[2]! ? { bbox: [...geometry.box] } : {}),
    ...(covering ? { covering } : {}),
  };
  return { version: "1.1.0", primary_column: name, columns: { [name!]: column } };
}

export function encodeFooter(file: FileEntry): Buffer {
  const leaves = leavesOf(file.layout);
  const entries: [string, unknown][] = file.layout.geometry === null ? [] : [["geo", geoMetadata(file)]];
  if (file.isLogical && file.projJson && file.srid === null) entries.push([projJsonKey, file.projJson]);
  return encodeStruct([
    [1, { i32: 2 }],
    [2, { list: schema(file) }],
    [3, { i64: file.groups.reduce((sum, { rows }) => sum + rows, 0) }],
    [4, { list: file.groups.map((group, ordinal) => rowGroup(file, leaves, group, ordinal)) }],
    [
      5,
      entries.length === 0
        ? null
        : {
            list: entries.map(([key, value]) => ({
              struct: [
                [1, { binary: key }],
                [2, { binary: JSON.stringify(value) }],
              ],
            })),
          },
    ],
    [6, { binary: "geoferry" }],
    // The order of each type, without which readers ignore the statistics.
    [7, { list: leaves.map(() => ({ struct: [[1, empty]] })) }],
  ]);
}
