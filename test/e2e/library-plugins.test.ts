/** The sample plugins that wrap well-known libraries, installed from npm; they and geoferry's own formats judge each other. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Feature, Position } from "geojson";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root, samples } from "../support/command.js";
import { FitMessage, type FitRow, FitType, fitFile } from "../support/formats/fit-file.js";
import { packedPackage } from "../support/packed-package.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const plugins = join(root, "samples/plugins");

function npm(args: readonly string[], cwd: string): void {
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: "" };
  for (const name of Object.keys(env)) if (/^npm_/i.test(name)) delete env[name];
  execFileSync("npm", args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
}

beforeAll(() => {
  if (!existsSync(join(root, "dist/src/cli/main.js"))) npm(["run", "--silent", "build"], root);
  const packed = scratch.path("packed");
  mkdirSync(packed);
  const folders = readdirSync(plugins).map((name) => join(plugins, name));
  for (const folder of folders.filter((each) => existsSync(join(each, "package.json"))))
    npm(["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], folder);
  writeFileSync(scratch.path("package.json"), JSON.stringify({ private: true, type: "module" }));
  const files = [packedPackage(), ...readdirSync(packed).map((name) => `./packed/${name}`)];
  npm(
    ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", ...files],
    scratch.folder,
  );
}, 180_000);

function convert(input: string, output: string, ...args: readonly string[]) {
  const command = join(scratch.folder, "node_modules", ".bin", "geoferry");
  const done = spawnSync(command, ["convert", input, scratch.path(output), "--overwrite", ...args], {
    cwd: scratch.folder,
    encoding: "utf8",
  });
  return { status: done.status, stderr: done.stderr };
}

const featuresOf = (output: string): Feature[] => JSON.parse(readFileSync(scratch.path(output), "utf8")).features;

function convertedFeatures(input: string, output: string, ...args: readonly string[]): Feature[] {
  expect(convert(input, output, ...args)).toMatchObject({ status: 0 });
  return featuresOf(output);
}

describe("csv-parse", () => {
  const plugin = ["--from", "csv-parse", "--plugin", "geoferry-plugin-csv-parse"];

  test("csv-parse gives the positions and texts that the built-in reader gives", () => {
    const input = `${samples}/csv/capitals.csv`;
    const wrapped = convertedFeatures(input, "wrapped.geojson", ...plugin);
    const builtIn = convertedFeatures(input, "built-in.geojson");
    expect(wrapped.map(({ geometry }) => geometry)).toEqual(builtIn.map(({ geometry }) => geometry));
    // An empty cell without quotes is null for geoferry, and an empty text for csv-parse.
    const texts = (all: Feature[]) =>
      all.map(({ properties }) => Object.entries(properties!).map(([name, value]) => [name, String(value ?? "")]));
    expect(texts(wrapped)).toEqual(texts(builtIn));
  });

  test("csv-parse refuses a row with other columns, with its line", () => {
    writeFileSync(scratch.path("ragged.csv"), "name,lon,lat\nWien,16.4,48.2\nGraz,15.4\n");
    const { status, stderr } = convert("ragged.csv", "ragged.geojson", ...plugin);
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining("line 3") });
    expect(existsSync(scratch.path("ragged.geojson"))).toBe(false);
  });
});

describe("@tmcw/togeojson", () => {
  const plugin = ["--plugin", "geoferry-plugin-togeojson"];

  test.each([
    ["gpx", "gpx/tour-du-mont-blanc.gpx"],
    ["kml", "kml/parks.kml"],
  ])("@tmcw/togeojson gives the positions that the built-in reader gives: %s", (format, input) => {
    const wrapped = convertedFeatures(
      `${samples}/${input}`,
      "wrapped.geojson",
      "--from",
      `togeojson-${format}`,
      ...plugin,
    );
    const builtIn = convertedFeatures(`${samples}/${input}`, "built-in.geojson");
    // What is a MultiPolygon for geoferry is a collection of polygons for the library.
    const positions = (all: Feature[]) =>
      all
        .map(({ geometry }) =>
          JSON.stringify(geometry)
            .match(/-?\d+(\.\d+)?/g)!
            .join(" "),
        )
        .sort();
    expect(positions(wrapped)).toEqual(positions(builtIn));
  });

  test("@tmcw/togeojson gives the lines of the laps that the built-in reader of TCX gives", () => {
    const input = `${samples}/tcx/col-de-voza.tcx`;
    const wrapped = convertedFeatures(input, "wrapped.geojson", "--from", "togeojson-tcx", ...plugin);
    const builtIn = convertedFeatures(input, "built-in.geojson");
    const lines = (all: Feature[]) =>
      all.map(({ geometry }) => geometry).filter((each) => /Line/.test(String(each?.type)));
    expect(wrapped).toHaveLength(3);
    expect(lines(wrapped)).toEqual(lines(builtIn));
  });

  test("@tmcw/togeojson refuses broken XML, and nothing is written", () => {
    writeFileSync(scratch.path("broken.gpx"), '<gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2">');
    expect(convert("broken.gpx", "broken.geojson", "--from", "togeojson-gpx", ...plugin).status).toBe(3);
    expect(existsSync(scratch.path("broken.geojson"))).toBe(false);
  });
});

describe("fit-file-parser", () => {
  const plugin = ["--plugin", "geoferry-plugin-fit"];
  /** 2026-05-01T08:00:00Z in seconds since 1989-12-31, the epoch of FIT. */
  const start = Date.UTC(2026, 4, 1, 8) / 1000 - Date.UTC(1989, 11, 31) / 1000;
  const record = (seconds: number, place: readonly [lon: number, lat: number] | null, height: number, heart: number) =>
    [
      FitMessage.record,
      [253, FitType.uint32, start + seconds],
      ...(place === null ? [] : [[1, FitType.sint32, place[0]] as const, [0, FitType.sint32, place[1]] as const]),
      // Altitudes are in fifths of a metre above −500 m.
      [2, FitType.uint16, (height + 500) * 5],
      [3, FitType.uint8, heart],
    ] as const;
  const lap = [
    FitMessage.lap,
    [253, FitType.uint32, start + 20],
    [2, FitType.uint32, start],
    [25, FitType.enum, 2],
  ] as const;
  const session = [FitMessage.session, ...lap.slice(1, 3), [5, FitType.enum, 2]] as FitRow;
  const activity = [FitMessage.activity, [253, FitType.uint32, start + 20], [1, FitType.uint16, 1]] as const;
  // 2^30 and 2^29 are 90° and 45°: positions are in units of 180° / 2^31.
  const ride = fitFile([
    record(0, [2 ** 29, 2 ** 28], 1000, 100),
    record(10, null, 1005, 110),
    record(20, [2 ** 30, 2 ** 29], 1010.2, 120),
    ...[lap, session, activity],
  ]);

  test("fit-file-parser gives each lap as a line with the values of its records, and those without a position are reported", () => {
    writeFileSync(scratch.path("ride.fit"), ride);
    const { status, stderr } = convert("ride.fit", "ride.geojson", ...plugin);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining("point-without-place") });
    expect(featuresOf("ride.geojson")).toEqual([
      {
        type: "Feature",
        geometry: {
          type: "LineString",
          coordinates: [
            [45, 22.5, 1000],
            [90, 45, 1010.2],
          ],
        },
        properties: {
          ...{ sport: "cycling", timestamp: "2026-05-01T08:00:20.000Z", start_time: "2026-05-01T08:00:00.000Z" },
          coordinateProperties: {
            times: ["2026-05-01T08:00:00.000Z", "2026-05-01T08:00:20.000Z"],
            altitude: [1000, 1010.2],
            heart: [100, 120],
          },
        },
      },
    ]);
  });

  test.each([
    ["cut", ride.subarray(0, ride.length - 30)],
    ["with a changed byte", Buffer.concat([ride.subarray(0, 60), Buffer.of(ride[60]! ^ 1), ride.subarray(61)])],
    ["empty but for its header", ride.subarray(0, 14)],
  ])("fit-file-parser refuses a file that is %s, and nothing is written", (_, bytes) => {
    writeFileSync(scratch.path("damaged.fit"), bytes);
    expect(convert("damaged.fit", "damaged.geojson", ...plugin).status).toBe(3);
    expect(existsSync(scratch.path("damaged.geojson"))).toBe(false);
  });
});

