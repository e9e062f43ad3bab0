import gpx from "../../../plugins/gpx/index.js";
import { openGpx } from "../../../plugins/gpx/reader.js";
import type { Feature } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { type ReadLayer, readDocument } from "../../support/read-document.js";

export interface GpxReading {
  readonly context: RecordingContext;
  readonly layers: readonly ReadLayer[];
}

/** Reads a document, split by split, as the command line does with these options. */
export async function readGpx(
  document: string | Buffer,
  options: Record<string, string> = {},
  context = new RecordingContext(),
  splitSize = 1 << 22,
): Promise<GpxReading> {
  const parsed = parseOptions("gpx", gpx.reader!.options, options) as Parameters<typeof openGpx>[1];
  const layers = await readDocument(document, "a.gpx", (source) => openGpx(source, parsed, context, splitSize));
  return { context, layers };
}

export const gpxDocument = (content: string, attributes = 'xmlns="http://www.topografix.com/GPX/1/1"') =>
  `<?xml version="1.0"?>\n<gpx version="1.1" creator="x" ${attributes}>${content}</gpx>\n`;

/** Reads the features of a document with one layer. */
export async function featuresIn(document: string, options: Record<string, string> = {}): Promise<readonly Feature[]> {
  return (await readGpx(document, options)).layers[0]!.features;
}
