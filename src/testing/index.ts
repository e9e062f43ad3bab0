/** The conformance kit for plugins, and what it is made of: `import { checkFormat } from "geoferry/testing"`. */
export { checkFormat } from "./check-format.js";
export { assertSameBut, assertSameReading, type Exactness, saysTheSame } from "./compare.js";
export { contentsOf, FolderSink, fingerprint, Scratch } from "./folder.js";
export { Random } from "./random.js";
export { batchesOf, countOf, openFile, type ReadLayer, type ReadOptions, readFile } from "./read-all.js";
export { Recording } from "./recording.js";
export { type Dimensions, GeometrySampler } from "./sample-geometries.js";
export { inBatches, type SampleLayer, sampleBatch } from "./sample-layer.js";
export { edgeNames, edgeValues, longTexts, nonFinite } from "./sample-values.js";
export type { CheckOptions, Sample } from "./subject.js";
export { SourceWatch } from "./watched-source.js";
export { assertWellFormed } from "./well-formed.js";
export {
  fittedBatches,
  type OpenWriter,
  openWriter,
  planTargets,
  type Target,
  type WriteOptions,
  type WrittenFile,
  writeFile,
  writeLayers,
} from "./write-all.js";
