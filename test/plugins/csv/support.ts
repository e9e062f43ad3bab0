import { writeFileSync } from "node:fs";
import { readerOptions } from "../../../plugins/csv/options.js";
import { open } from "../../../plugins/csv/reader.js";
import { FileSource } from "../../../src/io/source.js";
import type { Feature, Field, LayerInfo } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { batchesOf, Recording, type Scratch } from "../../support/recording.js";

export interface Read {
  readonly features: Feature[];
  readonly fields: readonly Field[];
  readonly layer: LayerInfo;
  readonly recording: Recording;
}

/** Reads a file with options as a person writes them; `length` is the size of splits. */
export async function readFile(
  path: string,
  options: Readonly<Record<string, string>> = {},
  { length, skipErrors = false }: { readonly length?: number; readonly skipErrors?: boolean } = {},
): Promise<Read> {
  const recording = new Recording(skipErrors);
  const dataset = await open(FileSource.at(path), parseOptions("csv", readerOptions, options), recording, length);
  try {
    const layer = dataset.layers[0]!;
    const features: Feature[] = [];
    for await (const batch of batchesOf(layer, false)) features.push(...batch.features());
    return { features, fields: layer.fields!, layer, recording };
  } finally {
    await dataset[Symbol.asyncDispose]();
  }
}

/** Reads text or bytes by way of a file. */
export async function readText(
  scratch: Scratch,
  content: string | Uint8Array,
  options: Readonly<Record<string, string>> = {},
  more: { readonly length?: number; readonly skipErrors?: boolean; readonly name?: string } = {},
): Promise<Read> {
  const path = scratch.path(more.name ?? "t.csv");
  writeFileSync(path, content);
  return readFile(path, options, more);
}

export const properties = (read: Read) => read.features.map((feature) => feature.properties);
export const geometries = (read: Read) => read.features.map((feature) => feature.geometry);
export const types = (read: Read) => Object.fromEntries(read.fields.map((field) => [field.name, field.type]));
