/** Columns as bytes, for temporary files and for pages. */
import { type BytesColumn, type Column, isBytesColumn } from "../../model/column.js";
import { fieldTypes } from "../../model/field.js";

const aligned = (size: number): number => (size + 7) & ~7;

const arrays = {
  boolean: Uint8Array,
  int32: Int32Array,
  int64: BigInt64Array,
  double: Float64Array,
} as const;

/** The type, the number of rows, the presence of each, then the values, or the offsets and the bytes. Sections start at multiples of eight. */
export function columnToBytes(column: Column): Uint8Array<ArrayBuffer> {
  const { presence } = column;
  const rows = presence.length;
  const sections: (readonly [offset: number, view: ArrayBufferView])[] = [[8, presence]];
  let size = 8 + aligned(rows);
  const add = (view: ArrayBufferView) => {
    sections.push([size, view]);
    size += aligned(view.byteLength);
  };
  if (isBytesColumn(column)) {
    add(column.offsets.subarray(0, rows + 1));
    add(column.bytes.subarray(0, column.offsets[rows] ?? 0));
  } else add(column.values.subarray(0, rows));
  const bytes = new Uint8Array(size);
  new Uint32Array(bytes.buffer, 0, 2).set([fieldTypes.indexOf(column.type), rows]);
  for (const [offset, view] of sections)
    bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), offset);
  return bytes;
}

/** @param bytes that start at a multiple of eight of their buffer */
export function columnFromBytes({ buffer, byteOffset }: Uint8Array): Column {
  const [code, rows] = new Uint32Array(buffer, byteOffset, 2) as unknown as [number, number];
  const type = fieldTypes[code]!;
  const presence = new Uint8Array(buffer, byteOffset + 8, rows);
  const start = byteOffset + 8 + aligned(rows);
  if (type === "boolean" || type === "int32" || type === "int64" || type === "double")
    return { type, presence, values: new arrays[type](buffer as ArrayBuffer, start, rows) } as Column;
  const offsets = new Uint32Array(buffer, start, rows + 1);
  const bytes = new Uint8Array(buffer, start + aligned(offsets.byteLength), offsets[rows]);
  return { type, presence, offsets, bytes } satisfies BytesColumn;
}
