/** GPX, KML and TCX, read by @tmcw/togeojson. */
import { readFile } from "node:fs/promises";
import { gpxGen, kmlGen, tcxGen } from "@tmcw/togeojson";
import { DOMParser, onErrorStopParsing } from "@xmldom/xmldom";
import { createError, defineFormat } from "geoferry/plugin";

const batchSize = 1000;

function parseXml(text, source) {
  try {
    return new DOMParser({ onError: onErrorStopParsing }).parseFromString(text, "text/xml");
  } catch (error) {
    const place = error.locator ? { line: error.locator.lineNumber } : {};
    throw createError("input-corrupt", { source, place, reason: error.message }, error);
  }
}

const reader = (features) => ({
  options: {},
  load: async () => ({
    async open(source, _options, context) {
      const document = parseXml(await readFile(source.path, "utf8"), source.name);
      async function* batches() {
        const all = [...features(document)].filter(({ type }) => type === "Feature");
        for (let at = 0; at < all.length; at += batchSize) yield all.slice(at, at + batchSize);
      }
      const unknown = { fields: null, geometryTypes: null, featureCount: null, extent: null };
      const layer = { name: "document", crs: context.crs.wgs84, ...unknown, bytes: source.size, batches };
      return { layers: [layer], async [Symbol.asyncDispose]() {} };
    },
  }),
});

const format = (id, label, extension, identify, features) =>
  defineFormat({ apiVersion: 1, id, label, extensions: [extension], identify, reader: reader(features) });

// Only with --from, since geoferry has readers of its own.
export default [
  format("togeojson-tcx", "TCX, read by @tmcw/togeojson", "tcx", () => "no", tcxGen),
  format("togeojson-gpx", "GPX, read by @tmcw/togeojson", "gpx", () => "no", gpxGen),
  format("togeojson-kml", "KML, read by @tmcw/togeojson", "kml", () => "no", kmlGen),
];
