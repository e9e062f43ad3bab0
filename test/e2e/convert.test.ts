import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { geoferry, hasProgram, ogrinfo, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Feature {
  id?: string | number;
  geometry: { type: string; coordinates: unknown } | null;
  properties: Record<string, unknown>;
}
const read = (name: string): Feature[] => JSON.parse(readFileSync(scratch.path(name), "utf8")).features;
const lines = (name: string): string[] => readFileSync(scratch.path(name), "utf8").trimEnd().split("\n");

describe("convert", () => {
  test("convert reprojects a Shapefile to WGS 84 within a millimetre of the longitudes in its attributes", () => {
    expect(geoferry(["convert", `${samples}/shapefile/survey.shp`, scratch.path("survey.geojson")]).status).toBe(0);
    const expected: Feature[] = JSON.parse(readFileSync(`${samples}/survey.geojson`, "utf8")).features;
    const actual = read("survey.geojson");
    expect(actual).toHaveLength(expected.length);
    for (const [i, feature] of actual.entries()) {
      const [x, y] = feature.geometry!.coordinates as [number, number];
      const [ex, ey] = expected[i]!.geometry!.coordinates as [number, number];
      expect(Math.abs(x - ex)).toBeLessThan(2e-7);
      expect(Math.abs(y - ey)).toBeLessThan(2e-7);
    }
  });

  test.runIf(hasProgram("ogrinfo"))("convert writes a Shapefile that ogrinfo reads correctly", () => {
    expect(geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("capitals.shp")]).status).toBe(0);
    const { text, complaints } = ogrinfo(scratch.path("capitals.shp"));
    expect(complaints).toBe("");
    expect(text).toContain("Feature Count: 195");
    expect(text).toMatch(/Geometry: (3D )?Point/);
    expect(text).toContain('ID["EPSG",4326]');
    expect(text).toMatch(/population: Integer(64)? \(\d+\.0\)/);
    expect(text).toMatch(/since: Date/);
  });

  test("convert writes only data to stdout, and accepts - for stdin and stdout", () => {
    const input = readFileSync(`${samples}/csv/capitals.csv`);
    const done = geoferry(["convert", "-", "-", "--to", "geojsonseq", "--where", "iso2 = 'AT'"], { input });
    expect(done.status).toBe(0);
    const features = done.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(features).toHaveLength(1);
    expect(features[0].properties.name).toBe("Vienna");
  });

  test.each([
    ["null", [10, 50], [], 0, "crs-assumed"],
    ["null", [500000, 5700000], [], 3, "--source-crs"],
    ['{"type":"link","properties":{"href":"https://example.com/crs/42"}}', [10, 50], [], 3, "--source-crs"],
    [
      '{"type":"link","properties":{"href":"https://example.com/crs/42"}}',
      [10, 50],
      ["--source-crs", "EPSG:4258"],
      0,
      "",
    ],
    ['{"type":"name","properties":{"name":"our grid"}}', [10, 50], [], 3, "our grid"],
  ])("GeoJSON with the crs %s at %j %j ends with %i", (crs, coordinates, more, status, said) => {
    const point = { type: "Feature", properties: {}, geometry: { type: "Point", coordinates } };
    writeFileSync(
      scratch.path("crs.geojson"),
      `{"type":"FeatureCollection","crs":${crs},"features":[${JSON.stringify(point)}]}`,
    );
    const done = geoferry(["convert", scratch.path("crs.geojson"), scratch.path("crs.csv"), "--overwrite", ...more]);
    expect(done.status).toBe(status);
    expect(done.stderr).toContain(said);
  });

  test("an empty --select is an error", () => {
    const done = geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("none.csv"), "--select", ""]);
    expect(done.status).toBe(2);
    expect(done.stderr).toContain("--select");
    expect(existsSync(scratch.path("none.csv"))).toBe(false);
  });

  test("the report says why a field that differs from another only in letter case was renamed", () => {
    const point = { type: "Feature", properties: { id: 1, ID: "x" }, geometry: { type: "Point", coordinates: [1, 2] } };
    writeFileSync(scratch.path("case.geojson"), JSON.stringify(point));
    const done = geoferry(["convert", scratch.path("case.geojson"), scratch.path("case.shp")]);
    expect(done.stderr).toContain('"ID" became "ID_1", since ESRI Shapefile ignores case and "id" exists');
  });

  test("convert selects, renames, casts and limits", () => {
    const status = geoferry([
      "convert",
      `${samples}/capitals.geojson`,
      scratch.path("few.geojson"),
      "--select",
      "name,population",
      "--rename",
      "population=people",
      "--cast",
      "population=text",
      "--limit",
      "3",
    ]).status;
    expect(status).toBe(0);
    const features = read("few.geojson");
    expect(features).toHaveLength(3);
    expect(Object.keys(features[0]!.properties)).toEqual(["name", "people"]);
    expect(typeof features.find((feature) => feature.properties.people !== null)!.properties.people).toBe("string");
  });

  test("convert accepts a --bbox that starts with a minus", () => {
    expect(
      geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("box.csv"), "--bbox", "-10,35,5,45"]).status,
    ).toBe(0);
    const names = lines("box.csv")
      .slice(1)
      .map((line) => line.split(",").find((cell) => /^(Madrid|Lisbon|Algiers|Andorra)/.test(cell)));
    expect(names.filter(Boolean).sort()).toEqual(["Algiers", "Andorra la Vella", "Lisbon", "Madrid"]);
  });

  test("convert splits mixed geometries into several Shapefiles, and rejects types that none can hold", () => {
    const done = geoferry(["convert", `${samples}/mixed.geojson`, scratch.path("mixed.shp")]);
    expect(done.status).toBe(5);
    const written = readdirSync(scratch.folder)
      .filter((name) => /^mixed.*\.shp$/.test(name))
      .sort();
    expect(written).toEqual(["mixed_line.shp", "mixed_multipoint.shp", "mixed_point.shp", "mixed_polygon.shp"]);
    expect(lines("mixed.shp.rejects.geojsonl")).toHaveLength(1);
    expect(JSON.parse(lines("mixed.shp.rejects.geojsonl")[0]!)).toMatchObject({
      reject: { code: "geometry-unsupported", layer: "mixed" },
    });
  });

  test("--append keeps existing features", () => {
    geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("both.csv"), "--limit", "2"]);
    expect(
      geoferry(["convert", `${samples}/capitals.geojson`, scratch.path("both.csv"), "--limit", "5", "--append"]).status,
    ).toBe(0);
    expect(lines("both.csv")).toHaveLength(1 + 2 + 5);
  });

  test("--append writes feature ids to the existing id field", () => {
    geoferry(["convert", `${samples}/passes.geojson`, scratch.path("ids.csv"), "--select", "name"]);
    const status = geoferry([
      "convert",
      `${samples}/passes.geojson`,
      scratch.path("ids.csv"),
      "--select",
      "id,name",
      "--append",
      "--in",
      "fid=id",
    ]).status;
    expect(status).toBe(0);
    expect(
      lines("ids.csv")[0]!
        .split(",")
        .filter((name) => /^id/.test(name)),
    ).toEqual(["id"]);
    expect(lines("ids.csv")).toHaveLength(1 + 14);
  });

  test("--append does not apply options for new features to existing ones", () => {
    const output = scratch.path("grown.csv");
    geoferry(["convert", `${samples}/capitals.geojson`, output]);
    const before = lines("grown.csv");
    const run = (...args: string[]) =>
      geoferry(["convert", `${samples}/capitals.geojson`, output, "--append", ...args]).status;
    expect(run("--limit", "1")).toBe(0);
    expect(run("--where", "iso2 = 'FR'")).toBe(0);
    expect(run("--select", "name", "--bbox", "0,45,5,50")).toBe(0);
    expect(lines("grown.csv").slice(0, before.length)).toEqual(before);
    expect(lines("grown.csv").length).toBeGreaterThan(before.length + 2);
    expect(run("--target-crs", "EPSG:3857")).toBe(2);
  });

  test("--append is rejected if it would need another file", () => {
    geoferry(["convert", `${samples}/passes.geojson`, scratch.path("dots.shp")]);
    const before = readFileSync(scratch.path("dots.shp"));
    expect(geoferry(["convert", `${samples}/parks.geojson`, scratch.path("dots.shp"), "--append"]).status).toBe(4);
    expect(readFileSync(scratch.path("dots.shp")).equals(before)).toBe(true);
  });

  test("a set of files does not replace companions of its input or of another file", () => {
    cpSync(`${samples}/csv/survey.csv`, scratch.path("own.csv"));
    cpSync(`${samples}/csv/survey.prj`, scratch.path("own.prj"));
    const before = readFileSync(scratch.path("own.prj"), "utf8");
    expect(geoferry(["convert", scratch.path("own.csv"), scratch.path("own.shp")]).status).toBe(2);
    expect(geoferry(["convert", scratch.path("own.csv"), scratch.path("own.shp"), "--overwrite"]).status).toBe(2);
    expect(readFileSync(scratch.path("own.prj"), "utf8")).toBe(before);
    writeFileSync(scratch.path("precious.dbf"), "precious");
    expect(geoferry(["convert", `${samples}/passes.geojson`, scratch.path("precious.shp")]).status).toBe(2);
    expect(readFileSync(scratch.path("precious.dbf"), "utf8")).toBe("precious");
  });

  test("--rename to an existing field, and to unknown fields, is rejected", () => {
    const output = scratch.path("refused.geojson");
    const run = (...args: string[]) => geoferry(["convert", `${samples}/capitals.geojson`, output, ...args]);
    expect(run("--rename", "name=country")).toMatchObject({ status: 2 });
    expect(run("--select", "nope").stderr).toContain('"nope"');
    expect(run("--where", "nope = 1")).toMatchObject({ status: 3 });
    expect(readdirSync(scratch.folder)).not.toContain("refused.geojson");
  });

  test("companion files get the extension of the output", () => {
    expect(geoferry(["convert", `${samples}/passes.geojson`, scratch.path("bare"), "--to", "shapefile"]).status).toBe(
      0,
    );
    expect(
      readdirSync(scratch.folder)
        .filter((name) => name.startsWith("bare"))
        .sort(),
    ).toEqual(["bare.cpg", "bare.dbf", "bare.prj", "bare.shp", "bare.shx"]);
  });

  test("options are read from the environment, and flags take precedence", () => {
    const env = { GEOFERRY_LIMIT: "2", GEOFERRY_OVERWRITE: "yes" };
    const run = (...args: string[]) =>
      geoferry(["convert", `${samples}/passes.geojson`, scratch.path("env.csv"), ...args], { env });
    expect(run().status).toBe(0);
    expect(lines("env.csv")).toHaveLength(1 + 2);
    expect(run("--limit", "3").status).toBe(0);
    expect(lines("env.csv")).toHaveLength(1 + 3);
  });

  test("convert merges several inputs into one file with the union of their fields", () => {
    writeFileSync(scratch.path("a.csv"), "lon,lat,name\n1,2,x\n");
    writeFileSync(scratch.path("b.csv"), "lon,lat,size\n3,4,7\n");
    expect(geoferry(["convert", scratch.path("a.csv"), scratch.path("b.csv"), scratch.path("ab.csv")]).status).toBe(0);
    expect(lines("ab.csv")).toEqual(["lon,lat,name,size", "1,2,x,", "3,4,,7"]);
  });

  test("--if-newer skips outputs that are up to date", () => {
    cpSync(`${samples}/csv/capitals.csv`, scratch.path("source.csv"));
    const run = () => geoferry(["convert", scratch.path("source.csv"), scratch.path("source.geojson"), "--if-newer"]);
    utimesSync(scratch.path("source.csv"), new Date(1e12), new Date(1e12));
    expect(run().status).toBe(0);
    const first = statSync(scratch.path("source.geojson")).mtimeMs;
    expect(run().stderr).toMatch(/\S: up to date$/m);
    expect(statSync(scratch.path("source.geojson")).mtimeMs).toBe(first);
    utimesSync(scratch.path("source.csv"), new Date(Date.now() + 5000), new Date(Date.now() + 5000));
    expect(run().status).toBe(0);
    expect(statSync(scratch.path("source.geojson")).mtimeMs).toBeGreaterThan(first);
  });

  test("an overwritten Shapefile keeps none of its old companions", () => {
    for (const companion of ["sbn", "qix", "shp.xml", "idm"]) writeFileSync(scratch.path(`old.${companion}`), "stale");
    geoferry(["convert", `${samples}/shapefile/survey.shp`, scratch.path("old.shp"), "--overwrite"]);
    expect(geoferry(["convert", `${samples}/shapefile/parks.shp`, scratch.path("old.shp"), "--overwrite"]).status).toBe(
      0,
    );
    const left = readdirSync(scratch.folder)
      .filter((name) => name.startsWith("old."))
      .sort();
    expect(left).toEqual(expect.arrayContaining(["old.cpg", "old.dbf", "old.prj", "old.shp", "old.shx"]));
    expect(left).not.toEqual(expect.arrayContaining(["old.sbn"]));
    expect(left).not.toEqual(expect.arrayContaining(["old.qix"]));
  });
});

