import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSource } from "../../src/io/input/source.js";
import type { Dataset, Feature, Field, LayerInfo } from "../../src/model/index.js";
import type { Source } from "../../src/plugin/format.js";
import { readFeatures } from "./read-layers.js";

export type ReadLayer = Pick<LayerInfo, "name" | "featureCount"> & {
  readonly fields: Readonly<Record<string, Field["type"]>>;
  readonly features: readonly Feature[];
};

/** Reads all layers of a document, split by split, from a file of this name. */
export async function readDocument(
  document: string | Buffer,
  name: string,
  open: (source: Source) => Promise<Dataset>,
): Promise<readonly ReadLayer[]> {
  const folder = mkdtempSync(join(tmpdir(), "document-"));
  try {
    const path = join(folder, name);
    writeFileSync(path, document);
    await using dataset = await open(FileSource.at(path, name));
    const layers: ReadLayer[] = [];
    for (const [index, layer] of dataset.layers.entries()) {
      const fields = Object.fromEntries(layer.fields!.map((field) => [field.name, field.type]));
      const { featureCount } = layer;
      layers.push({ name: layer.name, featureCount, fields, features: await readFeatures(dataset, index) });
    }
    return layers;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
