/** Datasets of several files of which one is missing or cut off, and layers that GDAL cannot open: never empty without a word. */
import { copyFileSync, cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, samples } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const capitals = `${samples}/capitals.geojson`;

function convert(input: string, ...args: readonly string[]) {
  const output = scratch.path("out.geojson");
  rmSync(output, { force: true });
  const { status, stderr } = geoferry(["convert", input, output, ...args]);
  return { status, stderr, features: () => JSON.parse(readFileSync(output, "utf8")).features as unknown[] };
}

describe.skipIf(!hasGdal)("a File Geodatabase", () => {
  const whole = scratch.path("whole.gdb");
  // The first table after those of the system (File Geodatabase, reverse-engineered specification by E. Rouault).
  const table = "a00000009";
  if (hasGdal) ogr2ogr("-f", "OpenFileGDB", whole, capitals);
  const copy = (name: string) => {
    const folder = scratch.path(name);
    cpSync(whole, folder, { recursive: true });
    return folder;
  };

  test("is refused if GDAL cannot open the table of a layer", () => {
    const folder = copy("cut.gdb");
    const index = `${folder}/${table}.gdbtablx`;
    truncateSync(index, statSync(index).size / 2);
    for (const { status, stderr } of [convert(folder), geoferry(["info", folder]), geoferry(["check", folder])]) {
      expect(stderr).toContain('its layer "capitals" is damaged, or needs a newer GDAL: Error occurred in');
      expect(status).toBe(3);
    }
    const skipped = convert(folder, "--skip-errors", "--allow-empty");
    expect([skipped.status, skipped.features()]).toEqual([5, []]);
  });

  test("of which GDAL guesses the places of features is a loss, which --strict refuses", () => {
    const folder = copy("guessed.gdb");
    rmSync(`${folder}/${table}.gdbtablx`);
    const { status, stderr } = convert(folder);
    expect([status, stderr]).toEqual([0, expect.stringContaining("lost gdal-warning")]);
    expect(stderr).toContain("this might fail or return incorrect results");
    expect(convert(folder, "--strict").status).toBe(4);
  });

  test("that is whole has no loss", () => {
    const { status, stderr, features } = convert(whole, "--strict");
    expect([status, stderr.includes("gdal-warning"), features().length]).toEqual([0, false, 195]);
  });
});

describe.skipIf(!hasGdal)("a MapInfo dataset", () => {
  if (hasGdal) {
    ogr2ogr("-f", "MapInfo File", scratch.path("whole.mif"), capitals, "-dsco", "FORMAT=MIF");
    ogr2ogr("-f", "MapInfo File", scratch.path("whole.tab"), capitals);
    ogr2ogr("-f", "MapInfo File", scratch.path("table.tab"), capitals, "-nlt", "NONE");
  }
  const copy = (name: string, ...extensions: readonly string[]) => {
    for (const extension of extensions)
      copyFileSync(scratch.path(`whole.${extension}`), scratch.path(`${name}.${extension}`));
    return scratch.path(`${name}.${extensions[0]}`);
  };

  test.each([
    ["mif", ["mif"], "has no .mid beside it, so all values are null"],
    ["tab", ["tab", "dat", "id"], "has no .map beside it, so no feature has a geometry"],
  ])("without one of the files of a .%s is a loss, which --strict refuses", (_, extensions, message) => {
    const path = copy(`less-${extensions[0]}`, ...extensions);
    const { status, stderr } = convert(path);
    expect([status, stderr]).toEqual([0, expect.stringContaining("lost companion-missing")]);
    expect(stderr).toContain(message);
    expect(convert(path, "--strict").status).toBe(4);
  });

  test("is refused if its .mif ends before its .mid", () => {
    const path = copy("cut", "mif", "mid");
    truncateSync(path, statSync(path).size / 2);
    const { status, stderr } = convert(path);
    expect([status, stderr]).toEqual([3, expect.stringMatching(/ends after \d+ features, and its \.mid has 195 rows/)]);
  });

  test("is whole, or has no geometry, without a loss", () => {
    for (const name of ["whole.mif", "whole.tab", "table.tab"]) {
      const { status, stderr, features } = convert(scratch.path(name));
      expect([name, status, stderr.includes("companion-missing"), features().length]).toEqual([name, 0, false, 195]);
    }
  });

  test("that GDAL cannot open is refused with GDAL's reason", () => {
    const path = scratch.path("odd.tab");
    copyFileSync(scratch.path("whole.dat"), scratch.path("odd.dat"));
    writeFileSync(path, readFileSync(scratch.path("whole.tab"), "utf8").replace(/Char *\(/, "LargeInt ("));
    const { status, stderr } = convert(path);
    expect([status, stderr]).toEqual([3, expect.stringMatching(/cannot read it: \S+/)]);
  });
});

test.skipIf(!hasGdal)("all layers of an OpenStreetMap file are read, whose features are in one sequence", () => {
  const path = scratch.path("town.osm");
  const node = (id: number, lon: number, lat: number, tags = "") =>
    `<node id="${id}" lat="${lat}" lon="${lon}" version="1" visible="true">${tags}</node>`;
  const way = (id: number, nodes: readonly number[], tag: string) =>
    `<way id="${id}" version="1" visible="true">${nodes.map((n) => `<nd ref="${n}"/>`).join("")}${tag}</way>`;
  const tag = (k: string, v: string) => `<tag k="${k}" v="${v}"/>`;
  writeFileSync(
    path,
    `<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">${node(1, 7, 46, tag("name", "Spring"))}${node(2, 7.1, 46)}
    ${node(3, 7.1, 46.1)}${way(10, [1, 2, 3], tag("highway", "path"))}${way(11, [1, 2, 3, 1], tag("building", "yes"))}</osm>`,
  );
  const output = scratch.path("town.gpkg");
  const { status, stdout, stderr } = geoferry(["convert", path, output]);
  expect(status, stderr).toBe(0);
  const counts = [...(stdout + stderr).matchAll(/layer (\w+): (\d+) feature/g)].map(([, name, count]) => [name, count]);
  expect(counts).toEqual([
    ["points", "1"],
    ["lines", "1"],
    ["multilinestrings", "0"],
    ["multipolygons", "1"],
    ["other_relations", "0"],
  ]);
});
