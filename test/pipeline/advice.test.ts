/** Small pieces of advice: each says what to do, names what it speaks of, and works when followed. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { convertMany } from "../../src/pipeline/convert-many.js";
import { describeSkippedRange } from "../../src/pipeline/report.js";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { geoferry, samples } from "../support/command.js";
import { convertFile, createTestHost } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

function file(name: string, contents: string | Buffer): string {
  const path = scratch.path(name);
  writeFileSync(path, contents);
  return path;
}

async function zip(name: string, entries: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const archive = new ZipFile();
  for (const [entry, contents] of Object.entries(entries)) archive.addBuffer(Buffer.from(contents), entry);
  archive.end();
  const chunks: Buffer[] = [];
  for await (const chunk of archive.outputStream) chunks.push(chunk as Buffer);
  return file(name, Buffer.concat(chunks));
}

const messageOf = (input: string, output: string, request: Partial<ConvertRequest> = {}): Promise<string> =>
  convertFile(input, scratch.path(output), { overwrite: true, ...request }).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

const feature = (x: number, y: number) => ({
  type: "Feature",
  properties: { a: 1 },
  geometry: { type: "Point", coordinates: [x, y] },
});

test("a table with empty coordinates declares no geometry", async () => {
  const input = file("empty-cells.csv", "name,lon,lat\na,,\nb,,\n");
  const { notices } = await convertFile(input, scratch.path("empty-cells.geojson"), {});
  const [{ example } = { example: "" }] = notices.filter(({ code }) => code === "no-geometry");
  expect(example).toBe("none of the 2 features of empty-cells has a geometry, although it is a layer of Point");
});

describe("a source without a reference system", () => {
  test("a source without a reference system is reported with the name of its layer", async () => {
    const input = scratch.path("two.gpkg");
    const metres = { crs: null, reproject: false } as const;
    const plane = file(
      "plane.geojson",
      JSON.stringify({ type: "FeatureCollection", crs: null, features: [feature(691000, 5334000)] }),
    );
    await convertFile(`${samples}/parks.geojson`, input, { layerName: "parks" });
    await convertFile(plane, input, { reproject: metres.reproject, append: true, layerName: "wells" });
    const output = "two.geojson";
    expect(await messageOf(input, output, { layers: ["wells"] })).toContain("two.gpkg, layer wells: declares no");
    expect(await messageOf(plane, output)).toContain("plane.geojson: declares no");
  });

  test("coordinates copied into a format of degrees get the advice to reproject", async () => {
    const input = file("metres.csv", "name,x,y\na,691000,5334000\n");
    const request = { sourceCrs: "EPSG:25832", overwrite: true };
    const output = scratch.path("metres.gpx");
    await convertFile(input, output, { ...request, reproject: false });
    const rejects = readFileSync(`${output}.rejects.geojsonl`, "utf8");
    expect(rejects).toContain("these look like metres: omit --no-reproject");
    expect(rejects).not.toContain("--source-crs");
    expect(await convertFile(input, output, request)).toMatchObject({ written: 1, rejected: 0 });
  });

  test("an output that cannot declare its system gets advice", async () => {
    const { losses } = await convertFile(`${samples}/shapefile/survey.shp`, scratch.path("undeclared.geojson"), {
      reproject: false,
    });
    expect(losses).toMatchObject([
      {
        code: "crs-undeclared",
        example: expect.stringMatching(/; omit --no-reproject, or choose another format$/),
      },
    ]);
  });
});

describe("a zip", () => {
  test("a file with the extension .zip that is not a zip is reported", async () => {
    const input = file("page.zip", "<!doctype html><title>Not found</title>");
    expect(await messageOf(input, "a.geojson")).toMatch(
      /page\.zip: has the extension \.zip, but is not a zip: it begins with "<!doctype html><title>Not found<"; get it again, or give it/,
    );
  });

  test("the error for a zip without geographic files lists its entries", async () => {
    const documents = { "readme.txt": "hello", "picture.png": "\x89PNG" };
    const input = await zip("documents.zip", documents);
    const inner = await zip("outer.zip", { "documents.zip": readFileSync(input) });
    for (const [path, listed] of [
      [input, "documents.zip: has no file of a format that geoferry knows; it has readme.txt, picture.png"],
      [inner, "outer.zip: has no file of a format that geoferry knows; it has documents.zip/readme.txt"],
    ] as const)
      expect(await messageOf(path, "b.geojson")).toContain(listed);
  });

  test("the error for a zip without files gives advice", async () => {
    expect(await messageOf(await zip("none.zip", {}), "c.geojson")).toMatch(/the zip contains no files; get it again$/);
  });
});

test("a .shp truncated within its header is reported as truncated", async () => {
  const whole = readFileSync(`${samples}/shapefile/survey.shp`);
  for (const bytes of [3, 60, 99])
    expect(await messageOf(file("cut.shp", whole.subarray(0, bytes)), "d.geojson")).toMatch(
      /the file ends early: a \.shp has a header of 100 bytes; get the whole file$/,
    );
});

test("a skipped range of zero bytes is described as missing data", () => {
  const gap = { source: "a.dbf", place: { byte: 0 }, reason: "it is empty" };
  expect(describeSkippedRange({ ...gap, bytes: 0 })).toBe("a.dbf, byte 0: skipped missing data: it is empty");
  expect(describeSkippedRange({ ...gap, bytes: 1 })).toBe("a.dbf, byte 0: skipped 1 byte: it is empty");
});

describe("inputs with the same output name", () => {
  const outputsOf = async (folder: string, inputs: readonly string[]) => {
    mkdirSync(scratch.path(folder), { recursive: true });
    for (const input of inputs) file(`${folder}/${input}`, input.endsWith(".csv") ? "a,lon,lat\n1,7,50\n" : geojson);
    const output = `${scratch.path(`${folder}-out`)}/`;
    const request = {
      inputs: [scratch.path(folder)],
      output,
      to: "geojsonseq",
      onNameClash: "number",
      workers: 1,
    } as const;
    const outcomes = await convertMany(request, createTestHost());
    return Object.fromEntries(
      outcomes.map(({ input, output: path }) => [input.split("/").at(-1), path.split("/").at(-1)]),
    );
  };
  const geojson = JSON.stringify({ type: "FeatureCollection", features: [feature(1, 2)] });

  test("the second of two inputs with the same output name is numbered", async () => {
    expect(await outputsOf("clash", ["f1.csv", "f1.geojson", "f2.csv"])).toEqual({
      "f1.csv": "f1.geojsonl",
      "f1.geojson": "f1_1.geojsonl",
      "f2.csv": "f2.geojsonl",
    });
  });
});

describe("dates with two-digit years", () => {
  test("dates with two-digit years stay text with a notice", async () => {
    const input = file("years.csv", "name,since,lon,lat\na,31.12.99,7,50\nb,01.02.30,8,51\n");
    const { notices } = await convertFile(input, scratch.path("years.geojson"), {});
    expect(notices).toContainEqual(
      expect.objectContaining({
        code: "date-ambiguous",
        example: '"since": the years of the dates have two digits, which leave the century open, so they stay text',
      }),
    );
    expect(readFileSync(scratch.path("years.geojson"), "utf8")).toContain('"since":"31.12.99"');
  });

  test("two-digit years are not assumed in other texts", async () => {
    const input = file("other.csv", "name,net,lon,lat\na,10.20.30,7,50\nb,x,8,51\nc,1.2.2030,9,52\n");
    const { notices } = await convertFile(input, scratch.path("other.geojson"), {});
    expect(notices.filter(({ code }) => code === "date-ambiguous")).toEqual([]);
  });
});

test("the advised grid covers the position, not another part of the country", async () => {
  // In Missouri: EPSG:1711, NAD83 to WGS 84 (15), with the grid of that state (mohpgn).
  const input = file("missouri.geojson", JSON.stringify({ type: "FeatureCollection", features: [feature(-93, 38.5)] }));
  const { notices } = await convertFile(input, scratch.path("missouri.gpkg"), { targetCrs: "ESRI:102003" });
  const [{ example } = { example: "" }] = notices.filter(({ code }) => code === "crs-operation");
  expect(example).toContain("geoferry grids get us_noaa_mohpgn.tif");
  expect(example).not.toContain("more operations");
});

test("a single latitude beyond 90° does not count as swapped coordinates", async () => {
  const input = file(
    "one-bad.geojson",
    JSON.stringify({ type: "FeatureCollection", features: [feature(8, 95), feature(8, 45)] }),
  );
  const { stdout } = geoferry(["check", input]);
  expect(stdout).toContain("x and y may be swapped");
  expect(stdout).toContain("if only single positions are wrong, correct them");
  expect(stdout).toContain(
    "record 1: latitude 95 is beyond ±90°; if latitude comes before longitude in the whole input",
  );
  expect(stdout).not.toContain("x and y are swapped");
});
