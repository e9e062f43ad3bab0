/**
 * A format for temporary files: the batches of a view, with their shapes on the map. Encoders run on any thread; the
 * assembler passes the chunks to the caller. Not registered among the formats that users can name.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { readFully } from "../../canonical/whole-reads.js";
import { createError } from "../../errors.js";
import { Batch } from "../../model/batch.js";
import type { Field } from "../../model/field.js";
import type { GeometryColumn } from "../../model/geometry.js";
import type { Crs, Dataset, Layer, Split } from "../../model/layer.js";
import { apiVersion, defineFormat, type Encoder, type Format, type TargetLayer } from "../../plugin/format.js";
import { unlimitedCapabilities } from "../../plugin/unlimited-capabilities.js";
import { columnFromBytes, columnToBytes } from "./column-bytes.js";
import { type PackedShapes, packShapes } from "./pack-shapes.js";

export const viewFormatId = "view";

export interface ViewChunk {
  readonly rows: number;
  readonly fields: readonly Field[];
  /** One for each field; see `columnToBytes`. */
  readonly columns: readonly Uint8Array<ArrayBuffer>[];
  readonly ids: Uint8Array<ArrayBuffer> | null;
  /** A serialized `GeometryColumn`. */
  readonly geometry: Uint8Array;
  readonly shapes: PackedShapes;
  readonly hasZ: boolean;
}

export function encodeViewChunk(batch: Batch): ViewChunk {
  return {
    rows: batch.length,
    fields: batch.fields,
    columns: batch.columns.map(columnToBytes),
    ids: batch.ids && columnToBytes(batch.ids),
    geometry: serialize(batch.geometry),
    shapes: packShapes(batch.geometry),
    hasZ: batch.geometry.z !== null,
  };
}

export const decodeGeometry = (bytes: Uint8Array): GeometryColumn => deserialize(bytes) as GeometryColumn;

/** Start and length in bytes; length 0 stands for a column that a batch does not have. */
export type ByteRange = readonly [start: number, length: number];

export interface SpooledBatchParts {
  readonly rows: number;
  readonly geometry: ByteRange;
  readonly ids: ByteRange;
  /** One for each field of the layer. */
  readonly columns: readonly ByteRange[];
}

/** The file that the reader opens: one layer of a view. */
export interface ViewManifest {
  readonly name: string;
  readonly crs: Crs | null;
  readonly fields: readonly Field[];
  /** The file with the parts of the batches. */
  readonly path: string;
  readonly batches: readonly SpooledBatchParts[];
}

/** Receives the chunks in order. @param layer index from 0 */
export type ChunkConsumer = (chunk: ViewChunk, layer: number) => void;

/** Called once with the layers, before their first chunk. */
export type OpenConsumer = (layers: readonly TargetLayer[]) => ChunkConsumer;

const noConsumer: OpenConsumer = () => {
  throw createError("internal", { reason: "a worker thread assembles no view" });
};

export function createViewFormat(openConsumer: OpenConsumer = noConsumer): Format {
  return defineFormat({
    apiVersion,
    id: viewFormatId,
    label: "view",
    extensions: [viewFormatId],
    identify: () => "no",
    reader: { options: {}, load: async () => ({ open: async ({ path }) => openManifest(path) }) },
    writer: {
      options: {},
      capabilities: () => unlimitedCapabilities,
      load: async () => ({
        createEncoder: async (): Promise<Encoder<ViewChunk>> => ({ encode: encodeViewChunk }),
        async createAssembler(sink, layers) {
          // Every output needs a file; this one stays empty.
          await sink.create();
          const consume = openConsumer(layers);
          return {
            append: async (chunk: ViewChunk, layer: number) => consume(chunk, layer),
            finish: async () => {},
          };
        },
      }),
    },
  }) as unknown as Format;
}

function openManifest(path: string): Dataset {
  const manifest = JSON.parse(readFileSync(path, "utf8")) as ViewManifest;
  const handle = openSync(manifest.path, "r");
  return {
    layers: [toLayer(manifest, handle)],
    [Symbol.asyncDispose]: async () => closeSync(handle),
  };
}

function toLayer({ name, crs, fields, batches }: ViewManifest, handle: number): Layer {
  const splits = batches.map(
    ({ columns, geometry }, index): Split => ({
      bytes: columns.reduce((sum, [, length]) => sum + length, geometry[1]),
      index,
    }),
  );
  return {
    name,
    crs,
    fields,
    geometryTypes: null,
    featureCount: batches.reduce((sum, { rows }) => sum + rows, 0),
    extent: null,
    bytes: splits.reduce((sum, { bytes }) => sum + bytes, 0),
    async *batches(split?: Split) {
      for (const { index } of split ? [split] : splits) yield readBatch(batches[Number(index)]!, fields, handle);
    },
    async *splits() {
      yield* splits;
    },
  };
}

/** The rows of a batch count as records from 1. */
function readBatch(parts: SpooledBatchParts, fields: readonly Field[], handle: number): Batch {
  const read = ([start, length]: ByteRange) => readFully(handle, start, length);
  const present = fields.filter((_, f) => parts.columns[f]![1] > 0);
  const columns = parts.columns.filter(([, length]) => length > 0).map((range) => columnFromBytes(read(range)));
  return new Batch({
    length: parts.rows,
    ids: parts.ids[1] === 0 ? null : columnFromBytes(read(parts.ids)),
    // A batch of a layer without declared types has its own.
    fields: present.map((field, f) => ({ ...field, type: columns[f]!.type })),
    columns,
    geometry: decodeGeometry(read(parts.geometry)),
    recordNumbers: null,
    firstRecord: 1,
  });
}

export default createViewFormat();
