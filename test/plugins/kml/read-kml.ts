import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import kml from "../../../plugins/kml/index.js";
import type { Feature, Field } from "../../../src/model/index.js";
import type { Loss, Reject } from "../../../src/model/report.js";
import { readFile, TemporaryFolder } from "../../../src/testing/index.js";

export const scratch = new TemporaryFolder();

export const kmlDocument = (inner: string, attributes = 'xmlns="http://www.opengis.net/kml/2.2"'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<kml ${attributes} xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>${inner}</Document></kml>`;

export const placemarkXml = (inner: string): string => `<Placemark>${inner}</Placemark>`;

export interface ReadKml {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly features: readonly Feature[];
  readonly rejects: readonly Reject[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

let count = 0;

/** Reads the layers of a document, by splits. */
export async function readLayers(
  text: string | Buffer,
  options: Record<string, string> = {},
  skipErrors = false,
): Promise<ReadKml[]> {
  const path = scratch.path(`read/${count++}.kml`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const layers = await readFile(kml, path, { options, bySplits: true, skipErrors });
  return layers.map(({ info, batches, rejects, losses, notices }) => ({
    name: info.name,
    fields: info.fields ?? [],
    features: batches.flatMap((batch) => [...batch.features()]),
    rejects,
    losses,
    notices,
  }));
}

export async function read(text: string | Buffer, options: Record<string, string> = {}): Promise<ReadKml> {
  return (await readLayers(text, options))[0]!;
}

/** Reads the properties and geometry of a document with one feature. */
export async function readOne(inner: string, outside = ""): Promise<Feature> {
  const { features } = await read(kmlDocument(outside + placemarkXml(inner)));
  if (features.length !== 1) throw new Error(`${features.length} features`);
  return features[0]!;
}
