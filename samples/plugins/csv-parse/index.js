/** CSV with a header row and two columns of coordinates, read by csv-parse. */
import { createReadStream } from "node:fs";
import { parse } from "csv-parse";
import { createError, defineFormat } from "geoferry/plugin";

const batchSize = 1000;

/** @type {import("geoferry/plugin").ReaderModule<{ x: string, y: string }>["open"]} */
async function open(source, { x, y }, context) {
  async function* batches() {
    const records = createReadStream(source.path).pipe(parse({ columns: true, bom: true, skip_empty_lines: true }));
    let batch = [];
    try {
      for await (const { [x]: east = "", [y]: north = "", ...properties } of records) {
        const coordinates = [Number.parseFloat(east), Number.parseFloat(north)];
        const geometry = coordinates.every(Number.isFinite) ? { type: "Point", coordinates } : null;
        batch.push({ type: "Feature", geometry, properties });
        if (batch.length < batchSize) continue;
        context.signal.throwIfAborted();
        yield batch;
        batch = [];
      }
    } catch (error) {
      if (!error.code?.startsWith("CSV_")) throw error;
      throw createError("input-corrupt", { source: source.name, place: { line: error.lines }, reason: error.message });
    }
    yield batch;
  }
  const unknown = { fields: null, geometryTypes: null, featureCount: null, extent: null };
  const layer = { name: "table", crs: context.crs.wgs84, ...unknown, bytes: source.size, batches };
  return { layers: [layer], async [Symbol.asyncDispose]() {} };
}

export default defineFormat({
  apiVersion: 1,
  id: "csv-parse",
  label: "CSV, read by csv-parse",
  extensions: ["csv"],
  // Only with --from csv-parse, since geoferry has a reader of its own.
  identify: () => "no",
  reader: {
    options: {
      x: { type: "text", default: "lon", help: "Column of the longitude" },
      y: { type: "text", default: "lat", help: "Column of the latitude" },
    },
    load: async () => ({ open }),
  },
});
