/** The samples have the same layers in all formats; hand-written files match them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { samples } from "../support/command.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

type Nested = number | readonly Nested[];
interface Feature {
  readonly id?: string | number;
  readonly geometry: { readonly type: string; readonly coordinates: Nested } | null;
  readonly properties: Readonly<Record<string, unknown>>;
}

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let read = 0;

const featuresIn = (path: string): Feature[] => JSON.parse(readFileSync(path, "utf8")).features;
const sample = (layer: string): Feature[] => featuresIn(join(samples, `${layer}.geojson`));

/** The features of a sample file in WGS 84. */
async function featuresOf(file: string, request: Partial<ConvertRequest> = {}): Promise<Feature[]> {
  const output = scratch.path(`${read++}.geojson`);
  const writerOptions = { precision: "15", zPrecision: "15" };
  const { rejected } = await convertFile(join(samples, file), output, { writerOptions, ...request });
  expect(rejected).toBe(0);
  return featuresIn(output);
}

function numbersIn(nested: Nested): number[] {
  return typeof nested === "number" ? [nested] : nested.flatMap(numbersIn);
}

/** Without nulls, since a table has a cell for every field. */
const valuesOf = ({ properties }: Feature): [string, unknown][] =>
  Object.entries(properties).filter(([, value]) => value !== null);

const layers = ["capitals", "parks", "rivers", "trail", "huts", "passes", "survey"] as const;
/** The layers of each GeoPackage. */
const packages: Readonly<Record<string, readonly string[]>> = {
  world: ["capitals", "parks", "rivers"],
  "mont-blanc": ["trail", "huts", "passes"],
  survey: ["survey"],
};
/** Tolerance in degrees: the survey is rounded to centimetres in its projected system. */
const tolerance = (layer: string) => (layer === "survey" ? 2e-7 : 1e-12);

/** A column of heights is also an attribute, and its name does not reveal it. */
const heightsToo = { readerOptions: { x: "lon", y: "lat", z: "elevation", keepGeometryColumns: "yes" } };
/** Fields that formats add: ids, types and coordinate columns. */
const own = ["_gpxType", "id", "fid", "lon", "lat"];

describe.each(layers)("%s", (layer) => {
  const packageOf = Object.keys(packages).find((name) => packages[name]!.includes(layer))!;
  const files = [
    { file: `csv/${layer}.csv`, ...(layer === "passes" ? { request: heightsToo } : {}) },
    { file: `shapefile/${layer}.shp` },
    { file: `esrijson/${layer}.json` },
    { file: `gpx/${layer}.gpx` },
    { file: `kml/${layer}.${layer === "capitals" ? "kmz" : "kml"}` },
    { file: `geopackage/${packageOf}.gpkg`, request: { layers: [layer] } },
  ].filter(({ file }) => existsSync(join(samples, file)));

  test.each(files)("$file has the same features as GeoJSON", async ({ file, request }) => {
    const expected = sample(layer);
    const actual = await featuresOf(file, request);
    expect(actual).toHaveLength(expected.length);
    for (const [i, feature] of expected.entries()) {
      const other = actual[i]!;
      expect(other.geometry?.type.replace("Multi", "")).toBe(feature.geometry?.type.replace("Multi", ""));
      const positions = numbersIn(other.geometry!.coordinates);
      const wanted = numbersIn(feature.geometry!.coordinates);
      expect(positions).toHaveLength(wanted.length);
      const worst = Math.max(...positions.map((n, at) => Math.abs(n - wanted[at]!)));
      expect(worst).toBeLessThan(tolerance(layer));
      for (const [name, value] of valuesOf(feature)) {
        const called = Object.hasOwn(other.properties, name) ? name : name.slice(0, 10);
        expect([name, other.properties[called]]).toEqual([name, value]);
      }
      const known = Object.keys(feature.properties).flatMap((name) => [name, name.slice(0, 10)]);
      const surplus = valuesOf(other).map(([name]) => name);
      expect(surplus.filter((name) => !known.includes(name) && !own.includes(name))).toEqual([]);
    }
  });
});

