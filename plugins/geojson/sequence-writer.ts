import type { Assembler, Encoder, Sink, TargetLayer, WriteContext } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import type { sequenceWriteOptions } from "./options.js";
import { type FeatureChunk, FeatureEncoder } from "./write/encoder.js";
import { featureSettings } from "./write/feature-settings.js";

type Options = OptionValues<typeof sequenceWriteOptions>;

/** Writes one feature per line, optionally after a record separator (RFC 8142, section 2). */
export async function createEncoder(
  layer: TargetLayer,
  options: Options,
  context: WriteContext,
): Promise<Encoder<FeatureChunk>> {
  const settings = {
    ...featureSettings(layer, options),
    before: options.rs ? "\x1e" : "",
    after: "\n",
    fileBounds: false,
    featureBounds: options.bbox === "features",
  };
  return new FeatureEncoder(settings, context);
}

export async function createAssembler(sink: Sink): Promise<Assembler<FeatureChunk>> {
  const file = await sink.create();
  return {
    append: (chunk) => file.write(chunk.bytes),
    async finish() {
      // Readers reject an empty file as truncated; a blank line means that there is no feature.
      if (file.size === 0) await file.write(Buffer.from("\n"));
    },
  };
}

export { readBack } from "./write/read-back.js";