describe("convert into a folder", () => {
  beforeAll(() => {
    mkdirSync(scratch.path("in/deep"), { recursive: true });
    cpSync(`${samples}/csv/capitals.csv`, scratch.path("in/capitals.csv"));
    cpSync(`${samples}/csv/parks.csv`, scratch.path("in/deep/parks.csv"));
    writeFileSync(scratch.path("in/broken.geojson"), '{"type":"FeatureCollection","features":[{"type"');
  });

  test("convert into a folder mirrors the tree, and an invalid file does not stop the others", () => {
    const done = geoferry(["convert", scratch.path("in"), `${scratch.path("out")}/`, "--to", "geojson"]);
    expect(done.status).toBe(3);
    expect(done.stderr).toContain("broken.geojson");
    expect(readdirSync(scratch.path("out"), { recursive: true }).sort()).toEqual([
      "capitals.geojson",
      "deep",
      "deep/parks.geojson",
    ]);
  });

  test("a folder as input implies a folder as output", () => {
    expect(geoferry(["convert", `${samples}/csv`, scratch.path("named"), "--to", "geojsonseq"]).status).toBe(0);
    expect(readdirSync(scratch.path("named"))).toContain("capitals.geojsonl");
  });

  test("convert expands globs that the shell did not expand", () => {
    const done = geoferry(["convert", "in/**/*.csv", "globbed/", "--to", "geojson"], { cwd: scratch.folder });
    expect(done.status).toBe(0);
    expect(readdirSync(scratch.path("globbed"), { recursive: true }).sort()).toEqual([
      "capitals.geojson",
      "deep",
      "deep/parks.geojson",
    ]);
  });

  test("convert detects output name conflicts before it starts", () => {
    const done = geoferry([
      "convert",
      scratch.path("in/capitals.csv"),
      `${samples}/capitals.geojson`,
      `${scratch.path("clash")}/`,
      "--to",
      "shapefile",
    ]);
    expect(done.status).toBe(2);
    expect(done.stderr).toContain("capitals.shp");
    expect(readdirSync(scratch.folder)).not.toContain("clash");
  });
});

describe("workers", () => {
  beforeAll(() => {
    const rows = Array.from(
      { length: 120_000 },
      (_, i) => `${(i % 360) - 180},${(i % 180) - 90},"name, ${i}",${i},${i / 8}`,
    );
    writeFileSync(scratch.path("many.csv"), `lon,lat,name,count,share\n${rows.join("\n")}\n`);
  });

  test.each(["geojson", "csv", "shp"])("the bytes of .%s output are the same for 1, 2 and 3 workers", (extension) => {
    const env = { SOURCE_DATE_EPOCH: "1000000000" };
    const bytes = ["1", "2", "3"].map((workers) => {
      const output = scratch.path(`many-${workers}.${extension}`);
      const done = geoferry(
        ["convert", scratch.path("many.csv"), output, "--workers", workers, "--source-crs", "EPSG:4326"],
        { env },
      );
      expect(done.status).toBe(0);
      return readFileSync(output);
    });
    expect(bytes[1]!.equals(bytes[0]!)).toBe(true);
    expect(bytes[2]!.equals(bytes[0]!)).toBe(true);
    expect(bytes[0]!.length).toBeGreaterThan(1_000_000);
  });
});
