/**
 * The subset of FlatGeobuf (flatgeobuf.org, header.fbs and feature.fbs of version 3) that passes rows to GDAL: tables
 * without an index, with geometries in a WKB column. All numbers are little-endian.
 */
import type { FieldType } from "../../../src/model/index.js";

const magicBytes = [0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 1] as const;

/** ColumnType of header.fbs. */
const columnTypes: Readonly<Record<FieldType, number>> = {
  boolean: 2,
  int32: 5,
  int64: 7,
  double: 10,
  text: 11,
  json: 12,
  datetime: 13,
  date: 11,
  time: 11,
  binary: 14,
};

/** Members of the table Header. */
const headerMembers = { name: 0, columns: 7, featuresCount: 8, indexNodeSize: 9 } as const;

export interface ColumnType {
  readonly name: string;
  readonly type: FieldType;
}

const padTo8 = (size: number): number => Math.ceil(size / 8) * 8;

/** Layer name in the header. */
export const rowsLayer = "rows";

/** Offset of the number of features in the header. */
export const featureCountOffset = magicBytes.length + 4 + 40;

/**
 * Encodes magic bytes, header size and the table Header without geometry type, index and CRS. The number of features is 0
 * (unknown) until it is filled in.
 */
export function encodeHeader(columns: readonly ColumnType[]): Buffer {
  // The layer name follows the column names.
  const names = [...columns.map(({ name }) => name), rowsLayer].map((name) => Buffer.from(name, "utf8"));
  const vectorAt = 64;
  const columnVtableAt = vectorAt + padTo8(4 + 4 * columns.length);
  const tablesAt = columnVtableAt + 8;
  const namesAt = tablesAt + 12 * columns.length;
  const nameSizes = names.map((name) => padTo8(4 + name.length + 1));
  const size = namesAt + nameSizes.reduce((sum, each) => sum + each, 0);
  const bytes = Buffer.alloc(size);
  // The vtable of Header: its size, the size of the table, then an offset for each member up to indexNodeSize.
  const [vtableAt, tableAt] = [4, 32];
  bytes.writeUInt32LE(tableAt, 0);
  bytes.writeUInt16LE(24, vtableAt);
  bytes.writeUInt16LE(24, vtableAt + 2);
  bytes.writeUInt16LE(20, vtableAt + 4 + 2 * headerMembers.name);
  bytes.writeUInt16LE(4, vtableAt + 4 + 2 * headerMembers.columns);
  bytes.writeUInt16LE(8, vtableAt + 4 + 2 * headerMembers.featuresCount);
  bytes.writeUInt16LE(16, vtableAt + 4 + 2 * headerMembers.indexNodeSize);
  bytes.writeInt32LE(tableAt - vtableAt, tableAt);
  bytes.writeUInt32LE(vectorAt - (tableAt + 4), tableAt + 4);
  bytes.writeUInt32LE(columns.length, vectorAt);
  bytes.writeUInt16LE(8, columnVtableAt);
  bytes.writeUInt16LE(12, columnVtableAt + 2);
  bytes.writeUInt16LE(4, columnVtableAt + 4);
  bytes.writeUInt16LE(8, columnVtableAt + 6);
  let nameAt = namesAt;
  const putName = (at: number, i: number) => {
    bytes.writeUInt32LE(nameAt - at, at);
    bytes.writeUInt32LE(names[i]!.length, nameAt);
    names[i]!.copy(bytes, nameAt + 4);
    nameAt += nameSizes[i]!;
  };
  columns.forEach(({ type }, i) => {
    const table = tablesAt + 12 * i;
    bytes.writeUInt32LE(table - (vectorAt + 4 + 4 * i), vectorAt + 4 + 4 * i);
    bytes.writeInt32LE(table - columnVtableAt, table);
    putName(table + 4, i);
    bytes[table + 8] = columnTypes[type];
  });
  putName(tableAt + 20, columns.length);
  const start = Buffer.from([...magicBytes, 0, 0, 0, 0]);
  start.writeUInt32LE(size, magicBytes.length);
  return Buffer.concat([start, bytes]);
}

/** Prefix of every feature: the table Feature with its vtable, and space for two sizes. */
const featurePrefix = Buffer.from([
  ...[0, 0, 0, 0],
  ...[12, 0, 0, 0],
  ...[8, 0, 8, 0, 0, 0, 4, 0],
  ...[8, 0, 0, 0, 4, 0, 0, 0],
  ...[0, 0, 0, 0],
]);

/** Writes features with properties only (feature.fbs, Feature.properties). */
export class FeatureWriter {
  private buffer = Buffer.allocUnsafeSlow(1 << 16);
  private at = 0;
  private start = 0;

  private reserve(size: number): void {
    if (this.at + size <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.at + size, 2 * this.buffer.length));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }

  begin(): void {
    this.reserve(featurePrefix.length);
    this.start = this.at;
    this.buffer.set(featurePrefix, this.at);
    this.at += featurePrefix.length;
  }

  private column(index: number, size: number): number {
    this.reserve(size + 2);
    const at = this.buffer.writeUInt16LE(index, this.at);
    this.at = at + size;
    return at;
  }

  boolean(index: number, value: number): void {
    const at = this.column(index, 1);
    this.buffer[at] = value;
  }

  int32(index: number, value: number): void {
    const at = this.column(index, 4);
    this.buffer.writeInt32LE(value, at);
  }

  int64(index: number, value: bigint): void {
    const at = this.column(index, 8);
    this.buffer.writeBigInt64LE(value, at);
  }

  double(index: number, value: number): void {
    const at = this.column(index, 8);
    this.buffer.writeDoubleLE(value, at);
  }

  /** Writes text, JSON, dates or binary: size, then bytes. */
  bytes(index: number, source: Uint8Array, from: number, to: number): void {
    const at = this.column(index, 4 + to - from);
    this.buffer.writeUInt32LE(to - from, at);
    this.buffer.set(source.subarray(from, to), at + 4);
  }

  end(): void {
    const { buffer, start, at } = this;
    buffer.writeUInt32LE(at - start - 4, start);
    buffer.writeUInt32LE(at - start - featurePrefix.length, start + featurePrefix.length - 4);
  }

  /** Returns the features since the last call. */
  finish(): Uint8Array {
    const written = new Uint8Array(this.buffer.subarray(0, this.at));
    this.at = 0;
    return written;
  }
}
