import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const records = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const point = '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}';
const collection = `{"type":"FeatureCollection","features":[${point}]}`;

describe("--skip-errors", () => {
  test("a skipped range after the end of a GeoJSON text is reported with position and size, and the run ends with 5", () => {
    writeFileSync(scratch.path("junk.geojson"), `${collection}\n#garbage`);
    const strict = geoferry(["convert", "junk.geojson", "junk.csv"], { cwd: scratch.folder });
    expect(strict.status).toBe(3);
    const args = ["convert", "junk.geojson", "junk.csv", "--skip-errors"];
    const { status, stderr } = geoferry(args, { cwd: scratch.folder });
    expect(status).toBe(5);
    expect(stderr).toContain(`junk.geojson, byte ${collection.length + 1}: skipped 8 bytes: `);
    const { stdout } = geoferry([...args, "--overwrite", "--json"], { cwd: scratch.folder });
    const gap = { source: "junk.geojson", byte: collection.length + 1, bytes: 8, output: "junk.csv" };
    expect(records(stdout)).toContainEqual(expect.objectContaining({ type: "skipped-range", ...gap }));
    expect(records(stdout).at(-1)).toMatchObject({ type: "summary", written: 1, rejected: 0, skippedRanges: 1 });
    expect(geoferry([...args, "--overwrite", "--strict"], { cwd: scratch.folder }).status).toBe(4);
  });

  test("a truncated Shapefile is reported once, although the input is read twice", () => {
    for (const extension of ["shx", "prj"])
      copyFileSync(`${samples}/shapefile/parks.${extension}`, scratch.path(`parks.${extension}`));
    const whole = readFileSync(`${samples}/shapefile/parks.shp`);
    writeFileSync(scratch.path("parks.shp"), whole.subarray(0, Math.floor(whole.length / 2)));
    writeFileSync(scratch.path("parks.shx"), "");
    const args = ["parks.shp", "--skip-errors", "--json"];
    const { status, stdout } = geoferry(["convert", ...args, "cut.shp"], { cwd: scratch.folder });
    expect(status).toBe(5);
    const gaps = records(stdout).filter(({ type }) => type === "skipped-range");
    expect(gaps).toMatchObject([{ source: "parks.shp", bytes: null }]);
    const info = geoferry(["info", ...args], { cwd: scratch.folder });
    expect(info.status).toBe(5);
    expect(records(info.stdout).map(({ type }) => type)).toContain("skipped-range");
  });

  test("a valid file has no skipped ranges, and the run ends with 0", () => {
    writeFileSync(scratch.path("sound.geojson"), collection);
    const args = ["convert", "sound.geojson", "sound.csv", "--skip-errors"];
    expect(geoferry(args, { cwd: scratch.folder }).status).toBe(0);
  });
});
