import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, main, samples } from "../../support/command.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Collection {
  readonly features: readonly {
    readonly id?: number;
    readonly properties: Readonly<Record<string, unknown>>;
    readonly geometry: unknown;
  }[];
}

const readJson = (path: string): Collection => JSON.parse(readFileSync(path, "utf8")) as Collection;

/** Positions as ogr2ogr and we both write them, and every number to seven decimals. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) => (typeof each === "number" ? Number(each.toFixed(7)) : each));

/** What ogr2ogr reads of a file, as RFC 7946 has it. */
function byOgr(path: string, ...args: readonly string[]): Collection {
  const out = scratch.path(`ogr-${Math.random().toString(36).slice(2)}.geojson`);
  ogr2ogr("-f", "GeoJSON", "-lco", "RFC7946=YES", "-t_srs", "EPSG:4326", ...args, out, path);
  return readJson(out);
}

function byUs(path: string, ...args: readonly string[]): Collection {
  const out = scratch.path(`our-${Math.random().toString(36).slice(2)}.geojson`);
  const { status, stderr } = geoferry(["convert", path, out, ...args]);
  expect(stderr).not.toContain("geoferry:");
  expect(status).toBe(0);
  return readJson(out);
}

const places = JSON.stringify({
  type: "FeatureCollection",
  features: [
    {
      type: "Feature",
      properties: { name: "Wien — ü", count: 12345, share: 0.1, at: "2020-01-02T10:11:12.345+02:00" },
      geometry: { type: "Point", coordinates: [16.3725, 48.2083] },
    },
    {
      type: "Feature",
      properties: { name: "Graz", count: -7, share: 1e-7, at: "2021-01-02T10:11:12Z" },
      geometry: { type: "Point", coordinates: [15.4395, 47.0707] },
    },
  ],
});

const source = scratch.path("places.geojson");
writeFileSync(source, places);

