import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import gpx from "../../../plugins/gpx/index.js";
import { openGpx } from "../../../plugins/gpx/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Feature, Field, LayerInfo } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { readFeatures } from "../../support/read-layers.js";

export interface GpxReading {
  readonly context: RecordingContext;
  readonly layers: readonly (Pick<LayerInfo, "name" | "featureCount"> & {
    readonly fields: Readonly<Record<string, Field["type"]>>;
    readonly features: readonly Feature[];
  })[];
}

/** Reads a document, split by split, as the command line does with these options. */
export async function readGpx(
  document: string | Buffer,
  options: Record<string, string> = {},
  context = new RecordingContext(),
  splitSize = 1 << 22,
): Promise<GpxReading> {
  const folder = mkdtempSync(join(tmpdir(), "gpx-reading-"));
  try {
    const path = join(folder, "a.gpx");
    writeFileSync(path, document);
    const parsed = parseOptions("gpx", gpx.reader!.options, options) as Parameters<typeof openGpx>[1];
    await using dataset = await openGpx(FileSource.at(path, "a.gpx"), parsed, context, splitSize);
    const layers: GpxReading["layers"][number][] = [];
    for (const [index, { name, featureCount, fields }] of dataset.layers.entries()) {
      const types = Object.fromEntries(fields!.map((field) => [field.name, field.type]));
      layers.push({ name, featureCount, fields: types, features: await readFeatures(dataset, index) });
    }
    return { context, layers };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const gpxDocument = (content: string, attributes = 'xmlns="http://www.topografix.com/GPX/1/1"') =>
  `<?xml version="1.0"?>\n<gpx version="1.1" creator="x" ${attributes}>${content}</gpx>\n`;

/** Reads the features of a document with one layer. */
export async function featuresIn(document: string, options: Record<string, string> = {}): Promise<readonly Feature[]> {
  return (await readGpx(document, options)).layers[0]!.features;
}