describe("@mapbox/shp-write", () => {
  test("@mapbox/shp-write writes a Shapefile that ogrinfo and the built-in reader read", () => {
    const output = convert(
      `${samples}/capitals.geojson`,
      "written.shp",
      "--to",
      "shp-write",
      "--plugin",
      "geoferry-plugin-shp-write",
    );
    expect(output, output.stderr).toMatchObject({ status: 0 });
    const info = execFileSync("ogrinfo", ["-so", "-al", scratch.path("written.shp")], { encoding: "utf8" });
    expect(info).toMatch(/Feature Count: 195/);
    const back = convertedFeatures("written.shp", "back.geojson").map(({ geometry }) => geometry);
    expect(back).toEqual(
      convertedFeatures(`${samples}/capitals.geojson`, "same.geojson").map(({ geometry }) => geometry),
    );
  });
});

describe("proj4", () => {
  test("proj4 gives the positions that the built-in reprojection gives, where one set of parameters suffices", () => {
    const script = scratch.path("node_modules/geoferry-sample-proj4/index.js");
    const input = `${samples}/capitals.geojson`;
    execFileSync(process.execPath, [script, input, scratch.path("moved.geojsonl"), "EPSG:4326", "EPSG:3857"], {
      cwd: scratch.folder,
    });
    expect(convert(input, "built-in.csv", "--target-crs", "EPSG:3857").status).toBe(0);
    const rows = readFileSync(scratch.path("built-in.csv"), "utf8").trimEnd().split("\n").slice(1);
    const own = rows.map((row) => row.split(",").slice(0, 2).map(Number));
    const lines = readFileSync(scratch.path("moved.geojsonl"), "utf8").trimEnd().split("\n");
    const moved = lines.map((line) => JSON.parse(line).geometry.coordinates as Position);
    expect(moved).toHaveLength(195);
    for (const [i, [x, y]] of moved.entries()) {
      expect(Math.abs(x! - own[i]![0]!)).toBeLessThan(1e-6);
      expect(Math.abs(y! - own[i]![1]!)).toBeLessThan(1e-6);
    }
  });
});
