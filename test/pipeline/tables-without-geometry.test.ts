/** A request that speaks of coordinates, and tables in which none are found. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

  test("the advice for --source-crs without geometry works, and the exit status is 3", () => {
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
        /latitude 5645282\.14 is beyond ±90°; these look like metres; is --source-crs right\?/,
      ),
    });
  });

  test("--source-crs is rejected for other formats without geometry, too", async () => {
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
  test.each(["info", "check"])("columns that look like coordinates are named by %s", (command) => {
    const { stdout } = geoferry([command, plane]);
    expect(stdout).toMatch(/"Lage A" and "Lage B" look like coordinates.*--in 'x=Lage A' --in 'y=Lage B'/);
    expect(geoferry([command, words]).stdout).not.toContain("look like coordinates");
  });

  test.each([
    ["WKT", '"POINT (8 47)"'],
    ["WKB", "010100000000000000000020400000000000804740"],
    ["GeoJSON", '"{""type"":""Point"",""coordinates"":[8,47]}"'],
  ])(
    "coordinates as %s in a column without a typical name are reported, with an option that works",
    async (_, cell) => {
      const input = table("attribute.csv", `name,where\nBern,${cell}\n`);
      const { notices } = await convertFile(input, scratch.path("attribute.geojson"), { overwrite: true });
      expect(notices).toMatchObject([
        {
          code: "coordinates-left-out",
          example: expect.stringMatching(/^"where" looks like geometries.*--in geometry=where/),
        },
      ]);
      const read = scratch.path("read.geojsonl");
      await convertFile(input, read, { readerOptions: { geometry: "where" }, overwrite: true });
      expect(JSON.parse(readFileSync(read, "utf8")).geometry).toEqual({ type: "Point", coordinates: [8, 47] });
      const { notices: none } = await convertFile(input, read, {
        readerOptions: { geometry: "none" },
        overwrite: true,
      });
      expect(none).toEqual([]);
    },
  );

  test("columns of long numbers and other JSON do not look like coordinates", async () => {
    const input = table("other.csv", 'code,data\n010000000000000000000000000000000000000001,"{""type"":""a""}"\n');
    expect((await convertFile(input, scratch.path("other.geojson"), {})).notices).toEqual([]);
  });

  test("columns that look like coordinates are reported if they are kept as attributes", async () => {
    const { notices } = await convertFile(plane, scratch.path("left.geojson"), {});
    expect(notices).toMatchObject([{ code: "coordinates-left-out", example: expect.stringContaining("Lage A") }]);
  });
});

describe("a table whose cells colons divide", () => {
  test("a table separated by colons is read as one column, with a note whose option reads it", async () => {
    const input = table("colons.csv", "name:lon:lat\nBern:8:47\nUlm:9:48\n");
    const output = scratch.path("colons.geojsonl");
    const { notices } = await convertFile(input, output, {});
    expect(notices).toMatchObject([{ code: "one-column", example: expect.stringMatching(/3: --in delimiter=: /) }]);
    await convertFile(input, output, { readerOptions: { delimiter: ":" }, overwrite: true });
    expect(JSON.parse(readFileSync(output, "utf8").split("\n")[0]!)).toMatchObject({
      properties: { name: "Bern" },
      geometry: { type: "Point", coordinates: [8, 47] },
    });
  });

  test("a column of times is not such a table", async () => {
    const input = table("times.csv", "10:15:00\n10:16:00\n");
    expect((await convertFile(input, scratch.path("times.geojson"), {})).notices).toEqual([]);
  });

  test("times cannot be written between colons", async () => {
    const input = table("comma.csv", "name,lon,lat\nBern,8,47\n");
    const writerOptions = { delimiter: ":" };
    await expect(convertFile(input, scratch.path("out.csv"), { writerOptions })).rejects.toThrow(/is not in times/);
  });
});

describe("a table whose cells spaces divide", () => {
  test("a table separated by spaces is read as one column, with a note that names the right option", async () => {
    const input = table("spaces.csv", "lat lon name\n47 8 Bern\n48 9 Ulm\n");
    const output = scratch.path("spaces.geojsonl");
    const { notices } = await convertFile(input, output, {});
    expect(notices).toMatchObject([{ code: "one-column", example: expect.stringMatching(/3: --in delimiter=space/) }]);
    await convertFile(input, output, { readerOptions: { delimiter: "space" }, overwrite: true });
    expect(JSON.parse(readFileSync(output, "utf8").split("\n")[0]!)).toMatchObject({
      properties: { name: "Bern" },
      geometry: { type: "Point", coordinates: [8, 47] },
    });
  });

  test("a table separated by spaces needs the same number of cells in each row", async () => {
    const input = table("sentences.csv", "what was said\nnot so much\nnothing\nmany words in a row\n");
    expect((await convertFile(input, scratch.path("sentences.geojson"), {})).notices).toEqual([]);
  });
});
