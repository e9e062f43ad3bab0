/** QGIS reads the same Koop server with its own provider: ids, values and positions must be those of geoferry. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { arcgis } from "../../../plugins/arcgis/index.js";
import { AddressSource } from "../../../src/io/input/source.js";
import type { Geometry } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext, readFeatures, TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer } from "../../support/servers/answering-server.js";
import { type KoopFeature, KoopServer } from "../../support/servers/koop.js";

/** Python with the modules of QGIS: that of Debian's python3-qgis, or one that a variable names. */
const qgisPython = process.env.GEOFERRY_QGIS_PYTHON ?? "/usr/bin/python3";
const hasQgis = spawnSync(qgisPython, ["-c", "import qgis.core"], { stdio: "ignore" }).status === 0;
if (!hasQgis) {
  if (process.env.CI) throw new Error("python3-qgis is missing, and CI must not leave its tests out");
  console.warn("NOT TESTED: QGIS as a second reader of ArcGIS services, which needs python3-qgis");
}

const program = `
import json, os, sys
from qgis.core import NULL, QgsApplication, QgsVectorLayer, QgsWkbTypes
app = QgsApplication([], False)
app.initQgis()
layer = QgsVectorLayer("crs='EPSG:4326' url='" + sys.argv[1] + "'", "layer", "arcgisfeatureserver")
def value(v):
    if v is None or v == NULL: return None
    return v.toUTC().toMSecsSinceEpoch() if hasattr(v, "toMSecsSinceEpoch") else v
def numbers(item):
    return [item.x(), item.y()] if hasattr(item, "x") else [numbers(each) for each in item]
# With all digits, which the texts of QGIS do not have.
def geojson(geometry):
    if geometry.isNull(): return None
    geometry.convertToMultiType()
    kind = QgsWkbTypes.geometryType(geometry.wkbType())
    if kind == QgsWkbTypes.PointGeometry: return {"type": "MultiPoint", "coordinates": numbers(geometry.asMultiPoint())}
    if kind == QgsWkbTypes.LineGeometry: return {"type": "MultiLineString", "coordinates": numbers(geometry.asMultiPolyline())}
    return {"type": "MultiPolygon", "coordinates": numbers(geometry.asMultiPolygon())}
features = []
for feature in layer.getFeatures():
    values = {field.name(): value(feature[field.name()]) for field in layer.fields()}
    features.append({"values": values, "geometry": geojson(feature.geometry())})
print(json.dumps({"valid": layer.isValid(), "error": layer.error().message(), "count": layer.featureCount(),
  "crs": layer.crs().authid(), "types": {f.name(): f.typeName() for f in layer.fields()}, "features": features}))
sys.stdout.flush()
os._exit(0)
`;

interface QgisLayer {
  readonly valid: boolean;
  readonly error: string;
  readonly count: number;
  readonly crs: string;
  readonly types: Record<string, string>;
  readonly features: readonly { readonly values: Record<string, unknown>; readonly geometry: Geometry | null }[];
}

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** The server runs in this process, so that it must not wait for the program. */
async function readWithQgis(address: string): Promise<QgisLayer> {
  // QGIS keeps responses in its home.
  const home = mkdtempSync(scratch.path("home-"));
  const child = spawn(qgisPython, ["-c", program, address], {
    env: {
      ...{ ...process.env, QT_QPA_PLATFORM: "offscreen", XDG_RUNTIME_DIR: scratch.path("."), HOME: home },
      PYTHONDONTWRITEBYTECODE: "1",
    },
  });
  const text = { out: "", error: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text.error += chunk.toString();
  });
  const [status] = (await once(child, "close")) as [number];
  expect(status, text.error).toBe(0);
  return JSON.parse(text.out.trim().split("\n").at(-1)!) as QgisLayer;
}

async function readWithGeoferry(address: string) {
  const context = new RecordingContext();
  const reader = await arcgis.reader!.load();
  const options = parseOptions("arcgis", arcgis.reader!.options, {}) as never;
  const dataset = await reader.open(new AddressSource(address), options, context);
  try {
    const [layer] = dataset.layers;
    return { crs: layer!.crs?.id, fields: layer!.fields!, features: await readFeatures(dataset) };
  } finally {
    await dataset[Symbol.asyncDispose]();
  }
}

