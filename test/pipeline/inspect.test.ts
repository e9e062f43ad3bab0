/** What `info` and `check` find is what a conversion would find: tables in which it can place no position. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { inspect } from "../../src/pipeline/inspect.js";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { TemporaryFolder } from "../../src/testing/index.js";
import { geoferry } from "../support/command.js";
import { convertFile, createTestHost } from "../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

function table(text: string): string {
  const path = scratch.path(`t${files++}.csv`);
  writeFileSync(path, text);
  return path;
}

type Request = Partial<ConvertRequest>;

const looked = async (path: string, request: Request = {}, thorough = true) =>
  (await inspect({ inputs: [path], workers: 1, ...request }, createTestHost(), thorough)).layers[0]!;

/** The message of the conversion's error. */
const refusal = (path: string, request: Request = {}): Promise<string> =>
  convertFile(path, scratch.path(`o${files++}.geojson`), request).then(
    () => "",
    (error: Error) => error.message,
  );

describe("a table without coordinates and --source-crs", () => {
  const words = table("id,a,b\n1,x,5645000\n2,y,5645100\n");
  const letters = table("id,E,N\n1,32356500,5645000\n");
  const request = { sourceCrs: "EPSG:25832" };

  it.each([
    ["without columns of coordinates", words],
    ["with columns that look like some", letters],
  ])("%s rejects a table without coordinates with the message of the conversion", async (_, path) => {
    const { error } = await looked(path, request);
    expect(error).not.toBeNull();
    expect(await refusal(path, request)).toBe(`${path}: ${error}`);
    expect((await looked(path, request, false)).error).toBe(error);
    expect((await looked(path)).error).toBeNull();
  });

  it("a table without coordinates with --source-crs gives check exit status 5 and a JSON record", () => {
    const plain = geoferry(["check", words, "--source-crs", "EPSG:25832"]);
    expect(plain.status).toBe(5);
    expect(plain.stdout).toMatch(/convert refuses it\n/);
    expect(plain.stdout).toContain("no feature has a geometry");
    const { stdout } = geoferry(["check", words, "--source-crs", "EPSG:25832", "--json"]);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject([
      { type: "problem", code: "geometry-missing" },
      { type: "layer", problems: 1 },
    ]);
    expect(geoferry(["check", words]).status).toBe(0);
    expect(geoferry(["info", words, "--source-crs", "EPSG:25832"]).stdout).toContain("no feature has a geometry");
  });
});

describe("positions that cannot be transformed", () => {
  it("check reports positions that cannot be transformed with the reasons of the rejects", async () => {
    // Hours west of Germany, where no shift of its datum is known.
    const path = table("id,easting,northing\n1,356500,5645000\n2,3565000,5930000\n");
    const request = { sourceCrs: "EPSG:31467" };
    const { problems } = await looked(path, request);
    const output = scratch.path("far.geojson");
    const { rejected } = await convertFile(path, output, { ...request, maxRejects: "50%" });
    expect(rejected).toBe(1);
    const [reject] = readFileSync(scratch.path("far.geojson.rejects.geojsonl"), "utf8").trim().split("\n");
    expect(problems.map(({ reason }) => reason)).toHaveLength(1);
    expect(JSON.stringify(JSON.parse(reject!))).toContain(problems[0]!.reason);
  });
});

describe("a reference system from which no operation leads to WGS 84", () => {
  // RRAF 1991: its operations to WGS 84 stand in IGN's registry only.
  const path = table("id,easting,northing\n1,600000,1700000\n");
  const request = { sourceCrs: "EPSG:2989" };

  it("a reference system without an operation to WGS 84 is refused with the message of the conversion", async () => {
    const { error, errorCode, problems } = await looked(path, request);
    expect([errorCode, problems.length]).toEqual(["crs-no-operation", 0]);
    expect(error).toBe(await refusal(path, request));
    expect(error).toContain("no shift between");
  });

  it("a reference system without an operation to WGS 84 gets the advice --no-reproject", async () => {
    expect(await refusal(path, request)).toContain("--no-reproject copies the coordinates unchanged");
    const { written } = await convertFile(path, scratch.path("untouched.gpkg"), { ...request, reproject: false });
    expect(written).toBe(1);
  });

  it("a reference system without an operation to WGS 84 gives check exit status 5 and a JSON record", () => {
    const plain = geoferry(["check", path, "--source-crs", "EPSG:2989"]);
    expect(plain.status).toBe(5);
    expect(plain.stdout.match(/no shift between/g)).toHaveLength(1);
    const { status, stdout } = geoferry(["check", path, "--source-crs", "EPSG:2989", "--json"]);
    expect(status).toBe(5);
    expect(JSON.parse(stdout.split("\n")[0]!)).toMatchObject({ type: "problem", code: "crs-no-operation" });
  });

  it("check --strict reports a system whose operations are all worse than 5 m, like convert --strict", () => {
    // NAD27 in North Carolina: 8 m without a grid (EPSG:1173).
    const nad27 = table("id,longitude,latitude\n1,-80,35.5\n");
    const args = [nad27, "--source-crs", "EPSG:4267", "--no-standard-grids"];
    expect(geoferry(["check", ...args]).status).toBe(0);
    expect(geoferry(["check", ...args, "--strict"]).status).toBe(5);
  });
});

