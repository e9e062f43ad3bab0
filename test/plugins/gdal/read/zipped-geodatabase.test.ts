import { createWriteStream, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, describe, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { geoferry, samples } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** Zips a folder under a name, as Esri's programs do with a File Geodatabase. */
async function zipped(folder: string, as: string, path: string): Promise<string> {
  const zip = new ZipFile();
  for (const name of readdirSync(folder)) zip.addFile(join(folder, name), `${as}/${name}`);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

function converted(input: string, name: string, layer: string): unknown {
  const path = scratch.path(name);
  const { status, stderr } = geoferry(["convert", input, path, "--layer", layer]);
  expect([status, stderr.includes("geoferry:")]).toEqual([0, false]);
  return JSON.parse(readFileSync(path, "utf8"));
}

describe.skipIf(!hasGdal)("a zipped File Geodatabase", () => {
  const folder = scratch.path("world.gdb");
  const world = `${samples}/geopackage/world.gpkg`;
  if (hasGdal) {
    ogr2ogr("-f", "OpenFileGDB", "-nlt", "MULTILINESTRING", folder, world, "rivers");
    ogr2ogr("-f", "OpenFileGDB", "-update", folder, world, "capitals");
  }

  test("has the same features as the folder, with a name in any letter case", async () => {
    const path = await zipped(folder, "world.gdb", scratch.path("WORLD.GDB.ZIP"));
    const rivers = converted(path, "zipped.geojson", "rivers") as { readonly features: readonly unknown[] };
    expect(rivers.features).toHaveLength(12);
    expect(rivers).toEqual(converted(folder, "folder.geojson", "rivers"));
  });

  test("has all its layers", async () => {
    const path = await zipped(folder, "world.gdb", scratch.path("layers.gdb.zip"));
    const out = scratch.path("layers.gpkg");
    expect(geoferry(["convert", path, out]).status).toBe(0);
    const { stdout } = geoferry(["info", out]);
    expect(stdout).toMatch(/rivers[\s\S]*features\s+12\b/);
    expect(stdout).toMatch(/capitals[\s\S]*features\s+195\b/);
  });

  test("that was cut off ends with 3", async () => {
    const path = await zipped(folder, "world.gdb", scratch.path("whole.gdb.zip"));
    const bytes = readFileSync(path);
    const cut = scratch.path("cut.gdb.zip");
    writeFileSync(cut, bytes.subarray(0, bytes.length / 2));
    const { status, stderr } = geoferry(["convert", cut, scratch.path("cut.geojson")]);
    expect(status).toBe(3);
    expect(stderr).toContain("cut.gdb.zip");
  });

  test("is not written, and what is written instead is said", () => {
    const { status, stderr } = geoferry(["convert", world, scratch.path("out.gdb.zip"), "--layer", "rivers"]);
    expect(status).toBe(6);
    expect(stderr).toContain("use the extension .gdb");
    expect(readdirSync(scratch.folder)).not.toContain("out.gdb.zip");
  });
});