const count = 2500;
const ring = (x: number, y: number, size: number, isHole = false) => {
  const corners = [
    [x, y],
    [x + size, y],
    [x + size, y + size],
    [x, y + size],
    [x, y],
  ];
  return isHole ? corners.reverse() : corners;
};
const kinds: Record<string, (n: number) => Geometry | null> = {
  points: (n) => ({ type: "Point", coordinates: [10 + (n % 500) / 97, 50 + n / 1013] }),
  lines: (n) => ({
    type: "LineString",
    coordinates: [
      [10 + n / 1013, 50],
      [10 + n / 997, 50.25],
      [10.5, 50 + n / 991],
    ],
  }),
  polygons: (n) => ({
    type: "Polygon",
    coordinates: [ring(10 + n / 1013, 50, 0.01), ring(10 + n / 1013 + 0.0025, 50.0025, 0.005, true)],
  }),
};
const featuresOf = (kind: string): KoopFeature[] =>
  Array.from({ length: count }, (_, n) => ({
    type: "Feature",
    properties: {
      ...{ id: n + 1, name: n % 11 === 0 ? null : `Straße ${n} "’`, height: n / 7, floors: n % 40 },
      seen: new Date(1.7e12 + n * 86_400_000).toISOString(),
    },
    geometry: kinds[kind]!(n),
  }));

/** A geometry as parts, since QGIS makes multi types of lines and polygons, with rings from the same corner in the same direction. */
function normalize(geometry: Geometry | null): unknown {
  if (geometry === null || geometry.type === "GeometryCollection") return geometry;
  const { type, coordinates } = geometry;
  const parts = (type.startsWith("Multi") ? coordinates : [coordinates]) as unknown;
  if (!type.endsWith("Polygon")) return [type.replace(/^Multi/, ""), parts];
  const rings = (parts as number[][][][]).map((polygon) => polygon.map(normalizeRing));
  return ["Polygon", rings];
}
function normalizeRing(closed: number[][]): number[][] {
  const open = closed.slice(0, -1);
  let area = 0;
  for (let k = 0; k < closed.length - 1; k++)
    area += closed[k]![0]! * closed[k + 1]![1]! - closed[k + 1]![0]! * closed[k]![1]!;
  if (area < 0) open.reverse();
  const least = open.reduce((a, b) => (a[0]! < b[0]! || (a[0] === b[0] && a[1]! <= b[1]!) ? a : b));
  const at = open.indexOf(least);
  return [...open.slice(at), ...open.slice(0, at)];
}

const byId = <T extends { id: unknown }>(rows: T[]): T[] => rows.sort((a, b) => Number(a.id) - Number(b.id));

/** The rows that both readers found, in one form. */
async function readBoth(address: string) {
  const [qgis, own] = [await readWithQgis(address), await readWithGeoferry(address)];
  expect([qgis.valid, qgis.error]).toEqual([true, expect.any(String)]);
  const isDate = new Set(own.fields.filter(({ type }) => type === "datetime").map(({ name }) => name));
  const ownRows = own.features.map(({ properties, geometry }) => {
    const values = Object.entries(properties).map(([name, value]) => [
      name,
      isDate.has(name) && typeof value === "string"
        ? Date.parse(value)
        : typeof value === "bigint"
          ? Number(value)
          : value,
    ]);
    return { ...(Object.fromEntries(values) as { id: unknown }), geometry: normalize(geometry) };
  });
  const qgisRows = qgis.features.map(({ values, geometry }) => ({
    ...(values as { id: unknown }),
    geometry: normalize(geometry),
  }));
  return { qgis, own, rows: { qgis: byId(qgisRows), own: byId(ownRows) } };
}

describe.skipIf(!hasQgis)("QGIS's provider for ArcGIS services", { timeout: 120_000 }, () => {
  let koop: KoopServer;
  beforeAll(async () => {
    koop = await KoopServer.start([]);
  });
  afterAll(() => koop?.close());

  it.each(Object.keys(kinds))("reads the same features: %s", async (kind) => {
    koop.features = featuresOf(kind);
    const { qgis, own, rows } = await readBoth(`${koop.service}/0`);
    expect(rows.own).toHaveLength(count);
    expect([qgis.count, qgis.crs]).toEqual([count, own.crs]);
    expect(Object.keys(qgis.types)).toEqual(own.fields.map(({ name }) => name));
    expect(rows.own).toEqual(rows.qgis);
  });

  it("reads others if one value or position differs", async () => {
    koop.features = featuresOf("points");
    let isOwn = false;
    const proxy = await AnsweringServer.proxy(koop.origin, (asked, answer) => {
      if (!isOwn || !asked.parameters.has("resultOffset")) return answer;
      const features = answer.features as { attributes: { floors: number }; geometry: { x: number } }[];
      for (const { attributes, geometry } of features.slice(7, 8)) {
        attributes.floors++;
        geometry.x += 1e-9;
      }
      return answer;
    });
    try {
      const address = `${koop.service.replace(koop.origin, proxy.origin)}/0`;
      const qgis = await readWithQgis(address);
      isOwn = true;
      const own = await readWithGeoferry(address);
      const differs = own.features.filter(({ properties, geometry }, n) => {
        const { values, geometry: other } = qgis.features[n]!;
        return (
          properties.floors !== values.floors ||
          JSON.stringify(normalize(geometry)) !== JSON.stringify(normalize(other))
        );
      });
      expect(differs.map(({ properties }) => properties.id)).toEqual([8, 1008, 2008]);
    } finally {
      await proxy.close();
    }
  });
});
