import { writeFileSync } from "node:fs";
import { readOptions } from "../../../plugins/csv/options.js";
import { open } from "../../../plugins/csv/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Crs, Feature, Field, Layer } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext, readBatches, type TemporaryFolder } from "../../support/read-layers.js";

export interface Read {
  readonly features: Feature[];
  readonly fields: readonly Field[];
  readonly layer: Layer;
  readonly recording: RecordingContext;
}

interface More {
  readonly length?: number;
  readonly skipErrors?: boolean;
  /** What `--source-crs` says. */
  readonly stated?: Crs | null;
  /** `--swap-xy`. */
  readonly swapXy?: boolean;
}

/** Reads a file with options as a person writes them; `length` is the size of splits. */
export async function readFile(
  path: string,
  options: Readonly<Record<string, string>> = {},
  { length, skipErrors = false, stated = null, swapXy = false }: More = {},
): Promise<Read> {
  const recording = new RecordingContext(skipErrors);
  recording.requestedCrs = stated;
  recording.swapsXy = swapXy;
  const dataset = await open(FileSource.at(path), parseOptions("csv", readOptions, options), recording, length);
  try {
    const layer = dataset.layers[0]!;
    const features: Feature[] = [];
    for await (const batch of readBatches(layer, false)) features.push(...batch.features());
    return { features, fields: layer.fields!, layer, recording };
  } finally {
    await dataset[Symbol.asyncDispose]();
  }
}

/** Reads text or bytes by way of a file. */
export async function readText(
  scratch: TemporaryFolder,
  content: string | Uint8Array,
  options: Readonly<Record<string, string>> = {},
  more: More & { readonly name?: string } = {},
): Promise<Read> {
  const path = scratch.path(more.name ?? "t.csv");
  writeFileSync(path, content);
  return readFile(path, options, more);
}

export const properties = (read: Read) => read.features.map((feature) => feature.properties);
export const geometries = (read: Read) => read.features.map((feature) => feature.geometry);
export const types = (read: Read) => Object.fromEntries(read.fields.map((field) => [field.name, field.type]));
