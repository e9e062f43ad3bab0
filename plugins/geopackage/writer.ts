import type { Assembler, Sink, TargetLayer, WriteContext } from "../../src/plugin/index.js";
import type { WriteOptions } from "./schema/layer-design.js";
import type { GeoPackageChunk } from "./write/encoder.js";
import { ExistingFileWriter } from "./write/existing-file.js";
import { NewFileWriter } from "./write/new-file.js";

export { createEncoder } from "./write/encoder.js";

/** @throws unsupported, crs-not-writable, output-failed, output-locked */
export function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<GeoPackageChunk>> {
  return sink.inPlaceTarget
    ? ExistingFileWriter.open(sink, sink.inPlaceTarget, layers, options, context)
    : NewFileWriter.create(sink, layers, options, context);
}
