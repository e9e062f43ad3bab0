/** FIT activities, read by fit-file-parser: a line for each lap, with the values of its records. */
import { readFile } from "node:fs/promises";
import FitParser from "fit-file-parser";
import { createError, defineFormat } from "geoferry/plugin";

const arrays = { timestamp: "times", heart_rate: "heart", cadence: "cads", speed: "speeds" };
const readMessages = ["file_id", "activity", "session", "lap", "record"];

function featureOf({ records, lengths, ...lap }, sport, context) {
  const hasPlace = (record) => record.position_lat !== undefined && record.position_long !== undefined;
  const coordinates = records.filter(hasPlace).map((r) => {
    const height = r.altitude ?? r.enhanced_altitude;
    return [r.position_long, r.position_lat, ...(height === undefined ? [] : [height])];
  });
  // Without any position, as in a hall, the values stay without a geometry.
  const kept = coordinates.length > 0 ? records.filter(hasPlace) : records;
  if (kept.length < records.length)
    context.reportLoss("point-without-place", undefined, "a record without position", records.length - kept.length);
  const names = new Set(kept.flatMap((record) => Object.keys(record).filter((name) => !/^position_/.test(name))));
  const values = [...names].map((name) => [arrays[name] ?? name, kept.map((record) => record[name] ?? null)]);
  const shape =
    coordinates.length > 1 ? { type: "LineString", coordinates } : { type: "Point", coordinates: coordinates[0] };
  const geometry = coordinates.length > 0 ? shape : null;
  const properties = { sport, ...lap, coordinateProperties: Object.fromEntries(values) };
  return { type: "Feature", geometry, properties: JSON.parse(JSON.stringify(properties)) };
}

async function open(source, _options, context) {
  const parser = new FitParser({ mode: "cascade", force: false });
  const bytes = await readFile(source.path);
  const { activity, messages } = await parser.parseAsync(bytes).catch((error) => {
    throw createError("input-corrupt", { source: source.name, place: {}, reason: String(error) }, error);
  });
  const laps = (activity?.sessions ?? []).flatMap(({ sport, laps }) => laps.map((lap) => ({ sport, lap })));
  async function* batches() {
    yield laps.map(({ lap, sport }) => featureOf(lap, sport, context));
    for (const [name, list] of Object.entries(messages))
      if (!readMessages.includes(name)) context.reportLoss("message-left-out", name, "not part of a lap", list.length);
    const stray = (messages.record ?? []).length - laps.reduce((sum, { lap }) => sum + lap.records.length, 0);
    if (stray > 0) context.reportLoss("message-left-out", "record", "a record outside of all laps", stray);
  }
  const unknown = { fields: null, geometryTypes: null, featureCount: null, extent: null };
  const layer = { name: "laps", crs: context.crs.wgs84, ...unknown, bytes: source.size, batches };
  return { layers: [layer], async [Symbol.asyncDispose]() {} };
}

export default defineFormat({
  apiVersion: 1,
  id: "fit",
  label: "Flexible and Interoperable Data Transfer (FIT)",
  extensions: ["fit"],
  identify: (head) => (head.toString("latin1", 8, 12) === ".FIT" ? "yes" : "no"),
  reader: { options: {}, load: async () => ({ open }) },
});
