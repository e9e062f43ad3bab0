import { writeFileSync } from "node:fs";
import topojson from "../../../plugins/topojson/index.js";
import { open } from "../../../plugins/topojson/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Batch, Feature, FieldType } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { readFeatures, type TemporaryFolder } from "../../support/read-layers.js";

export interface TopologyReading {
  readonly context: RecordingContext;
  readonly layers: Readonly<Record<string, readonly Feature[]>>;
  /** The types of the fields of the first batch of each layer. */
  readonly types: Readonly<Record<string, Readonly<Record<string, FieldType>>>>;
}

/** Reads a topology: an object, or its text. */
export async function readTopology(
  scratch: TemporaryFolder,
  document: unknown,
  options: Record<string, string> = {},
): Promise<TopologyReading> {
  const path = scratch.path("a.topojson");
  const isWritten = typeof document === "string" || Buffer.isBuffer(document);
  writeFileSync(path, isWritten ? document : JSON.stringify(document));
  const context = new RecordingContext();
  const parsed = parseOptions("topojson", topojson.reader!.options, options) as Parameters<typeof open>[1];
  await using dataset = await open(FileSource.at(path, "a.topojson"), parsed, context);
  const layers: Record<string, readonly Feature[]> = {};
  for (const [index, layer] of dataset.layers.entries()) layers[layer.name] = await readFeatures(dataset, index);
  // A context of its own, so that nothing is recorded twice.
  await using again = await open(FileSource.at(path, "a.topojson"), parsed, new RecordingContext());
  const types: Record<string, Record<string, FieldType>> = {};
  for (const layer of again.layers) {
    for await (const batch of layer.batches()) {
      const { fields } = batch as Batch;
      types[layer.name] ??= Object.fromEntries(fields.map(({ name, type }) => [name, type]));
    }
  }
  return { context, layers, types };
}

/** A topology with one object `a`. */
export const topologyOf = (geometries: readonly unknown[], arcs: readonly unknown[] = [], rest: object = {}) => ({
  type: "Topology",
  objects: { a: { type: "GeometryCollection", geometries } },
  arcs,
  ...rest,
});
