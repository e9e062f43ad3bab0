import tcx from "../../../plugins/tcx/index.js";
import { openTcx } from "../../../plugins/tcx/reader.js";
import type { Feature } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { type ReadLayer, readDocument } from "../../support/read-document.js";

export interface TcxReading {
  readonly context: RecordingContext;
  readonly layers: readonly ReadLayer[];
}

/** Reads a document, split by split, as the command line does with these options. */
export async function readTcx(
  document: string | Buffer,
  options: Record<string, string> = {},
  context = new RecordingContext(),
  splitSize = 1 << 22,
): Promise<TcxReading> {
  const parsed = parseOptions("tcx", tcx.reader!.options, options) as Parameters<typeof openTcx>[1];
  const layers = await readDocument(document, "a.tcx", (source) => openTcx(source, parsed, context, splitSize));
  return { context, layers };
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
