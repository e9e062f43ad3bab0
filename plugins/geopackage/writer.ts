import type { Assembler, ReadBack, Sink, TargetLayer, WriteContext } from "../../src/plugin/index.js";
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

/** Rows come back in the order of their ids. */
export const readBack = (layers: readonly TargetLayer[]): ReadBack => ({
  order: layers.some(({ summary }) => summary?.idType !== null) ? "any" : "written",
});