describe("an unknown reference system", () => {
  it("an unknown reference system is refused with the message of the conversion, and not reported as missing", async () => {
    const path = scratch.path("broken.shp");
    await convertFile(table("id,longitude,latitude\n1,7,51\n"), path);
    writeFileSync(scratch.path("broken.prj"), 'PROJCS["Custom",GEOGCS[');
    for (const thorough of [false, true]) {
      const { error, errorCode, warnings } = await looked(path, {}, thorough);
      expect([errorCode, warnings]).toEqual(["crs-unknown", []]);
      expect(error).toBe(await refusal(path));
    }
    expect(geoferry(["check", path]).status).toBe(5);
  });
});

describe("eastings with a zone number", () => {
  // 6.96 E, 50.94 N in EPSG:4647, by PROJ 9.9; 9.99 E, 53.50 N in EPSG:31467.
  const utm = table("id,easting,northing\n1,32356500,5645000\n2,32356600,5645100\n");
  const gauss = table("id,Rechtswert,Hochwert\n1,3565000,5930000\n");
  const utmSystems = /EPSG:4647 \(ETRS89 \/ UTM zone 32N \(zE-N\)\), EPSG:5652 \(ETRS89 \/ UTM zone 32N \(N-zE\)\)/;

  it("eastings with a zone number: the error of a conversion lists matching systems", async () => {
    expect(await refusal(utm, { sourceCrs: "EPSG:25832" })).toMatch(utmSystems);
    expect(await refusal(utm)).toMatch(/eastings do in EPSG:4647 \(/);
    // The number counts zones of six or of three degrees.
    expect(await refusal(gauss)).toMatch(/EPSG:3333 .*EPSG:31467 /);
  });

  it("eastings with a zone number: info and check list matching systems", async () => {
    for (const thorough of [false, true]) {
      expect((await looked(utm, {}, thorough)).warnings.join()).toContain("eastings do in EPSG:4647 (");
      const stated = await looked(utm, { sourceCrs: "EPSG:25832" }, thorough);
      const said = [...stated.warnings, ...stated.problems.map(({ reason }) => reason)];
      expect(said.join("\n")).toMatch(utmSystems);
    }
    const { problems, warnings } = await looked(utm, { sourceCrs: "EPSG:25832" });
    expect(problems).toHaveLength(2);
    // Once for the layer, not once for each of the features.
    expect([...warnings, ...problems.map(({ reason }) => reason)].join().match(/zone number/g)).toHaveLength(1);
  });

  it("eastings with a zone number: systems of the stated area are listed", async () => {
    const output = scratch.path("zone.geojson");
    const { notices } = await convertFile(gauss, output, { sourceCrs: "EPSG:25832" });
    const outside = notices.find(({ code }) => code === "outside-crs-area");
    expect(outside?.example).toMatch(/far outside .*eastings do in EPSG:31467 \(/);
    expect(outside?.example).not.toContain("Pulkovo");
  });

  it("eastings with a zone number are reported once", async () => {
    const mixed = table("id,easting,northing\n1,356500,5645000\n2,32356500,5645000\n3,32356600,5645000\n");
    const output = scratch.path("mixed.geojson");
    const report = await convertFile(mixed, output, { sourceCrs: "EPSG:25832", maxRejects: "80%" });
    expect([report.written, report.rejected]).toEqual([3, 2]);
    const rejects = readFileSync(scratch.path("mixed.geojson.rejects.geojsonl"), "utf8");
    const prefixNotices = report.notices.filter(({ code }) => code === "zone-prefix");
    expect(prefixNotices).toMatchObject([{ count: 2, example: expect.stringMatching(utmSystems) }]);
    expect(rejects).not.toContain("zone number");
    expect(rejects).toContain("32356500");
  });

  it("other eastings get no advice about zone numbers", async () => {
    const plain = table("id,easting,northing\n1,356500,5645000\n");
    expect(await refusal(plain)).not.toContain("zone");
    expect(await refusal(plain, { sourceCrs: "EPSG:31467" })).not.toContain("zone number");
    // Web Mercator has large eastings, too.
    expect(await refusal(table("id,x,y\n1,1113194.9,6446275.8\n"))).not.toContain("zone number");
  });
});
