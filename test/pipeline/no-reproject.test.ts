import { readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { samples } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

// 20 points in EPSG:25832; the first is at 356560.26, 5645282.14.
const survey = `${samples}/shapefile/survey.shp`;
const untouched = { reproject: false };

describe("coordinates carried untouched", () => {
  test.each(["geojson", "geojsonl", "kml"])(
    "unchanged projected coordinates are a loss in .%s, which declares degrees",
    async (extension) => {
      const output = scratch.path(`out.${extension}`);
      const { losses, written } = await convertFile(survey, output, untouched);
      expect(written).toBe(20);
      expect(losses).toMatchObject([
        { code: "crs-undeclared", count: 1, example: expect.stringContaining("EPSG:25832") },
      ]);
      expect(readFileSync(output, "utf8")).toContain("356560.26,5645282.14");
    },
  );

  test.each(["gpkg", "shp", "csv"])(
    "unchanged projected coordinates are no loss in .%s, which declares their system",
    async (extension) => {
      const { losses } = await convertFile(survey, scratch.path(`as-${extension}.${extension}`), untouched);
      expect(losses.filter(({ code }) => code === "crs-undeclared")).toEqual([]);
    },
  );

  test.each(["geojson", "shp"])(
    "coordinates of an unknown planar system are planar in a GeoPackage (.%s)",
    async (extension) => {
      const coordinates = [
        [500_000, 4_000_000],
        [500_001, 4_000_001],
      ];
      const feature = { type: "Feature", properties: { a: 1 }, geometry: { type: "LineString", coordinates } };
      const input = scratch.path(`plane.${extension}`);
      const geojson = extension === "shp" ? scratch.path("plane-first.geojson") : input;
      writeFileSync(geojson, JSON.stringify({ type: "FeatureCollection", crs: null, features: [feature] }));
      if (extension === "shp") await convertFile(geojson, input, untouched);
      const output = scratch.path(`plane-${extension}.gpkg`);
      await convertFile(input, output, untouched);
      const database = new Database(output, { readonly: true });
      // OGC 12-128r19, 1.1.2.1.2: -1 is an undefined Cartesian system, 0 an undefined geographic one.
      expect(database.prepare("SELECT srs_id, min_x FROM gpkg_contents").get()).toEqual({ srs_id: -1, min_x: 500_000 });
      database.close();
    },
  );

  test("coordinates that GPX cannot hold are rejected, never changed", async () => {
    const output = scratch.path("out.gpx");
    const { rejected, written } = await convertFile(survey, output, { ...untouched, allowEmpty: true });
    expect([rejected, written]).toEqual([20, 0]);
    expect(readFileSync(output, "utf8")).not.toContain("<wpt");
    expect(readFileSync(`${output}.rejects.geojsonl`, "utf8")).toContain("356560.26");
  });

  test("coordinates in degrees are written to GPX unchanged", async () => {
    const input = scratch.path("degrees.csv");
    writeFileSync(input, "lon,lat\n180,5\n181,5\n-7.5,90\n");
    const output = scratch.path("degrees.gpx");
    const { rejected, notices } = await convertFile(input, output, untouched);
    expect(rejected).toBe(0);
    expect(notices).toContainEqual(expect.objectContaining({ code: "longitude-turned", count: 1 }));
    const positions = [...readFileSync(output, "utf8").matchAll(/<wpt lat="(.*?)" lon="(.*?)"/g)];
    expect(positions.map(([, lat, lon]) => [lat, lon])).toEqual([
      ["5", "-180"],
      ["5", "-179"],
      ["90", "-7.5"],
    ]);
  });
});
