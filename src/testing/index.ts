/** The conformance kit for plugins, and what it is made of: `import { checkFormat } from "geoferry/testing"`. */
export { checkFormat } from "./check-format.js";
export type { CheckOptions, Sample } from "./check-subject.js";
export {
  areEquivalent,
  assertOnlyReportedChanges,
  assertSameBatches,
  type ComparisonRules,
} from "./compare-batches.js";
export { Random } from "./random.js";
export { countOf, type LayerContent, layerBatches, openDataset, type ReadFileOptions, readFile } from "./read-file.js";
export { RecordingContext } from "./recording-context.js";
export { type Dimensions, GeometrySampler } from "./sample-geometries.js";
export { type SampleLayer, sampleBatch, splitIntoBatches } from "./sample-layer.js";
export { edgeFieldNames, edgeValues, longTexts, nonFinite } from "./sample-values.js";
export { folderContents, folderFingerprint, TemporaryFolder, TestFolderSink } from "./temporary-folder.js";
export { SourceMonitor } from "./watched-source.js";
export { assertWellFormed } from "./well-formed.js";
export {
  type FittedTarget,
  fittedBatches,
  type OpenWriter,
  openWriter,
  planTargets,
  type WriteFileOptions,
  type WrittenFile,
  writeFile,
  writeLayers,
} from "./write-file.js";
