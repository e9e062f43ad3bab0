import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tcx from "../../../plugins/tcx/index.js";
import { openTcx } from "../../../plugins/tcx/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Feature, Field, LayerInfo } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { readFeatures } from "../../support/read-layers.js";

export interface TcxReading {
  readonly context: RecordingContext;
  readonly layers: readonly (Pick<LayerInfo, "name" | "featureCount"> & {
    readonly fields: Readonly<Record<string, Field["type"]>>;
    readonly features: readonly Feature[];
  })[];
}

/** Reads a document, split by split, as the command line does with these options. */
export async function readTcx(
  document: string | Buffer,
  options: Record<string, string> = {},
  context = new RecordingContext(),
  splitSize = 1 << 22,
): Promise<TcxReading> {
  const folder = mkdtempSync(join(tmpdir(), "tcx-reading-"));
  try {
    const path = join(folder, "a.tcx");
    writeFileSync(path, document);
    const parsed = parseOptions("tcx", tcx.reader!.options, options) as Parameters<typeof openTcx>[1];
    await using dataset = await openTcx(FileSource.at(path, "a.tcx"), parsed, context, splitSize);
    const layers: TcxReading["layers"][number][] = [];
    for (const [index, { name, featureCount, fields }] of dataset.layers.entries()) {
      const types = Object.fromEntries(fields!.map((field) => [field.name, field.type]));
      layers.push({ name, featureCount, fields: types, features: await readFeatures(dataset, index) });
    }
    return { context, layers };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const garminNamespace = "http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2";

export const tcxDocument = (content: string, attributes = `xmlns="${garminNamespace}"`) =>
  `<?xml version="1.0"?>\n<TrainingCenterDatabase ${attributes}>${content}</TrainingCenterDatabase>\n`;

/** Laps in an activity. */
export const activity = (laps: string, rest = "") =>
  `<Activities><Activity Sport="Running"><Id>2026-05-01T08:00:00Z</Id>${laps}${rest}</Activity></Activities>`;

export const lap = (content: string) => `<Lap StartTime="2026-05-01T08:00:00Z">${content}</Lap>`;

/** A trackpoint; without a latitude it has no position. */
export const point = (longitude: number | string | null, latitude: number | string | null, values = "") =>
  `<Trackpoint>${latitude === null ? "" : `<Position><LatitudeDegrees>${latitude}</LatitudeDegrees><LongitudeDegrees>${longitude}</LongitudeDegrees></Position>`}${values}</Trackpoint>`;

/** Reads the features of a document with one layer. */
export async function featuresIn(document: string, options: Record<string, string> = {}): Promise<readonly Feature[]> {
  return (await readTcx(document, options)).layers[0]!.features;
}