describe.skipIf(!hasGdal)("what ogr2ogr writes is read as ogr2ogr reads it", () => {
  test.each([
    ["FlatGeobuf", "fgb", [], []],
    ["GML", "gml", [], []],
    ["MapInfo File", "mif", [], []],
    // It says no reference system, and has no fields of its own.
    ["DXF", "dxf", ["-select", ""], ["-s_srs", "EPSG:4326"]],
    ["OpenFileGDB", "gdb", ["-nlt", "MULTILINESTRING"], []],
  ])("%s of ogr2ogr is read as ogr2ogr reads it", (driver, extension, writing, reading) => {
    const path = scratch.path(`rivers-${extension}.${extension}`);
    ogr2ogr("-f", driver, ...writing, path, `${samples}/geopackage/world.gpkg`, "rivers");
    const [ours, theirs] = [byUs(path, "--from", `gdal:${driver}`), byOgr(path, ...reading)];
    // DXF has the parts of a multi line one by one.
    expect(ours.features.length).toBe(extension === "dxf" ? 14 : 12);
    // ogr2ogr makes a line of a multi line with one.
    const positions = ({ geometry }: Collection["features"][number]) =>
      (geometry as { coordinates: unknown[] }).coordinates.flat(3);
    expect(ours.features.map(positions).map(rounded)).toEqual(theirs.features.map(positions).map(rounded));
    const plain = ({ properties }: Collection["features"][number]) =>
      Object.fromEntries(Object.entries(properties).filter(([, value]) => typeof value !== "object"));
    expect(ours.features.map(plain).map(rounded)).toEqual(theirs.features.map(plain).map(rounded));
  });

  test("MapInfo TAB, though .tab is also a table", () => {
    const path = scratch.path("towns.tab");
    ogr2ogr("-f", "MapInfo File", path, source);
    const { features } = byUs(path);
    expect(features.map(({ properties }) => properties.name)).toEqual(["Wien — ü", "Graz"]);
    expect(rounded(features[0]!.geometry)).toEqual({ type: "Point", coordinates: [16.3725, 48.2083] });
  });

  test("MapInfo TAB from a Shapefile keeps seven decimals, which need the extent", () => {
    const [line, shp, tab] = [scratch.path("line.geojson"), scratch.path("line.shp"), scratch.path("line.tab")];
    const coordinates = [
      [8.1234567, 47.7654321],
      [8.1234599, 47.7654388],
    ];
    const feature = { type: "Feature", properties: { n: 1 }, geometry: { type: "LineString", coordinates } };
    writeFileSync(line, JSON.stringify(feature));
    ogr2ogr(shp, line);
    expect(geoferry(["convert", shp, tab, "--to", "gdal:MapInfo File"]).status).toBe(0);
    expect(rounded(byOgr(tab).features[0]!.geometry)).toEqual({ type: "LineString", coordinates });
  });

  test.each([
    ["GeoJSON", source],
    ["GPKG", `${samples}/geopackage/world.gpkg`],
  ])("the driver %s beside our own reader", (driver, path) => {
    const layer = driver === "GPKG" ? ["--layer", "capitals"] : [];
    const [own, through] = [byUs(path, ...layer), byUs(path, "--from", `gdal:${driver}`, ...layer)];
    expect(through.features.length).toBeGreaterThan(1);
    expect(through.features.map(({ geometry }) => rounded(geometry))).toEqual(
      own.features.map(({ geometry }) => rounded(geometry)),
    );
    expect(through.features.map(({ properties }) => properties)).toEqual(
      own.features.map(({ properties }) => properties),
    );
  });

  test("a FileGDB keeps the ids that it has", () => {
    const path = scratch.path("ids.gdb");
    ogr2ogr("-f", "OpenFileGDB", path, source);
    expect(byUs(path).features.map(({ id }) => id)).toEqual([1, 2]);
  });

  test("times with offsets and integers beyond 2^53 come exactly", () => {
    const path = scratch.path("exact.fgb");
    const table = scratch.path("exact.csv");
    writeFileSync(table, "big,at,x,y\n9007199254740993,2020-01-02T10:11:12.345+05:30,1,2\n");
    writeFileSync(scratch.path("exact.csvt"), "Integer64,DateTime,Real,Real");
    ogr2ogr("-f", "FlatGeobuf", path, table, "-oo", "X_POSSIBLE_NAMES=x", "-oo", "Y_POSSIBLE_NAMES=y");
    const { stdout } = geoferry(["convert", path, "-", "--to", "csv", "--from", "gdal:FlatGeobuf", "--in", "ids=no"]);
    expect(stdout.split("\n")[1]).toContain("9007199254740993,2020-01-02T10:11:12.345+05:30");
  });

  test("curves become lines, with a loss", () => {
    const path = scratch.path("curves.gpkg");
    const table = scratch.path("curves.csv");
    writeFileSync(table, 'id,WKT\n1,"CIRCULARSTRING(0 0,1 1,2 0)"\n');
    ogr2ogr("-f", "GPKG", path, table, "-oo", "GEOM_POSSIBLE_NAMES=WKT", "-a_srs", "EPSG:4326");
    const out = scratch.path("curves.geojson");
    const { status, stderr } = geoferry(["convert", path, out, "--from", "gdal:GPKG"]);
    expect(status).toBe(0);
    expect(stderr).toContain("curve-linearized");
    // A half circle in steps of 4 degrees: 45 segments at least.
    const [feature] = readJson(out).features;
    expect((feature!.geometry as { coordinates: unknown[] }).coordinates.length).toBeGreaterThanOrEqual(46);
  });
});

