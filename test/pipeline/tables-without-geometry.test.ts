/** A request that speaks of coordinates, and tables in which none are found. */
import { existsSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

function table(name: string, content: string): string {
  const path = scratch.path(name);
  writeFileSync(path, content);
  return path;
}

const plane = table("plane.csv", "id;Lage A;Lage B\n1;565000;5935000\n2;566000;5936000\n");
const words = table("words.csv", "id;name\n1;a\n2;b\n");
const noGeometry = table("empty-geometry.geojson", '{"type":"Feature","geometry":null,"properties":{"a":1}}');

describe("--source-crs and --swap-xy without any geometry", () => {
  test.each([
    ["--source-crs", { sourceCrs: "EPSG:25832" }],
    ["--swap-xy", { swapXy: true }],
  ])("%s is an error that names the columns to take and the options that take them", async (option, request) => {
    const output = scratch.path("out.geojson");
    await expect(convertFile(plane, output, request)).rejects.toMatchObject({
      code: "geometry-missing",
      message: expect.stringMatching(
        new RegExp(`${option} is given.*"Lage A" and "Lage B".*--in 'x=Lage A' --in 'y=Lage B'`),
      ),
    });
    expect(existsSync(output)).toBe(false);
  });

  test("the advice works, and the exit status is 3", () => {
    const output = scratch.path("advised.geojson");
    const asked = ["convert", plane, output, "--source-crs", "EPSG:25832"];
    expect(geoferry(asked).status).toBe(3);
    const { status, stderr } = geoferry([...asked, "--in", "x=Lage A", "--in", "y=Lage B"]);
    expect([status, stderr]).toEqual([0, expect.stringContaining("2 features in EPSG:4326")]);
  });

  test("without columns that look like coordinates, all columns are listed", async () => {
    await expect(convertFile(words, scratch.path("w.geojson"), { sourceCrs: "EPSG:25832" })).rejects.toMatchObject({
      code: "geometry-missing",
      message: expect.stringMatching(/--in x=COLUMN --in y=COLUMN.*"id", "name"/),
    });
  });

  test("an input with only rejected geometries reports the reason and the option that may be wrong", async () => {
    const projected = table("projected.csv", "x,y,name\n356560.26,5645282.14,a\n");
    await expect(convertFile(projected, scratch.path("p.geojson"), { sourceCrs: "EPSG:4326" })).rejects.toMatchObject({
      code: "geometry-missing",
      message: expect.stringMatching(
        /latitude 5645282\.14 is beyond ±90°; these look like meters; is --source-crs right\?/,
      ),
    });
  });

  test("other formats are refused, too", async () => {
    await expect(convertFile(noGeometry, scratch.path("g.gpkg"), { sourceCrs: "EPSG:4258" })).rejects.toMatchObject({
      code: "geometry-missing",
    });
  });

  test("a table without rows is accepted", async () => {
    const { written } = await convertFile(table("none.csv", "id;name\n"), scratch.path("n.geojson"), {
      sourceCrs: "EPSG:25832",
    });
    expect(written).toBe(0);
  });
});

describe("columns that look like coordinates", () => {
  test.each(["info", "check"])("are named by %s", (command) => {
    const { stdout } = geoferry([command, plane]);
    expect(stdout).toMatch(/"Lage A" and "Lage B" look like coordinates.*--in 'x=Lage A' --in 'y=Lage B'/);
    expect(geoferry([command, words]).stdout).not.toContain("look like coordinates");
  });

  test("are reported by a conversion that keeps them as attributes", async () => {
    const { notices } = await convertFile(plane, scratch.path("left.geojson"), {});
    expect(notices).toMatchObject([{ code: "coordinates-left-out", example: expect.stringContaining("Lage A") }]);
  });
});
