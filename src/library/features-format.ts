/** A format whose output is features in memory: how the pipeline of a conversion gives them to a program. */
import { Batch, type BatchData, type Feature } from "../model/batch.js";
import { fieldTypes } from "../model/field.js";
import { allGeometryTypes } from "../model/geometry.js";
import { type Assembler, apiVersion, defineFormat, type Encoder, type Format } from "../plugin/format.js";

/** Given features in their order; the next ones come when the promise is fulfilled. `layer` counts from 0. */
export type FeatureConsumer = (features: readonly Feature[], layer: number) => Promise<void>;

export const featuresFormatId = "features";

/** GeoJSON has no measures; all else that a layer may have is held unchanged. */
const capabilities = {
  crs: "any",
  layers: "many",
  geometryTypes: allGeometryTypes,
  onePointLines: true,
  nullGeometry: true,
  z: true,
  m: false,
  fieldTypes,
  ids: true,
  requiredScan: "nothing",
  supportsStreaming: false,
} as const;

/** The chunks are batches as plain data: features are made of them on the calling thread. */
const encoder: Encoder<BatchData> = { encode: (batch) => batch.toData() };

export function createFeaturesFormat(take: FeatureConsumer): Format {
  return defineFormat({
    apiVersion,
    id: featuresFormatId,
    label: "GeoJSON features",
    extensions: [featuresFormatId],
    identify: () => "no",
    writer: {
      options: {},
      capabilities: () => capabilities,
      load: async () => ({
        createEncoder: async () => encoder,
        async createAssembler(sink): Promise<Assembler<BatchData>> {
          // An output has a file: this one stays empty.
          await sink.create();
          return {
            append: (chunk, layer) => take([...new Batch(chunk).features()], layer),
            finish: async () => {},
          };
        },
      }),
    },
  });
}
