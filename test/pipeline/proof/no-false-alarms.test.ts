/** Verifications of the built-in writers with each of their options: none fails, since every loss is reported. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const samples = new URL("../../../samples/", import.meta.url).pathname;
let outputs = 0;

/** Every type of field and of geometry, with values that formats store in other ways or not at all. */
const tricky = scratch.path("tricky.geojson");
const values = [
  {
    text: "",
    code: "007",
    number: 1,
    ratio: 0.1,
    flag: true,
    day: "2024-02-29",
    at: "2024-02-29T23:59:59.1234567+05:30",
  },
  {
    text: " \t ",
    code: "+49 30",
    number: -2147483648,
    ratio: 1e300,
    flag: false,
    day: "0001-01-01",
    at: "1850-01-01T00:00:00Z",
  },
  { text: 'a\nb\r\n"c"', code: "1e5", number: 9007199254740992, ratio: -0, flag: null, day: null, at: null },
  { text: "=1+1", code: "true", number: 0, ratio: 5e-324, flag: true, day: "9999-12-31", at: "2024-01-01T00:00:00" },
  {
    text: `é\u0301 𝄞 ${"x".repeat(300)}`,
    code: "null",
    number: null,
    ratio: null,
    flag: null,
    day: "2024-01-01",
    at: "2024-01-01T12:00:00.000Z",
  },
  {
    text: "\u0001\u000b",
    code: "NaN",
    number: 2,
    ratio: 1 / 3,
    flag: false,
    day: "2024-01-02",
    at: "2024-01-01T12:00:00Z",
  },
  {
    text: "trailing  ",
    code: "",
    number: 3,
    ratio: 123456.789012345,
    flag: true,
    day: "2024-01-02",
    at: "2024-06-01T12:00:00+02:00",
    nested: { a: [1, null] },
  },
];
const geometries = [
  '{"type":"Point","coordinates":[7.12345675,46.5,400.12345]}',
  '{"type":"Point","coordinates":[180,-90]}',
  '{"type":"MultiPoint","coordinates":[[7,46],[8,47,5]]}',
  '{"type":"LineString","coordinates":[[7,46],[7.00000001,46],[8,47]]}',
  '{"type":"Polygon","coordinates":[[[7,46],[7,47],[8,47],[8,46],[7,46]],[[7.2,46.2],[7.4,46.2],[7.4,46.4],[7.2,46.2]]]}',
  '{"type":"MultiPolygon","coordinates":[[[[170,10],[190,10],[190,20],[170,20],[170,10]]]]}',
  "null",
];
const withIds = (id: string) =>
  `{"type":"FeatureCollection","features":[${values
    .map(
      (properties, n) =>
        `{"type":"Feature",${id.replace("#", String(900 - n))}"properties":${JSON.stringify(properties).replace("9007199254740992", "9007199254740993")},"geometry":${geometries[n]}}`,
    )
    .join(",\n")}]}`;
writeFileSync(tricky, withIds(""));
const numbered = scratch.path("numbered.geojson");
writeFileSync(numbered, withIds('"id":#,'));
const named = scratch.path("named.geojson");
writeFileSync(named, withIds('"id":"f#",'));

async function verify(input: string, extension: string, request: Partial<ConvertRequest> = {}) {
  const output = scratch.path(`out-${outputs++}.${extension}`);
  const report = await convertFile(input, output, { verify: true, allowEmpty: true, ...request });
  const layers = report.proof!.layers;
  expect(layers.reduce((sum, { features }) => sum + features, 0)).toBeGreaterThanOrEqual(report.written);
  return { report, output, layers };
}

const inputs = [
  tricky,
  numbered,
  named,
  ...[
    "mixed.geojson",
    "capitals.geojson",
    "parks.geojson",
    "trail.geojson",
    "survey.geojson",
    "kml/",
    "gpx/",
    "csv/",
    "shapefile/",
    "geopackage/",
    "spreadsheets/",
  ].flatMap((name) =>
    name.endsWith("/")
      ? readdirSync(samples + name)
          .filter((file) => /\.(kml|gpx|csv|shp|gpkg|xlsx|ods)$/.test(file))
          .map((file) => samples + name + file)
      : [samples + name],
  ),
];
const extensions = [
  "geojson",
  "geojsonl",
  "csv",
  "tsv",
  "gpkg",
  "shp",
  "shp.zip",
  "kml",
  "kmz",
  "gpx",
  "xlsx",
  "ods",
  "parquet",
  "fgb",
  "topojson",
];

/** The first inputs go into every format, the others into every third, so that all formats get each kind of input. */
const inputsFor = (extension: string) =>
  inputs.filter((_, n) => n < 5 || (n + extensions.indexOf(extension)) % 3 === 0);

