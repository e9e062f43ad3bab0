/** MapServer: 25,000 features in order, once each, by both interfaces; positions at the right place. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { hasMapServer, MapServer } from "../../support/servers/mapserver.js";

const scratch = new TemporaryFolder();
let server: MapServer;
const count = 25_000;
const types = { id: "Integer", name: "Character", height: "Real" };

const grid = { type: "POINT", epsg: 4326, extent: [10, 50, 15, 50.5], idField: "id", types } as const;

/** The Schillerplatz in Stuttgart, with the positions that PROJ (cs2cs, with EPSG's best operation without grids) computes. */
const place = { lon: 9.1829, lat: 48.7758 };
const systems = [
  { epsg: 4326, x: 9.1829, y: 48.7758 },
  { epsg: 25832, x: 513437.7062, y: 5402549.1498 },
  { epsg: 31467, x: 3513518.4349, y: 5404271.4214 },
];

beforeAll(async () => {
  if (!hasMapServer) return;
  const features = Array.from({ length: count }, (_, n) => ({
    type: "Feature",
    properties: { id: n + 1, name: `place ${n + 1}`, height: n + 0.5 },
    geometry: { type: "Point", coordinates: [10 + (n % 500) / 100, 50 + Math.floor(n / 500) / 100] },
  }));
  writeFileSync(scratch.path("places.geojson"), JSON.stringify({ type: "FeatureCollection", features }));
  await convertFile(scratch.path("places.geojson"), scratch.path("places.shp"));
  await convertFile(scratch.path("places.geojson"), scratch.path("table.gpkg"), { limit: 3000 });
  for (const { epsg, x, y } of systems) {
    const crs = { type: "name", properties: { name: `urn:ogc:def:crs:EPSG::${epsg}` } };
    const feature = { type: "Feature", properties: { id: 1 }, geometry: { type: "Point", coordinates: [x, y] } };
    const path = scratch.path(`p${epsg}.geojson`);
    writeFileSync(path, JSON.stringify({ type: "FeatureCollection", crs, features: [feature] }));
    await convertFile(path, scratch.path(`p${epsg}.gpkg`), { reproject: false });
  }
  server = await MapServer.start(scratch.folder, [
    { ...grid, name: "places", file: scratch.path("places.shp") },
    { ...grid, name: "table", table: "places", file: scratch.path("table.gpkg") },
    ...systems.map(({ epsg, x, y }) => ({
      ...({ name: `p${epsg}`, file: scratch.path(`p${epsg}.gpkg`), type: "POINT", epsg, idField: "id" } as const),
      extent: [x - 0.1, y - 0.1, x + 0.1, y + 0.1] as const,
      types: { id: "Integer" },
    })),
  ]);
});
afterAll(async () => {
  if (hasMapServer) await server.close();
  scratch.remove();
});

interface Found {
  readonly id: string | number;
  readonly properties: { readonly id: number; readonly name: string; readonly height: number };
  readonly geometry: { readonly coordinates: number[] };
}

let outputs = 0;
async function convertLayer(address: string, request: Partial<ConvertRequest> = {}): Promise<Found[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  await convertFile(address, output, request);
  return (JSON.parse(readFileSync(output, "utf8")) as { features: Found[] }).features;
}
const from1To = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);
const readerOptions = { pageSize: "10000" };

describe.runIf(hasMapServer)("MapServer", { timeout: 120_000 }, () => {
  it("sends 25,000 features by WFS 2.0.0 in order, once each", async () => {
    const singleRead = { ...readerOptions, singleRead: "yes" };
    const features = await convertLayer(`${server.wfs("places")}&typenames=places`, { readerOptions: singleRead });
    expect(features.map(({ properties }) => properties.id)).toEqual(from1To(count));
    const last = features.at(-1)!;
    expect([last.id, last.properties, last.geometry.coordinates]).toEqual([
      ...["places.25000", { id: 25_000, name: "place 25000", height: 24_999.5 }, [14.99, 50.49]],
    ]);
    expect(server.requests.filter((text) => text.includes("STARTINDEX=20000"))).toHaveLength(1);
  });

  it("sends 25,000 features by OGC API in order, once each", async () => {
    const features = await convertLayer(`${server.features("places")}/collections/places/items`, { readerOptions });
    expect(features.map(({ properties }) => properties.id)).toEqual(from1To(count));
    expect(features.at(-1)!.geometry.coordinates).toEqual([14.99, 50.49]);
  });

  it("is refused where it sends the same page for every offset, as version 8.0 does for a GeoPackage", async () => {
    const address = `${server.features("table")}/collections/table`;
    const one = await fetch(`${address}/items?f=json&limit=1&offset=1`);
    const { features } = (await one.json()) as { features: { properties: { id: number } }[] };
    // Later versions are correct.
    if (features[0]!.properties.id !== 1) return;
    await expect(convertLayer(address, { readerOptions: { pageSize: "1000" } })).rejects.toMatchObject({
      code: "feature-service-incomplete",
    });
  });

  it.each(systems)("sends positions in EPSG:$epsg that are at the right place", async ({ epsg }) => {
    const addresses = [`${server.wfs(`p${epsg}`)}`, `${server.wfs(`p${epsg}`)}&version=1.1.0`];
    if (epsg === 4326) addresses.push(`${server.features(`p${epsg}`)}/collections/p${epsg}`);
    for (const address of addresses) {
      const [feature] = await convertLayer(address);
      const [lon, lat] = feature!.geometry.coordinates;
      expect(lon, address).toBeCloseTo(place.lon, 5);
      expect(lat, address).toBeCloseTo(place.lat, 5);
    }
  });

  it("selects by a box that is sent to it", async () => {
    server.requests.length = 0;
    const bbox = [10, 50, 10.1, 50.2] as const;
    const request = { bbox, readerOptions } as unknown as Partial<ConvertRequest>;
    // 11 columns and 21 rows of the grid of 0.01 degrees.
    expect(await convertLayer(`${server.wfs("places")}&typenames=places`, request)).toHaveLength(231);
    expect(await convertLayer(`${server.features("places")}/collections/places`, request)).toHaveLength(231);
    const pages = server.requests.filter((text) => /STARTINDEX=0|limit=10000/.test(text));
    expect(pages).toHaveLength(2);
    for (const page of pages) expect(page.toLowerCase()).toContain("bbox=");
  });
});
