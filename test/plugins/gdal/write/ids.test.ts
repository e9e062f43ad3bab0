import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Feature = { readonly id?: number; readonly properties: { readonly n: number } };

/** A point for each id; one that is null has none. Its number is the attribute `n`. */
function points(name: string, ids: readonly (number | null)[]): string {
  const path = scratch.path(`${name}.geojson`);
  const features = ids.map((id, n) => ({
    type: "Feature",
    ...(id === null ? {} : { id }),
    properties: { n },
    geometry: { type: "Point", coordinates: [n, 1] },
  }));
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
  return path;
}

/** The id of each feature by its attribute. */
function idsIn(path: string, ...args: readonly string[]): Record<number, number | undefined> {
  const { stdout, stderr, status } = geoferry(["convert", path, "-", "--to", "geojson", ...args]);
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const { features } = JSON.parse(stdout) as { features: Feature[] };
  return Object.fromEntries(features.map(({ id, properties }) => [properties.n, id]));
}

describe.skipIf(!hasGdal)("ids through GDAL", () => {
  test("in any order are those of the features in the output", () => {
    const path = scratch.path("good.gdb");
    const { status, stderr } = geoferry(["convert", points("good", [9, 4, 6]), path]);
    expect([status, stderr.includes("id-changed")]).toEqual([0, false]);
    expect(idsIn(path)).toEqual({ 0: 9, 1: 4, 2: 6 });
  });

  // A File Geodatabase numbers its rows from 1, within 31 bits; SQLite has each number once.
  test.each([
    ["zero", "gdb", "OpenFileGDB", [0, 1, 2], [1, 2, 3]],
    ["negative", "gdb", "OpenFileGDB", [-3, 5], [1, 2]],
    ["too great", "gdb", "OpenFileGDB", [3_000_000_000, 5], [1, 2]],
    ["twice", "gdb", "OpenFileGDB", [5, 7, 5], [1, 2, 3]],
    ["twice", "gpkg", "GPKG", [5, 7, 5], [1, 2, 3]],
    ["missing", "gpkg", "GPKG", [5, null, 9, null], [1, 2, 3, 4]],
  ] as const)("ids that are %s are renumbered with a loss: .%s of %s", (name, extension, driver, ids, expected) => {
    const path = scratch.path(`${name}.${extension}`);
    const { status, stderr } = geoferry(["convert", points(name, ids), path, "--to", `gdal:${driver}`]);
    expect(stderr).toContain("id-changed");
    expect(status).toBe(0);
    expect(Object.values(idsIn(path))).toEqual(expected);
  });

  test("are not made up where some features have none", () => {
    const path = scratch.path("some.json");
    expect(geoferry(["convert", points("some", [5, null, 9]), path, "--to", "gdal:GeoJSON"]).stderr).toContain(
      "id-changed",
    );
    expect(readFileSync(path, "utf8")).not.toMatch(/"id": *0/);
  });

  test("stay where another layer has none", () => {
    const path = scratch.path("two.gdb");
    const { status, stderr } = geoferry(["convert", points("with", [9, 4]), points("without", [null, null]), path]);
    expect([status, stderr.includes("id-changed")]).toEqual([0, false]);
    expect(idsIn(path, "--layer", "with")).toEqual({ 0: 9, 1: 4 });
    expect(idsIn(path, "--layer", "without")).toEqual({ 0: 1, 1: 2 });
  });
});

describe.skipIf(!hasGdal)("values through GDAL", () => {
  /** A GeoPackage with bytes, and with fields called as the columns of the rows on their way to GDAL are. */
  function typed(name: string): string {
    const path = scratch.path(`${name}-source.gpkg`);
    geoferry(["convert", points("typed", [7, 3]), path]);
    const database = new Database(path);
    // They call functions of GeoPackage programs.
    const triggers = database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").pluck().all();
    for (const trigger of triggers) database.exec(`DROP TRIGGER "${trigger}"`);
    database.exec(`ALTER TABLE typed ADD COLUMN b BLOB; ALTER TABLE typed ADD COLUMN d DATE;
      ALTER TABLE typed ADD COLUMN i TEXT; ALTER TABLE typed ADD COLUMN g TEXT; ALTER TABLE typed ADD COLUMN c0 TEXT;
      UPDATE typed SET b = x'00ff', d = '2024-02-29', i = 'I', g = 'G', c0 = 'C' WHERE n = 0;`);
    database.close();
    return path;
  }

  test.each([
    ["gpkg", "GPKG", "d (Date) = 2024/02/29"],
    ["sqlite", "SQLite", "d (Date) = 2024/02/29"],
    ["fgb", "FlatGeobuf", "d (DateTime) = 2024/02/29 00:00:00"],
    ["gdb", "OpenFileGDB", "d (DateTime) = 2024/02/29 00:00:00"],
  ])("bytes come there, and fields of any name: .%s of %s", (extension, driver, date) => {
    const path = scratch.path(`values.${extension}`);
    const { status, stderr } = geoferry(["convert", typed(extension), path, "--to", `gdal:${driver}`]);
    expect([status, stderr.includes("field-dropped")]).toEqual([0, false]);
    const { stdout } = spawnSync("ogrinfo", ["-q", "-al", path], { encoding: "utf8" });
    for (const value of ["b (Binary) = 00FF", "i (String) = I", "g (String) = G", "c0 (String) = C", date])
      expect(stdout).toContain(value);
    expect(stdout.match(/POINT \(/g)).toHaveLength(2);
    if (driver !== "FlatGeobuf") expect(idsIn(path, "--from", `gdal:${driver}`)).toEqual({ 0: 7, 1: 3 });
  });

  test("microseconds that GDAL drops are a loss", () => {
    const table = scratch.path("times.csv");
    writeFileSync(table, "at,lon,lat\n2024-01-02T03:04:05.123456Z,1,2\n2024-01-02T03:04:05.123Z,1,2\n");
    const { stderr } = geoferry(["convert", table, scratch.path("times.fgb"), "--to", "gdal:FlatGeobuf"]);
    expect(stderr).toContain("time-rounded of at: fractions beyond milliseconds");
  });
});

describe.skipIf(!hasGdal)("a folder that is a dataset", () => {
  test("may be written with the slash that shells put behind it", () => {
    mkdirSync(scratch.path("slash"));
    const [first, second] = [points("first", [1]), points("second", [1, 2])];
    const path = `${scratch.path("slash/places.gdb")}/`;
    expect(geoferry(["convert", first, path]).status).toBe(0);
    expect(geoferry(["convert", second, path, "--overwrite"]).status).toBe(0);
    expect(readdirSync(scratch.path("slash"))).toEqual(["places.gdb"]);
    expect(idsIn(path)).toEqual({ 0: 1, 1: 2 });
  });

  test("takes no name of a file", () => {
    const path = scratch.path("plain");
    const { status, stderr } = geoferry(["convert", points("one", [1]), path, "--to", "gdal:OpenFileGDB"]);
    expect(status).toBe(6);
    expect(stderr).toMatch(/plain.*GDAL writes a folder/);
    expect(existsSync(path)).toBe(false);
  });
});
