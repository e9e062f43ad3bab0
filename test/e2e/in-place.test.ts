/** GeoPackages changed in place by `--append` and `--replace-layer`, as read by ogrinfo. */
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { geoferry, hasProgram, ogrinfo, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** "capitals 195, huts 3" */
function layersOf(path: string): string {
  const found = ogrinfo(path).text.matchAll(/^Layer name: (\S+)[\s\S]*?^Feature Count: (\d+)/gm);
  return [...found].map(([, name, count]) => `${name} ${count}`).join(", ");
}

describe.runIf(hasProgram("ogrinfo"))("a GeoPackage", () => {
  const base = scratch.path("base.gpkg");
  let output: string;
  let number = 0;
  const run = (input: string, ...flags: string[]) => geoferry(["convert", input, output, ...flags]);

  beforeAll(() => {
    expect(geoferry(["convert", `${samples}/capitals.geojson`, base]).status).toBe(0);
  });
  const fresh = () => {
    number += 1;
    output = scratch.path(`map${number}.gpkg`);
    copyFileSync(base, output);
  };

  test("--append adds a layer to a GeoPackage, and rows to an existing layer, whose name is matched in any letter case", () => {
    fresh();
    expect(run(`${samples}/huts.geojson`, "--append").status).toBe(0);
    expect(layersOf(output)).toBe("capitals 195, huts 3");
    expect(run(`${samples}/huts.geojson`, "--append", "--layer-name", "HUTS").status).toBe(0);
    expect(layersOf(output)).toBe("capitals 195, huts 6");
  });

  test("--replace-layer replaces one layer of a GeoPackage", () => {
    fresh();
    run(`${samples}/huts.geojson`, "--append");
    expect(run(`${samples}/capitals.geojson`, "--replace-layer", "--limit", "3").status).toBe(0);
    expect(layersOf(output).split(", ").sort()).toEqual(["capitals 3", "huts 3"]);
  });

  test("a GeoPackage is unchanged if an append fails near its end", () => {
    fresh();
    const features = Array.from({ length: 20_000 }, (_, i) => ({
      type: "Feature",
      properties: { name: `n${i}`, new: i },
      geometry: { type: "Point", coordinates: i === 19_999 ? [500, 500] : [i % 180, i % 90] },
    }));
    const input = scratch.path("capitals.geojson");
    writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features }));
    const before = ogrinfo(output).text;
    const failed = run(input, "--append", "--max-rejects", "0");
    expect(failed.status).toBe(7);
    expect(failed.stderr).toContain("nothing was written");
    expect(ogrinfo(output).text).toBe(before);
    expect(readdirSync(scratch.folder).filter((name) => name.startsWith(`map${number}`))).toEqual([
      `map${number}.gpkg`,
    ]);
    expect(run(input, "--append").status).toBe(5);
    expect(layersOf(output)).toBe(`capitals ${195 + 20_000}`);
  });
});
