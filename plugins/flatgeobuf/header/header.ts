/** The table Header (header.fbs of FlatGeobuf 3) as plain data. */
import { maxColumns } from "../limits.js";
import { FlatDamage, FlatReader } from "./flat-reader.js";

/** The fourth byte is the major version; the last is a patch level, which may differ. */
export const magicBytes = [0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 1] as const;
export const majorVersion = 3;

/** GeometryType (header.fbs), whose numbers are those of WKB. */
export const GeometryType = {
  unknown: 0,
  point: 1,
  lineString: 2,
  polygon: 3,
  multiPoint: 4,
  multiLineString: 5,
  multiPolygon: 6,
  geometryCollection: 7,
  circularString: 8,
  compoundCurve: 9,
  curvePolygon: 10,
  multiCurve: 11,
  multiSurface: 12,
  curve: 13,
  surface: 14,
  polyhedralSurface: 15,
  tin: 16,
  triangle: 17,
} as const;

/** ColumnType (header.fbs). */
export const ColumnType = {
  byte: 0,
  ubyte: 1,
  bool: 2,
  short: 3,
  ushort: 4,
  int: 5,
  uint: 6,
  long: 7,
  ulong: 8,
  float: 9,
  double: 10,
  string: 11,
  json: 12,
  dateTime: 13,
  binary: 14,
} as const;

/** Indexes of the members of each table. */
export const HeaderMember = {
  name: 0,
  envelope: 1,
  geometryType: 2,
  hasZ: 3,
  hasM: 4,
  hasT: 5,
  hasTm: 6,
  columns: 7,
  featuresCount: 8,
  indexNodeSize: 9,
  crs: 10,
  title: 11,
  description: 12,
  metadata: 13,
} as const;
export const ColumnMember = {
  name: 0,
  type: 1,
  title: 2,
  description: 3,
  width: 4,
  precision: 5,
  scale: 6,
  nullable: 7,
  unique: 8,
  primaryKey: 9,
  metadata: 10,
} as const;
export const CrsMember = { org: 0, code: 1, name: 2, description: 3, wkt: 4, codeString: 5 } as const;

export interface HeaderColumn {
  readonly name: string;
  readonly type: number;
  readonly title: string | null;
  readonly description: string | null;
  readonly nullable: boolean;
  readonly unique: boolean;
  readonly primaryKey: boolean;
  readonly metadata: string | null;
}

export interface HeaderCrs {
  readonly org: string | null;
  readonly code: number;
  readonly codeString: string | null;
  readonly wkt: string | null;
}

export interface Header {
  readonly name: string | null;
  readonly geometryType: number;
  readonly hasZ: boolean;
  readonly hasM: boolean;
  /** Whether there are the dimensions T or TM, times of positions. */
  readonly hasTimes: boolean;
  readonly columns: readonly HeaderColumn[];
  /** Number of features; 0 if it is unknown or none. */
  readonly featureCount: number;
  /** Entries of a node of the index; 0 if there is no index. */
  readonly nodeSize: number;
  readonly crs: HeaderCrs | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly metadata: string | null;
}

const defaultNodeSize = 16;

/** Parses the header, without its size. @throws FlatDamage */
export function parseHeader(bytes: Uint8Array): Header {
  const flat = new FlatReader();
  flat.open(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
  const table = flat.follow(0);
  const countAt = flat.member(table, HeaderMember.featuresCount, 8);
  const nodeSizeAt = flat.member(table, HeaderMember.indexNodeSize, 2);
  const featureCount = countAt === 0 ? 0 : Number(flat.view.getBigUint64(countAt, true));
  const nodeSize = nodeSizeAt === 0 ? defaultNodeSize : flat.view.getUint16(nodeSizeAt, true);
  if (!Number.isSafeInteger(featureCount)) throw new FlatDamage(`it declares ${featureCount} features`);
  if (nodeSize === 1) throw new FlatDamage("the nodes of its index have one entry");
  return {
    name: flat.string(table, HeaderMember.name),
    geometryType: flat.uint8(table, HeaderMember.geometryType),
    hasZ: flat.boolean(table, HeaderMember.hasZ, false),
    hasM: flat.boolean(table, HeaderMember.hasM, false),
    hasTimes: flat.boolean(table, HeaderMember.hasT, false) || flat.boolean(table, HeaderMember.hasTm, false),
    columns: parseColumns(flat, table),
    featureCount,
    nodeSize,
    crs: parseCrs(flat, table),
    title: flat.string(table, HeaderMember.title),
    description: flat.string(table, HeaderMember.description),
    metadata: flat.string(table, HeaderMember.metadata),
  };
}

function parseColumns(flat: FlatReader, header: number): HeaderColumn[] {
  const at = flat.vector(header, HeaderMember.columns, 4);
  const { length } = flat;
  if (length > maxColumns) throw new FlatDamage(`it declares ${length} columns`);
  return Array.from({ length }, (_, n) => {
    const table = flat.follow(at + 4 * n);
    const name = flat.string(table, ColumnMember.name);
    const type = flat.uint8(table, ColumnMember.type);
    if (name === null) throw new FlatDamage(`column ${n + 1} has no name`);
    if (type > ColumnType.binary)
      throw new FlatDamage(`the column ${JSON.stringify(name)} has the unknown type ${type}`);
    return {
      name,
      type,
      title: flat.string(table, ColumnMember.title),
      description: flat.string(table, ColumnMember.description),
      nullable: flat.boolean(table, ColumnMember.nullable, true),
      unique: flat.boolean(table, ColumnMember.unique, false),
      primaryKey: flat.boolean(table, ColumnMember.primaryKey, false),
      metadata: flat.string(table, ColumnMember.metadata),
    };
  });
}

function parseCrs(flat: FlatReader, header: number): HeaderCrs | null {
  const table = flat.table(header, HeaderMember.crs);
  if (table === 0) return null;
  const codeAt = flat.member(table, CrsMember.code, 4);
  return {
    org: flat.string(table, CrsMember.org),
    code: codeAt === 0 ? 0 : flat.view.getInt32(codeAt, true),
    codeString: flat.string(table, CrsMember.codeString),
    wkt: flat.string(table, CrsMember.wkt),
  };
}