describe.each(extensions)("%s", (extension) => {
  test.each(inputsFor(extension).map((input) => [input.replace(/^.*\//, ""), input] as const))(
    "%s",
    async (_, input) => {
      await verify(input, extension, { accuracy: 1000 });
    },
  );
});

describe("options of writers", () => {
  test.each<[string, Record<string, string>]>([
    ["geojson", { precision: "3", zPrecision: "0" }],
    ["geojson", { rfc7946: "no" }],
    ["geojson", { ids: "no" }],
    ["geojson", { idField: "code" }],
    ["geojson", { bbox: "both" }],
    ["geojson", { crs: "yes" }],
    ["geojsonl", { rs: "yes" }],
    ["csv", { geometry: "wkb" }],
    ["csv", { geometry: "geojson", precision: "2" }],
    ["csv", { geometry: "wkt", precision: "5" }],
    ["csv", { geometry: "none" }],
    ["csv", { delimiter: "semicolon", quote: "all", eol: "crlf", bom: "yes" }],
    ["csv", { header: "no" }],
    ["csv", { escapeFormulas: "yes" }],
    ["csv", { csvt: "yes" }],
    ["gpkg", { index: "no", fid: "nr", geometry: "shape" }],
    ["gpkg", { version: "1.2" }],
    ["shp", { encoding: "windows-1252" }],
    ["kml", { precision: "2", altitudeMode: "none", styles: "no", folders: "no" }],
    ["kml", { nameField: "code", descriptionField: "text" }],
    ["gpx", { lines: "route", polygons: "tracks" }],
    ["gpx", { multipoints: "reject", extensions: "no", precision: "4" }],
    ["xlsx", { geometry: "wkt", precision: "3" }],
    ["ods", { geometry: "geojson" }],
    ["parquet", { compression: "snappy", geometryType: "parquet", bbox: "no", rowGroup: "2" }],
    ["fgb", { index: "no" }],
  ])("%s %j", async (extension, writerOptions) => {
    for (const input of [tricky, numbered, named, `${samples}mixed.geojson`, `${samples}capitals.geojson`])
      await verify(input, extension, { writerOptions });
  });
});

test("a KML has an opacity for every color, also where none was written", async () => {
  const styled = scratch.path("styled.geojson");
  const properties = { stroke: "#ff0", "stroke-width": 3, fill: "#ff0011" };
  const geometry = {
    type: "LineString",
    coordinates: [
      [7, 46],
      [8, 47],
    ],
  };
  writeFileSync(styled, JSON.stringify({ type: "Feature", properties, geometry }));
  await verify(styled, "kml");
});

test("coordinates in another system are verified in that system", async () => {
  for (const extension of ["gpkg", "shp", "parquet", "fgb", "csv"])
    await verify(`${samples}capitals.geojson`, extension, {
      targetCrs: "EPSG:3857",
      where: "abs_lat <> 1",
      accuracy: 1000,
    }).catch((error: { code: string }) => expect(error.code).not.toBe("verify-failed"));
});

test.each([
  "+proj=laea +lat_0=45 +lon_0=10 +datum=WGS84",
  "ESRI:54030",
  'PROJCS["Mine",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",10.0],PARAMETER["Standard_Parallel_1",40.0],PARAMETER["Standard_Parallel_2",50.0],PARAMETER["Latitude_Of_Origin",45.0],UNIT["Meter",1.0]]',
])("a system without a code is the same in another notation: %s", async (targetCrs) => {
  for (const extension of ["gpkg", "shp", "parquet", "fgb", "csv"])
    await verify(`${samples}parks.geojson`, extension, { targetCrs, accuracy: 1000 });
});

test("the hashes do not depend on the number of threads, and are equal where nothing was lost", async () => {
  const hashes = new Set<string>();
  for (const workers of [1, 2]) {
    const { layers } = await verify(`${samples}parks.geojson`, "gpkg", { workers });
    expect(layers[0]!.readHash).toBe(layers[0]!.writtenHash);
    expect(layers[0]).toMatchObject({ features: 27, identical: 27 });
    hashes.add(layers[0]!.readHash);
  }
  expect(hashes.size).toBe(1);
});

test("features that are added to a file are verified together with those that it has", async () => {
  const { output } = await verify(`${samples}huts.geojson`, "geojson");
  const before = JSON.parse(readFileSync(output, "utf8")).features.length;
  const report = await convertFile(`${samples}passes.geojson`, output, { append: true, verify: true });
  expect(report.proof!.layers[0]!.features).toBe(before + report.read);
});

describe("what cannot be verified is refused before the run begins", () => {
  test.each<[string, string, Partial<ConvertRequest>, RegExp]>([
    ["a stream", "-", { to: "geojson" }, /a stream cannot be read: write to a file/],
    ["a device", "/dev/null", { to: "geojson" }, /a stream cannot be read/],
    ["a database", "pg:host=127.0.0.1", {}, /compare with geoferry diff INPUT OUTPUT/],
  ])("%s", async (_, output, request, message) => {
    await expect(convertFile(tricky, output, { verify: true, ...request })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(message),
    });
  });

  test("a GeoPackage that is changed in place", async () => {
    const { output } = await verify(`${samples}parks.geojson`, "gpkg");
    const before = readFileSync(output);
    for (const change of [{ append: true }, { replaceLayer: true }])
      await expect(convertFile(`${samples}parks.geojson`, output, { verify: true, ...change })).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining("write to a new file with --verify"),
      });
    expect(readFileSync(output).equals(before)).toBe(true);
    expect(existsSync(`${output}-journal`)).toBe(false);
  });
});
