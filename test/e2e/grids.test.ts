/** Shift grids on the command line: results, messages and errors. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ntv2, shiftAt } from "../crs/grids/synthetic-grids.js";
import { geoferry } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

mkdirSync(scratch.path("grids"));
const grid = scratch.path("grids/NTv2_0.gsb");
writeFileSync(grid, ntv2([{ name: "CANADA", west: -142, south: 40, columns: 391, rows: 181, step: 0.25 }]));

// At nodes of the grid, where the shift equals the function.
const places = Array.from({ length: 5000 }, (_, i) => [-130 + (i % 200) * 0.25, 50 + Math.floor(i / 200)] as const);
const input = scratch.path("wells.csv");
writeFileSync(input, `n,lon,lat\n${places.map(([x, y], i) => `${i},${x},${y}`).join("\n")}\n`);

const convert = (output: string, ...more: string[]) =>
  geoferry(["convert", input, output, "--source-crs", "EPSG:4267", "--overwrite", ...more]);

function positionsIn(path: string): [number, number][] {
  const { features } = JSON.parse(readFileSync(path, "utf8")) as {
    features: { geometry: { coordinates: [number, number] } }[];
  };
  return features.map(({ geometry }) => geometry.coordinates);
}

describe("convert with --grid", () => {
  const output = scratch.path("wells.geojson");

  test("convert --grid shifts by the grid, and reports its name and accuracy", () => {
    const { status, stdout, stderr } = convert(output, "--grid", grid, "--json");
    expect(status).toBe(0);
    expect(stderr).toContain("5,000 positions by NAD27 to WGS 84 (33), accurate to 2 m");
    const found = positionsIn(output);
    expect(found).toHaveLength(places.length);
    places.forEach(([x, y], i) => {
      const [east, north] = shiftAt(x, y);
      expect((found[i]![0] - x) * 3600).toBeCloseTo(east, 2);
      expect((found[i]![1] - y) * 3600).toBeCloseTo(north, 2);
    });
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.find(({ type }) => type === "operation")).toMatchObject({
      from: "EPSG:4267",
      to: "EPSG:4326",
      kind: "transformation",
      accuracy: 2,
      used: [{ operation: "NAD27 to WGS 84 (33)", accuracy: 2, positions: places.length }],
      grids: ["NTv2_0.gsb"],
      better: [expect.objectContaining({ name: "NAD27 to WGS 84 (32)", accuracy: 1.5 })],
    });
  });

  test("convert --grid writes the same bytes on one thread and on several", () => {
    const [one, four] = [scratch.path("one.geojson"), scratch.path("four.geojson")];
    expect(convert(one, "--grid", scratch.path("grids"), "--workers", "1").status).toBe(0);
    expect(convert(four, "--grid", scratch.path("grids"), "--workers", "4").status).toBe(0);
    expect(readFileSync(four)).toEqual(readFileSync(one));
  });

  test("convert finds grids in the folders of GEOFERRY_GRIDS", () => {
    const env = { GEOFERRY_GRIDS: [scratch.path("."), scratch.path("grids")].join(delimiter) };
    const found = geoferry(["convert", input, "-", "--to", "geojsonl", "--source-crs", "EPSG:4267"], { env });
    expect(found.status).toBe(0);
    expect(found.stdout.split("\n", 1)[0]).toContain("[-130.0000025,49.9998034]");
  });

  test("convert without a grid states the accuracy, and which grid would be more accurate", () => {
    const { status, stderr } = convert(scratch.path("none.geojson"));
    expect(status).toBe(0);
    // EPSG:1168, "NAD27 to WGS 84 (12)", and other operations for Canada's provinces: 8 to 10 m.
    expect(stderr).toMatch(
      /note crs-accuracy \([\d,]+ times\): positions are transformed by NAD27 to WGS 84 \(\d+\), which is accurate to (?:[6-9]|1\d) m; geoferry grids get ca_nrc_ntv2_0\.tif makes it accurate to 2 m where it reaches/,
    );
  });

  test.each([["--accuracy", "5"], ["--strict"]])(
    "convert with %s %s rejects this accuracy, and names a suitable grid",
    (...asked) => {
      const { status, stderr } = convert(scratch.path("strict.geojson"), ...asked);
      expect(status).toBe(4);
      expect(stderr).toContain("the data lie at longitude -130° to -80.25°, latitude 50° to 74°");
      expect(stderr).toContain("; geoferry grids get ca_nrc_ntv2_0.tif makes it accurate to 2 m where it reaches");
      const [, accuracy = ""] = /; --accuracy (\S+) takes /.exec(stderr) ?? [];
      expect(convert(scratch.path("strict.geojson"), "--accuracy", accuracy).status).toBe(0);
      const first =
        "NAD27 to WGS 84 (33), accurate to 2 m, needs the grid ca_nrc_ntv2_0.tif or ntv2_0.gsb: geoferry grids get ca_nrc_ntv2_0.tif";
      const { better } = JSON.parse(convert(scratch.path("refused.geojson"), ...asked, "--json").stdout);
      expect(better).toContainEqual({
        name: "NAD27 to WGS 84 (33)",
        accuracy: 2,
        area: [-141.01, 40, -44, 83.17],
        grids: [["ca_nrc_ntv2_0.tif", "ntv2_0.gsb"]],
        readable: true,
        sentence: first,
      });
    },
  );

  test("convert --grid rejects positions outside of the grid, with their location", () => {
    const beyond = scratch.path("beyond.csv");
    writeFileSync(beyond, "n,lon,lat\n1,-100,50\n2,-100,35\n");
    const { status } = geoferry([
      "convert",
      beyond,
      output,
      "--source-crs",
      "EPSG:4267",
      "--grid",
      grid,
      ...["--accuracy", "5"],
      "--overwrite",
    ]);
    expect(status).toBe(5);
    expect(readFileSync(`${output}.rejects.geojsonl`, "utf8")).toMatch(/the position -100, 35 lies at -100\.0000°, 35/);
  });

  test("a missing or damaged grid ends with 3 and leaves no output", () => {
    const damaged = scratch.path("ntv2_0.gsb");
    writeFileSync(damaged, readFileSync(grid).subarray(0, 5000));
    const output = scratch.path("never.geojson");
    for (const [file, words] of [
      [scratch.path("nowhere.gsb"), "there is no such grid file"],
      [damaged, "cannot be used as a shift grid: it ends at byte 5000"],
    ] as const) {
      const { status, stderr } = convert(output, "--grid", file);
      expect(status, stderr).toBe(3);
      expect(stderr).toContain(words);
      expect(() => readFileSync(output)).toThrow();
    }
  });
});

describe("info and check", () => {
  test("info and check report system, area, operation and better options, in text and in records", () => {
    const { stdout } = geoferry(["info", input, "--source-crs", "EPSG:4267", "--grid", grid]);
    expect(stdout).toMatch(/ {2}crs {7}EPSG:4267 NAD27\n/);
    expect(stdout).toMatch(/ {2}axes {6}x longitude, y latitude in degrees, on North American Datum 1927\n/);
    expect(stdout).toMatch(
      / {2}area {6}North America - NAD27: longitude 167\.65° to -47\.74°, latitude 7\.15° to 83\.17°\n/,
    );
    expect(stdout).toMatch(/ {2}to WGS84 {2}NAD27 to WGS 84 \(33\): accurate to 2 m\n/);
    expect(stdout).toMatch(
      / {2}better {4}NAD27 to WGS 84 \(32\), accurate to 1\.5 m, needs the grid ca_nrc_SK27-98\.tif/,
    );
    expect(stdout.match(/ {2}better /g)).toHaveLength(1);
    const checked = geoferry(["check", input, "--source-crs", "EPSG:4267", "--accuracy", "1", "--json"]);
    const layer = checked.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .at(-1);
    expect(layer.reference).toMatchObject({
      area: [167.65, 7.15, -47.74, 83.17],
      areaName: "North America - NAD27",
      axes: ["longitude", "latitude"],
      unit: "degree",
      toWgs84: { error: expect.stringContaining("geoferry grids get ca_nrc_ntv2_0.tif"), better: expect.any(Array) },
    });
  });

  test("info and check report features far outside of the area, like convert", () => {
    const strangers = scratch.path("strangers.csv");
    writeFileSync(strangers, "n,x,y\n1,500000,5500000\n2,9500000,550000\n3,9600000,550000\n");
    const words = /9500000, 550000 is at longitude 71.*far outside of the area of use of EPSG:25832/;
    const said = ["--source-crs", "EPSG:25832", "--in", "x=x", "--in", "y=y"];
    for (const command of ["info", "check"]) {
      const { stdout } = geoferry([command, strangers, ...said]);
      expect(stdout, command).toMatch(new RegExp(`warning:? +2 of 3 features: ${words.source}`));
    }
    const converted = geoferry(["convert", strangers, scratch.path("strangers.geojson"), ...said]);
    expect(converted.stderr).toMatch(new RegExp(`note outside-crs-area \\(2 times\\): ${words.source}`));
  });
});
