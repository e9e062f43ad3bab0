/** Shapefiles, written by @mapbox/shp-write. */
import { createRequire } from "node:module";
import { defineFormat } from "geoferry/plugin";

const { write } = createRequire(import.meta.url)("@mapbox/shp-write");

const shapeTypes = {
  Point: "POINT",
  LineString: "POLYLINE",
  MultiLineString: "POLYLINE",
  Polygon: "POLYGON",
  MultiPolygon: "POLYGON",
};

/** The library takes lines and rings as one list of parts. */
function partsOf({ type, coordinates }) {
  if (type === "LineString") return [coordinates];
  return type === "MultiPolygon" ? coordinates.flat() : coordinates;
}

/** @type {import("geoferry/plugin").WriterModule<{}, { features: object[] }>} */
const writer = {
  createEncoder: async () => ({ encode: (batch) => ({ features: [...batch.features()] }) }),
  async createAssembler(sink, [layer], _options, context) {
    const features = [];
    return {
      append: async (chunk) => void features.push(...chunk.features),
      async finish() {
        const geometries = features.map(({ geometry }) => geometry);
        const type = shapeTypes[geometries[0]?.type ?? "Point"];
        const rows = features.map(({ properties }) => properties);
        const files = await new Promise((resolve, reject) =>
          write(rows, type, geometries.map(partsOf), (error, found) => (error ? reject(error) : resolve(found))),
        );
        const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        await (await sink.create()).write(bytes(files.shp));
        await (await sink.create("shx")).write(bytes(files.shx));
        await (await sink.create("dbf")).write(bytes(files.dbf));
        const wkt = layer.crs && (await context.crs.toWkt(layer.crs, "esri"));
        if (wkt) await (await sink.create("prj")).write(Buffer.from(wkt));
      },
    };
  },
};

export default defineFormat({
  apiVersion: 1,
  id: "shp-write",
  label: "Shapefile, written by @mapbox/shp-write",
  extensions: ["shp"],
  companionExtensions: ["shx", "dbf", "prj"],
  identify: () => "no",
  writer: {
    options: {},
    capabilities: () => ({
      crs: "any",
      layers: "one",
      geometryTypes: Object.keys(shapeTypes),
      families: [
        { suffix: "point", types: ["Point"] },
        { suffix: "line", types: ["LineString", "MultiLineString"] },
        { suffix: "polygon", types: ["Polygon", "MultiPolygon"] },
      ],
      nullGeometry: false,
      z: false,
      m: false,
      fieldTypes: ["boolean", "int32", "double", "text"],
      fieldNames: { maxBytes: 10, ignoreCase: true },
      ids: "fid",
      requiredScan: "summary",
      supportsStreaming: false,
    }),
    load: async () => writer,
  },
});