describe.skipIf(!hasGdal)("what is written through GDAL is what ogr2ogr reads", () => {
  test.each(["fgb", "gml", "mif", "gdb", "jml"])("ogr2ogr reads the .%s written through GDAL", (extension) => {
    const path = scratch.path(`written.${extension}`);
    const { status, stderr } = geoferry(["convert", source, path]);
    expect(stderr).not.toContain("geoferry:");
    expect(status).toBe(0);
    const theirs = byOgr(path).features;
    const byName = new Map(theirs.map((feature) => [feature.properties.name, feature]));
    expect([...byName.keys()].sort()).toEqual(["Graz", "Wien — ü"]);
    expect(rounded(byName.get("Graz")!.geometry)).toEqual({ type: "Point", coordinates: [15.4395, 47.0707] });
    expect(byName.get("Wien — ü")!.properties).toMatchObject({ count: 12345, share: 0.1 });
  });

  test("companions come with the main file, and go with it", () => {
    mkdirSync(scratch.path("set"));
    const path = scratch.path("set/places.mif");
    expect(geoferry(["convert", source, path]).status).toBe(0);
    expect(readdirSync(scratch.path("set"))).toEqual(["places.mid", "places.mif"]);
    expect(geoferry(["convert", source, path]).status).toBe(2);
    expect(geoferry(["convert", source, path, "--overwrite"]).status).toBe(0);
    expect(readdirSync(scratch.path("set"))).toEqual(["places.mid", "places.mif"]);
  });

  test("a folder is replaced in one step, and refused without being asked for", () => {
    mkdirSync(scratch.path("folder"));
    const path = scratch.path("folder/places.gdb");
    expect(geoferry(["convert", source, path]).status).toBe(0);
    const before = readdirSync(path);
    const again = geoferry(["convert", source, path]);
    expect([again.status, again.stderr.includes("exists already")]).toEqual([2, true]);
    expect(geoferry(["convert", source, path, "--overwrite"]).status).toBe(0);
    expect(readdirSync(scratch.path("folder"))).toEqual(["places.gdb"]);
    expect(readdirSync(path).length).toBe(before.length);
  });

  test("options are GDAL's, and a wrong one is refused before anything is made", () => {
    const gml = scratch.path("old.gml");
    expect(geoferry(["convert", source, gml, "--out", "FORMAT=GML2"]).status).toBe(0);
    expect(readFileSync(gml, "utf8")).toContain("<gml:coordinates>");
    const wrong = geoferry([
      "convert",
      source,
      scratch.path("no.fgb"),
      "--to",
      "gdal:FlatGeobuf",
      "--out",
      "SPATIAL_INDX=NO",
    ]);
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain("SPATIAL_INDEX");
    expect(existsSync(scratch.path("no.fgb"))).toBe(false);
  });

  test("content that a driver drops is reported as a loss", () => {
    const dxf = geoferry(["convert", source, scratch.path("lossy.dxf"), "--json"]);
    expect(dxf.status).toBe(0);
    expect(dxf.stdout).toContain("field-dropped");
    expect(dxf.stdout).toContain("crs-undeclared");
    const mif = geoferry(["convert", source, scratch.path("lossy.mif")]);
    expect(mif.stderr).toContain("time-zone-dropped of at");
  });
});

