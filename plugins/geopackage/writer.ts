import type { Assembler, Sink, TargetLayer, WriteContext } from "../../src/plugin/index.js";
import type { GeoPackageChunk } from "./encoder.js";
import { ExistingFile } from "./existing-file.js";
import type { WriteOptions } from "./layer-design.js";
import { NewFile } from "./new-file.js";

export { encoder } from "./encoder.js";

/** @throws unsupported, crs-not-writable, output-failed, output-locked */
export function assembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: WriteOptions,
  context: WriteContext,
): Promise<Assembler<GeoPackageChunk>> {
  return sink.update
    ? ExistingFile.open(sink, sink.update, layers, options, context)
    : NewFile.create(sink, layers, options, context);
}
