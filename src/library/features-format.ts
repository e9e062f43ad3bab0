/** A format whose output is features in memory, so that the pipeline can pass them to a program. */
import { Batch, type BatchData, type Feature } from "../model/batch.js";
import { type Assembler, apiVersion, defineFormat, type Encoder, type Format } from "../plugin/format.js";
import { unlimitedCapabilities } from "../plugin/unlimited-capabilities.js";

/** Receives features in order; the next ones follow when the promise resolves. @param layer index from 0 */
export type FeatureConsumer = (features: readonly Feature[], layer: number) => Promise<void>;

export const featuresFormatId = "features";

/** GeoJSON has no measures; everything else is kept. */
const capabilities = { ...unlimitedCapabilities, m: false } as const;

/** Chunks are batches as plain data, from which the calling thread creates features. */
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
          // Every output needs a file; this one stays empty.
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
