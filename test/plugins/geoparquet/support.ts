/** Parquet files by hyparquet-writer, and what hyparquet reads in those of the plugin. */
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type FileMetaData, parquetMetadata, parquetReadObjects, type SchemaElement } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { type ColumnSource, geojsonToWkb, type ParquetWriteOptions, parquetWriteBuffer } from "hyparquet-writer";
import geoparquet from "../../../plugins/geoparquet/index.js";
import type { Feature, Geometry } from "../../../src/model/index.js";
import { type LayerContent, type ReadFileOptions, readFile } from "../../../src/testing/index.js";

export const wkb = (geometry: Geometry): Uint8Array => geojsonToWkb(geometry as Parameters<typeof geojsonToWkb>[0]);
export const point = (x: number, y: number): Uint8Array => wkb({ type: "Point", coordinates: [x, y] });

/** The metadata of GeoParquet for a column `geometry`, with these members. */
export const geoKey = (column: object = {}, more: object = {}) => ({
  key: "geo",
  value: JSON.stringify({
    version: "1.1.0",
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: [], ...column } },
    ...more,
  }),
});

const maxZstdBlock = 1 << 17;

/** A Zstandard frame of raw blocks (RFC 8878, 3.1.1), which no library is needed for. */
function storeZstd(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 5);
  const parts: Uint8Array[] = [head];
  for (let at = 0; at === 0 || at < bytes.length; at += maxZstdBlock) {
    const block = bytes.subarray(at, at + maxZstdBlock);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (at + maxZstdBlock >= bytes.length ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}

/** An LZ4 block of literals only. */
function storeLz4(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  if (length < 15) return Buffer.concat([Buffer.from([length << 4]), bytes]);
  const sizes = [];
  for (let rest = length - 15; ; rest -= 255) {
    sizes.push(Math.min(255, rest));
    if (rest < 255) break;
  }
  return Buffer.concat([Buffer.from([0xf0, ...sizes]), bytes]);
}

type Given = Omit<ParquetWriteOptions, "writer">;

export function writeParquet(path: string, options: Given): string {
  const codecs = {
    GZIP: gzipSync,
    BROTLI: brotliCompressSync,
    ZSTD: storeZstd,
    LZ4_RAW: storeLz4,
  } as unknown as NonNullable<Given["compressors"]>;
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ compressors: codecs, ...options })));
  return path;
}

/** Columns with a geometry of one point for each row. */
export const withPoints = (columns: ColumnSource[]): ColumnSource[] => [
  ...columns,
  { name: "geometry", type: "BYTE_ARRAY", data: [...columns[0]!.data].map((_, i) => point(i, -i)) },
];

export async function readLayer(path: string, options: ReadFileOptions = {}): Promise<LayerContent> {
  const [layer] = await readFile(geoparquet, path, options);
  return layer!;
}

export const featuresOf = ({ batches }: LayerContent): Feature[] => batches.flatMap((batch) => [...batch.features()]);

export const metadataOf = (path: string): FileMetaData => {
  const bytes = readFileSync(path);
  return parquetMetadata(Uint8Array.from(bytes), { geoparquet: false });
};

export const geoOf = (path: string): Record<string, never> & { columns: Record<string, Record<string, unknown>> } =>
  JSON.parse(metadataOf(path).key_value_metadata!.find(({ key }) => key === "geo")!.value!);

/** The rows of a file, with binary columns as bytes. */
export async function rowsOf(path: string): Promise<Record<string, unknown>[]> {
  const bytes = Uint8Array.from(readFileSync(path)).buffer;
  const metadata = parquetMetadata(bytes, { geoparquet: false });
  return parquetReadObjects({ file: bytes, metadata, compressors, utf8: false });
}

/** A schema of optional leaves below the root. */
export const schemaOf = (...elements: SchemaElement[]): SchemaElement[] => {
  const inner = elements.reduce((sum, { num_children: count = 0 }) => sum + count, 0);
  return [{ name: "schema", num_children: elements.length - inner }, ...elements];
};
