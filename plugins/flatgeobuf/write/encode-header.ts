import { type Crs, type Field, type FieldType, Kind, type LayerMetadata, typesIn } from "../../../src/model/index.js";
import { createError, type TargetLayer, type WriteContext } from "../../../src/plugin/index.js";
import { columnMetadataOf } from "../header/declared-type.js";
import { type FlatTable, type FlatValue, FlatWriter } from "../header/flat-writer.js";
import { ColumnMember, ColumnType, CrsMember, HeaderMember, magicBytes } from "../header/header.js";

/** ColumnType of header.fbs. Dates are texts of datetimes, times are texts; the metadata of the column says so. */
export const columnTypeOf: Readonly<Record<FieldType, number>> = {
  boolean: ColumnType.bool,
  int32: ColumnType.int,
  int64: ColumnType.long,
  double: ColumnType.double,
  text: ColumnType.string,
  date: ColumnType.dateTime,
  time: ColumnType.string,
  datetime: ColumnType.dateTime,
  binary: ColumnType.binary,
  json: ColumnType.json,
};

/** What the header says of all features, and their encoding depends on. */
export interface LayerDesign {
  readonly fields: readonly Field[];
  /** A number of `Kind`, which is also that of the geometry type; 0 if features have different types, or none. */
  readonly kind: number;
  readonly hasZ: boolean;
  readonly hasM: boolean;
}

/** Derived from the layer alone, so that encoders and the assembler agree. */
export function designLayer({ summary, fields }: TargetLayer): LayerDesign {
  if (!summary || !fields) throw createError("internal", { reason: "writing FlatGeobuf needs a summary of the layer" });
  const types = typesIn(summary);
  return { fields, kind: types.length === 1 ? Kind[types[0]!] : 0, hasZ: summary.hasZ, hasM: summary.hasM };
}

/** What is known when all features are written. */
export interface HeaderTotals {
  readonly featureCount: number;
  readonly nodeSize: number;
  /** Least x, least y, greatest x, greatest y; null if there are no positions or they are not known. */
  readonly extent: readonly number[] | null;
}

type Member = readonly [index: number, value: FlatValue | null];

const text = (value: string | null | undefined): FlatValue | null => (value ? { text: value } : null);
const flag = (value: boolean): FlatValue | null => (value ? { bytes: 1, value: 1 } : null);
const tableOf = (members: readonly Member[]): FlatTable =>
  new Map(members.flatMap(([index, value]) => (value === null ? [] : [[index, value] as const])));

/** Encodes magic bytes and header. */
export class HeaderEncoder {
  private constructor(
    private readonly layer: TargetLayer,
    private readonly design: LayerDesign,
    private readonly crs: FlatTable | null,
  ) {}

  /** @throws crs-not-writable */
  static async create(layer: TargetLayer, design: LayerDesign, context: WriteContext): Promise<HeaderEncoder> {
    return new HeaderEncoder(layer, design, layer.crs && (await crsTable(layer.crs, context)));
  }

  encode({ featureCount, nodeSize, extent }: HeaderTotals): Buffer {
    const { layer, design, crs } = this;
    const { metadata } = layer;
    const members = tableOf([
      [HeaderMember.name, text(layer.name)],
      [HeaderMember.geometryType, { bytes: 1, value: design.kind }],
      [HeaderMember.hasZ, flag(design.hasZ)],
      [HeaderMember.hasM, flag(design.hasM)],
      [HeaderMember.columns, { tables: design.fields.map((field) => columnTable(field, metadata)) }],
      [HeaderMember.featuresCount, { bytes: 8, value: featureCount }],
      [HeaderMember.indexNodeSize, { bytes: 2, value: nodeSize }],
      [HeaderMember.crs, crs && { table: crs }],
      [HeaderMember.title, text(metadata?.title)],
      [HeaderMember.description, text(metadata?.description)],
      [HeaderMember.envelope, extent && { doubles: extent }],
    ]);
    return Buffer.concat([Buffer.from(magicBytes), new FlatWriter().encode(members)]);
  }
}

function columnTable({ name, type }: Field, metadata: LayerMetadata | undefined): FlatTable {
  const described = metadata?.columns?.find(({ column }) => column === name);
  return tableOf([
    [ColumnMember.name, { text: name }],
    [ColumnMember.type, { bytes: 1, value: columnTypeOf[type] }],
    [ColumnMember.title, text(described?.title ?? described?.name)],
    [ColumnMember.description, text(described?.description)],
    [ColumnMember.metadata, text(columnMetadataOf(type))],
  ]);
}

async function crsTable(crs: Crs, context: WriteContext): Promise<FlatTable> {
  // Coordinates are x and y for any axis order of the reference system, so that these two are the same.
  const isWgs84 = crs.id === "OGC:CRS84" || crs.id === context.crs.wgs84.id;
  const [, org, code] = /^([A-Z]+):(.+)$/.exec(isWgs84 ? "EPSG:4326" : (crs.id ?? "")) ?? [];
  const number = code !== undefined && /^\d{1,9}$/.test(code) ? Number(code) : 0;
  const wkt = await context.crs.toWkt(isWgs84 ? await context.crs.parse("EPSG:4326") : crs, "wkt2");
  if (wkt === null && number === 0) throw createError("crs-not-writable", { format: "FlatGeobuf", crs: crs.name });
  return tableOf([
    [CrsMember.org, text(org)],
    [CrsMember.code, number === 0 ? null : { bytes: 4, value: number }],
    [CrsMember.name, text(isWgs84 ? "WGS 84" : crs.name)],
    [CrsMember.wkt, text(wkt)],
    [CrsMember.codeString, number === 0 ? text(code) : null],
  ]);
}