describe.skipIf(!hasGdal)("hostile and broken inputs", () => {
  const secret = scratch.path("secret.csv");
  writeFileSync(secret, "name,x,y\nsecret,1,2\n");
  const vrt = `<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>${secret}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`;

  test.each(["trap.vrt", "trap.fgb", "trap.gml"])("a VRT called %s reads no other file", (name) => {
    const path = scratch.path(name);
    writeFileSync(path, vrt);
    for (const from of [[], ["--from", "gdal"]]) {
      const { status, stdout } = geoferry(["convert", path, "-", "--to", "geojson", ...from]);
      expect(status).toBe(3);
      expect(stdout).not.toContain("secret");
    }
  });

  test("a VRT is read where its driver is named", () => {
    const path = scratch.path("wanted.vrt");
    writeFileSync(path, vrt);
    const { stdout, status } = geoferry(["convert", path, "-", "--to", "geojson", "--from", "gdal:OGR_VRT"]);
    expect(status).toBe(0);
    expect(stdout).toContain('"name":"secret"');
  });

  test("a file that was cut off ends with 3 and names driver and file, with nothing left", () => {
    const whole = scratch.path("whole.fgb");
    ogr2ogr("-f", "FlatGeobuf", "-lco", "SPATIAL_INDEX=NO", whole, `${samples}/geopackage/world.gpkg`, "rivers");
    const path = scratch.path("cut.fgb");
    const bytes = readFileSync(whole);
    writeFileSync(path, bytes.subarray(0, bytes.length - 100));
    const out = scratch.path("cut.geojson");
    const { status, stderr } = geoferry(["convert", path, out, "--from", "gdal:FlatGeobuf"]);
    expect(status).toBe(3);
    expect(stderr).toMatch(/cut\.fgb: GDAL's driver FlatGeobuf cannot read it/);
    expect(existsSync(out)).toBe(false);
  });

  test("a process that dies ends the run with 3, and nothing is left", async () => {
    const rows = Array.from({ length: 400_000 }, (_, i) => `${i},place ${i},${i % 180},${i % 80}`);
    const table = scratch.path("many.csv");
    writeFileSync(table, `id,name,x,y\n${rows.join("\n")}\n`);
    const path = scratch.path("many.fgb");
    ogr2ogr(
      "-f",
      "FlatGeobuf",
      "-lco",
      "SPATIAL_INDEX=NO",
      path,
      table,
      "-oo",
      "X_POSSIBLE_NAMES=x",
      "-oo",
      "Y_POSSIBLE_NAMES=y",
    );
    mkdirSync(scratch.path("dead"));
    const out = scratch.path("dead/many.csv");
    const run = spawn(process.execPath, [main, "convert", path, out, "--from", "gdal:FlatGeobuf"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    run.stderr.on("data", (text: Buffer) => {
      stderr += text.toString();
    });
    const ended = once(run, "exit");
    let killed = false;
    while (!killed && run.exitCode === null) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const children = spawnSync("pgrep", ["-P", String(run.pid), "-f", "gdal-process.js$"], { encoding: "utf8" });
      const child = Number(children.stdout.trim().split("\n")[0]);
      if (!child) continue;
      process.kill(child, "SIGKILL");
      killed = true;
    }
    const [status] = (await ended) as [number];
    expect(killed).toBe(true);
    expect(status).toBe(3);
    expect(stderr).toMatch(/many\.fgb: GDAL's driver FlatGeobuf cannot read it: it ended with SIGKILL/);
    expect(readdirSync(scratch.path("dead"))).toEqual([]);
  });
});

describe.skipIf(!hasGdal)("fields that a driver adds", () => {
  test("are no difference when a GML is verified", () => {
    const output = scratch.path("verified.gml");
    const { status, stderr } = geoferry(["convert", `${samples}/huts.geojson`, output, "--verify"]);
    expect(stderr).toContain("verified: ");
    expect(status).toBe(0);
  });
});

describe("a process that is killed while it starts", () => {
  const killed = scratch.path("killed.cjs");
  writeFileSync(killed, `if (process.argv[2] === "catalogue") process.kill(process.pid, "SIGKILL");`);

  test("is not taken for a missing installation, and no option of the reader is left out", () => {
    const path = scratch.path("started.pmtiles");
    writeFileSync(path, Buffer.from("PMTiles\x03 and so on", "latin1"));
    const env = { NODE_OPTIONS: `--require ${killed}` };
    const { status, stderr } = geoferry(["convert", path, scratch.path("started.geojson")], { env });
    expect(status).toBe(4);
    expect(stderr).toContain("GDAL does not start: its process was ended by SIGKILL");
    expect(stderr).not.toContain("npm install");
  });
});

describe("without gdal-async", () => {
  // A package of that name that cannot be loaded stands for one that is not there.
  const broken = scratch.path("no-gdal.cjs");
  writeFileSync(
    broken,
    `const { Module } = require("node:module");
const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "gdal-async") throw new Error("Cannot find module 'gdal-async'");
  return load.call(this, name, ...rest);
};`,
  );
  const env = { NODE_OPTIONS: `--require ${broken}` };

  test("an input says what to install, with exit status 4", () => {
    const path = scratch.path("unread.pmtiles");
    writeFileSync(path, Buffer.from("PMTiles\x03 and so on", "latin1"));
    const { status, stderr } = geoferry(["convert", path, scratch.path("unread.geojson")], { env });
    expect(status).toBe(4);
    expect(stderr).toContain("npm pkg set --json allowScripts.gdal-async=true && npm install gdal-async");
  });

  test("formats lists the others and says how to get it", () => {
    const { status, stdout, stderr } = geoferry(["formats"], { env });
    expect(status).toBe(0);
    expect(stdout).toContain("shapefile");
    expect(stderr).toContain("npm pkg set --json allowScripts.gdal-async=true && npm install gdal-async");
  });
});
