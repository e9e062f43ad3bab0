import { readFileSync } from "node:fs";
import { geojson, geojsonseq } from "../../../plugins/geojson/index.js";
import * as sequence from "../../../plugins/geojson/write/sequence-writer.js";
import * as whole from "../../../plugins/geojson/write/writer.js";
import { type Batch, type Crs, type Feature, packFeatures } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { PlainSink, RecordingContext, type TemporaryFolder } from "../../support/read-layers.js";

export interface GeoJsonWriting {
  readonly text: string;
  readonly context: RecordingContext;
}

type Options = Record<string, string>;

/** What the writer makes of these batches, each encoded by an encoder of its own. */
export async function writeBatches(
  scratch: TemporaryFolder,
  batches: readonly Batch[],
  options: Options = {},
  lines = false,
  crs?: Crs | null,
): Promise<GeoJsonWriting> {
  const context = new RecordingContext();
  const layer = { name: "places", crs: crs === undefined ? context.crs.wgs84 : crs, fields: null, summary: null };
  const sink = new PlainSink(scratch.path("out.geojson"));
  if (lines) {
    const values = parseOptions("geojsonseq", geojsonseq.writer!.options, options);
    const assembler = await sequence.createAssembler(sink);
    for (const batch of batches) {
      await assembler.append((await sequence.createEncoder(layer, values, context)).encode(batch), 0);
    }
    await assembler.finish();
  } else {
    const values = parseOptions("geojson", geojson.writer!.options, options);
    const assembler = await whole.createAssembler(sink, [layer], values);
    for (const batch of batches) {
      await assembler.append((await whole.createEncoder(layer, values, context)).encode(batch), 0);
    }
    await assembler.finish();
  }
  await sink.close();
  return { text: readFileSync(scratch.path("out.geojson"), "utf8"), context };
}

export function write(
  scratch: TemporaryFolder,
  features: unknown[],
  options: Options = {},
  lines = false,
): Promise<GeoJsonWriting> {
  return writeBatches(scratch, [packFeatures(features as Feature[], 1)], options, lines);
}
