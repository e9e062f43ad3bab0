/** Esri JSON files by hand, and what the plugin reads in them. */
import { writeFileSync } from "node:fs";
import { esrijson } from "../../../plugins/arcgis/index.js";
import type { Feature } from "../../../src/model/index.js";
import { type LayerContent, type ReadFileOptions, readFile } from "../../../src/testing/index.js";
import type { TemporaryFolder } from "../../support/read-layers.js";

/** Writes a feature set: text as it is, or an object as JSON. */
export function writeFeatureSet(scratch: TemporaryFolder, content: object | string, name = "set.json"): string {
  const path = scratch.path(name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** A feature set of geometries without attributes. */
export const geometrySet = (geometries: readonly unknown[], members: object = {}): object => ({
  spatialReference: { wkid: 4326 },
  fields: [{ name: "n", type: "esriFieldTypeInteger" }],
  ...members,
  features: geometries.map((geometry, n) => ({ attributes: { n }, geometry })),
});

export async function readSet(path: string, options: ReadFileOptions = {}): Promise<LayerContent> {
  const [layer] = await readFile(esrijson, path, options);
  return layer!;
}

export const featuresOf = ({ batches }: LayerContent): Feature[] => batches.flatMap((batch) => [...batch.features()]);
