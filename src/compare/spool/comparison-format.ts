/**
 * A format for temporary files: the batches of a side of a comparison, with a digest of each row. Encoders run on any
 * thread; the assembler passes the chunks to the caller. Not registered among the formats that users can name.
 */
import { hash } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { RowEncoder } from "../../canonical/canonical-row.js";
import { digestBytes } from "../../canonical/digest-file.js";
import type { ComparisonRules } from "../../canonical/rules.js";
import { readFully } from "../../canonical/whole-reads.js";
import { createError } from "../../errors.js";
import { Batch, type BatchData } from "../../model/batch.js";
import type { Field } from "../../model/field.js";
import { coordinateToleranceDegrees, type GeometryColumn, type GeometryType } from "../../model/geometry.js";
import type { Crs, Dataset, Layer, Split } from "../../model/layer.js";
import { apiVersion, defineFormat, type Encoder, type Format, type TargetLayer } from "../../plugin/format.js";
import { unlimitedCapabilities } from "../../plugin/unlimited-capabilities.js";

export const comparisonFormatId = "comparison";

export interface ComparisonChunk {
  /** A serialized `BatchData`. */
  readonly batch: Uint8Array;
  readonly rows: number;
  readonly fields: readonly Field[];
  /** One digest of `digestBytes` for each row. */
  readonly digests: Uint8Array;
  /** Whether the rows have ids. */
  readonly hasIds: boolean;
  /** Kinds of geometry in the batch, as bits. */
  readonly kinds: number;
  readonly hasZ: boolean;
  readonly hasM: boolean;
  /** Whether all coordinates are longitudes and latitudes by their range. */
  readonly inDegrees: boolean;
}

/** The rules of a layer; without `decimals`, those of the kind of its reference system apply. */
export type EncoderRules = Omit<ComparisonRules, "decimals"> & { readonly decimals: number | null };

/** About a millimetre in a projected system, and a centimetre in degrees, which geoferry writes by default. */
export const defaultDecimals = (crs: Pick<Crs, "kind"> | null): number => (crs?.kind === "projected" ? 3 : 7);

export const resolveRules = (rules: EncoderRules, crs: Pick<Crs, "kind"> | null): ComparisonRules => ({
  ...rules,
  decimals: rules.decimals ?? defaultDecimals(crs),
});

export const digestOf = (bytes: Uint8Array): string => hash("sha256", bytes, "hex").slice(0, 2 * digestBytes);

export function encodeChunk(batch: Batch, encoder: RowEncoder): ComparisonChunk {
  const digests = Buffer.allocUnsafeSlow(batch.length * digestBytes);
  for (let row = 0; row < batch.length; row++)
    digests.write(hash("sha256", encoder.encode(batch, row), "binary"), row * digestBytes, digestBytes, "latin1");
  return toChunk(batch, digests);
}

export function toChunk(batch: Batch, digests: Uint8Array): ComparisonChunk {
  let kinds = 0;
  for (const kind of batch.geometry.kinds) kinds |= 1 << kind;
  return {
    batch: serialize(batch.toData()),
    rows: batch.length,
    fields: batch.fields,
    digests,
    hasIds: batch.ids !== null,
    kinds,
    hasZ: hasDimension(batch.geometry, "z"),
    hasM: hasDimension(batch.geometry, "m"),
    inDegrees: isInDegrees(batch.geometry),
  };
}

function isInDegrees({ xy, members }: GeometryColumn): boolean {
  const [x, y] = [180 + coordinateToleranceDegrees, 90 + coordinateToleranceDegrees];
  for (let at = 0; at < xy.length; at += 2) if (Math.abs(xy[at]!) > x || Math.abs(xy[at + 1]!) > y) return false;
  return members === null || isInDegrees(members);
}

const hasDimension = (column: GeometryColumn, dimension: "z" | "m"): boolean =>
  column[dimension] !== null || (column.members !== null && hasDimension(column.members, dimension));

export const decodeBatch = (bytes: Uint8Array): Batch => new Batch(deserialize(bytes) as BatchData);

/** The file that the reader opens. */
export interface SpoolManifest {
  readonly layers: readonly {
    readonly name: string;
    readonly crs: Crs | null;
    readonly fields: readonly Field[];
    readonly geometryTypes: readonly GeometryType[] | null;
    readonly features: number;
    /** The file with the batches. */
    readonly path: string;
    /** Start and length of each batch in bytes. */
    readonly batches: readonly (readonly [start: number, length: number])[];
  }[];
}

/** Receives the chunks in order. @param layer index from 0 */
export type ChunkConsumer = (chunk: ComparisonChunk, layer: number) => void;

/** Called once with the layers, before their first chunk. */
export type OpenConsumer = (layers: readonly TargetLayer[]) => ChunkConsumer;

const noConsumer: OpenConsumer = () => {
  throw createError("internal", { reason: "a worker thread assembles no comparison" });
};

export function createComparisonFormat(openConsumer: OpenConsumer = noConsumer): Format {
  return defineFormat({
    apiVersion,
    id: comparisonFormatId,
    label: "comparison",
    extensions: [comparisonFormatId],
    identify: () => "no",
    reader: { options: {}, load: async () => ({ open: async ({ path }) => openManifest(path) }) },
    writer: {
      options: { rules: { type: "text", default: "", help: "Rules of the comparison as JSON" } },
      capabilities: () => unlimitedCapabilities,
      load: async () => ({
        async createEncoder({ crs }, { rules }): Promise<Encoder<ComparisonChunk>> {
          const encoder = new RowEncoder(resolveRules(JSON.parse(rules) as EncoderRules, crs));
          return { encode: (batch) => encodeChunk(batch, encoder) };
        },
        async createAssembler(sink, layers) {
          // Every output needs a file; this one stays empty.
          await sink.create();
          const consume = openConsumer(layers);
          return {
            append: async (chunk: ComparisonChunk, layer: number) => consume(chunk, layer),
            finish: async () => {},
          };
        },
      }),
    },
  }) as unknown as Format;
}

function openManifest(path: string): Dataset {
  const { layers } = JSON.parse(readFileSync(path, "utf8")) as SpoolManifest;
  const handles = new Map<string, number>();
  const read = (file: string, start: number, length: number): Batch => {
    const handle = handles.get(file) ?? openSync(file, "r");
    handles.set(file, handle);
    return decodeBatch(readFully(handle, start, length));
  };
  return {
    layers: layers.map((layer) => toLayer(layer, read)),
    [Symbol.asyncDispose]: async () => {
      for (const handle of handles.values()) closeSync(handle);
    },
  };
}

function toLayer(
  { name, crs, fields, geometryTypes, features, path, batches }: SpoolManifest["layers"][number],
  read: (file: string, start: number, length: number) => Batch,
): Layer {
  const splits = batches.map(([start, length]): Split => ({ bytes: length, start }));
  return {
    name,
    crs,
    fields,
    geometryTypes,
    featureCount: features,
    extent: null,
    bytes: splits.reduce((sum, { bytes }) => sum + bytes, 0),
    async *batches(split?: Split) {
      for (const { start, bytes } of split ? [split] : splits) yield read(path, Number(start), bytes);
    },
    async *splits() {
      yield* splits;
    },
  };
}

export default createComparisonFormat();