describe("gpx/tour-du-mont-blanc.gpx", () => {
  const tour = featuresOf("gpx/tour-du-mont-blanc.gpx");
  const ofType = async (type: string) => (await tour).filter(({ properties }) => properties._gpxType === type);

  test("the GPX tour has the huts and the passes as waypoints", async () => {
    const places = [...sample("huts"), ...sample("passes")].flatMap(({ geometry }) => numbersIn(geometry!.coordinates));
    expect((await ofType("wpt")).flatMap(({ geometry }) => numbersIn(geometry!.coordinates))).toEqual(places);
    const names = sample("passes").map(({ properties }) => properties.name);
    const passes = (await ofType("wpt")).filter(({ properties }) => properties.type === "pass");
    expect(passes.map(({ properties }) => properties.name)).toEqual(names);
    expect(passes[3]!.properties).toMatchObject({ cmt: "Colle della Seigne", sym: "Summit", tmb_countries: "FR, IT" });
  });

  test("the GPX tour has a stage per track segment, with a time for each point", async () => {
    const [track] = await ofType("trk");
    const segments = track!.geometry!.coordinates as readonly (readonly Nested[])[];
    expect(segments).toHaveLength(11);
    // A stage starts where the previous one ended.
    const way = segments.flatMap((segment, n) => (n === 0 ? segment : segment.slice(1)));
    expect(way).toEqual(sample("trail")[0]!.geometry!.coordinates);
    const { times } = track!.properties.coordinateProperties as { times: string[][] };
    expect(times.map((stage) => stage.length)).toEqual(segments.map((segment) => segment.length));
    expect(times.flat()).toEqual(times.flat().toSorted());
    expect([times[0]![0], times.at(-1)!.at(-1)]).toEqual(["2024-07-08T06:00:00Z", "2024-07-18T12:45:00Z"]);
  });

  test("the GPX tour has the overnight places as a route", async () => {
    const [route] = await ofType("rte");
    const { names } = route!.properties.coordinateProperties as { names: string[] };
    expect([names.length, names[4], names.at(-1)]).toEqual([12, "Courmayeur", "Les Houches"]);
    expect(route!.geometry!.coordinates).toHaveLength(12);
  });
});

describe("kml/parks-and-rivers.kml", () => {
  const places = featuresOf("kml/parks-and-rivers.kml");

  test("the KML sample has parks and rivers as the layers of these names", async () => {
    const known = new Map([...sample("parks"), ...sample("rivers")].map((each) => [each.properties.ref, each]));
    for (const { geometry, properties, id } of await places) {
      const expected = known.get(properties.ref)!;
      expect(id).toBe(properties.ref);
      expect(geometry).toEqual(expected.geometry);
      expect(properties.name).toBe(expected.properties.name);
      const { established } = expected.properties;
      if (established) expect(properties.timespan).toEqual({ begin: established });
    }
    expect(await places).toHaveLength(16);
  });

  test("the KML sample has its folders, the types of its schemas and the colors of its styles", async () => {
    const folders = new Set((await places).map(({ properties }) => properties.folder));
    expect([...folders]).toEqual(["Europe/Parks", "Europe/Rivers", "Africa/Parks", "Africa/Rivers"]);
    const of = async (ref: string) => (await places).find(({ properties }) => properties.ref === ref)!.properties;
    // KML colors are aabbggrr.
    expect(await of("danube")).toMatchObject({ international: true, length_km: 2850, stroke: "#1464c8" });
    expect(await of("thames")).toMatchObject({ international: false, discharge: 65.8, stroke: "#3c3c96" });
    expect(await of("eryri")).toMatchObject({ iucn: "V", area_km2: 2132, fill: "#5aa047" });
  });
});
