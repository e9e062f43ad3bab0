import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const coordinates = [
  [179.5, -16.5],
  [180.0033, -17],
  [181, -17.5],
];
const input = scratch.path("fiji.geojson");
const feature = { type: "Feature", properties: { name: "Fiji" }, geometry: { type: "LineString", coordinates } };
writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features: [feature] }));

const continued = expect.objectContaining({ code: "longitude-continued", count: 1 });

test.each(["geojson", "geojsonl", "gpkg", "shp"])(
  "a line across the antimeridian keeps its longitudes in .%s, as in ogr2ogr",
  async (extension) => {
    const output = scratch.path(`kept.${extension}`);
    const { notices, rejected } = await convertFile(input, output, {});
    expect(rejected).toBe(0);
    expect(notices).toContainEqual(continued);
    const back = scratch.path(`back-${extension}.geojsonl`);
    await convertFile(output, back, {});
    expect(JSON.parse(readFileSync(back, "utf8")).geometry).toEqual(feature.geometry);
  },
);

test("a line across the antimeridian keeps its longitudes in the WKT of a CSV", async () => {
  const output = scratch.path("kept.csv");
  expect((await convertFile(input, output, { writerOptions: { geometry: "wkt" } })).notices).toContainEqual(continued);
  expect(readFileSync(output, "utf8")).toContain("LINESTRING (179.5 -16.5,180.0033 -17,181 -17.5)");
});

test("GeoJSON with antimeridian=cut has two lines, which KML accepts", async () => {
  const output = scratch.path("cut.geojsonl");
  await convertFile(input, output, { writerOptions: { antimeridian: "cut" } });
  const { geometry } = JSON.parse(readFileSync(output, "utf8"));
  // RFC 7946, 3.1.9
  expect(geometry.type).toBe("MultiLineString");
  expect(geometry.coordinates[1].at(-1)).toEqual([-179, -17.5]);
  expect((await convertFile(output, scratch.path("cut.kml"), {})).rejected).toBe(0);
});

// GPX 1.1, longitudeType; OGC 07-147r2, kml:coordinates: longitude ≥ −180 and ≤ 180.
test.each(["gpx", "kml"])(
  "a .%s, whose longitudes end at 180°, rejects a line across the antimeridian",
  async (extension) => {
    const { rejected, notices } = await convertFile(input, scratch.path(`out.${extension}`), { allowEmpty: true });
    expect(rejected).toBe(1);
    expect(notices).not.toContainEqual(continued);
  },
);
