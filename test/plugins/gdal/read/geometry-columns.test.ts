import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, test } from "vitest";
import { loadGdal } from "../../../../plugins/gdal/process/library.js";
import { selectLayer } from "../../../../plugins/gdal/read/layer-facts.js";
import { geoferry } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const rows = [
  "name,big,inside,outline",
  'Wien,9007199254740993,POINT (16.3725 48.2083),"POLYGON ((16 48,17 48,17 49,16 48))"',
  'Graz,7,POINT (15.4395 47.0707),"POLYGON ((15 46,16 46,16 47,15 46))"',
  'Nowhere,5,,"POLYGON ((0 0,1 0,1 1,0 0))"',
];

const column = (name: string, crs: string): string =>
  `<GeometryField name="${name}" encoding="WKT" field="${name}"><SRS>${crs}</SRS></GeometryField>`;

/** A table of two columns with geometry, each in a system of its own. */
function towns(name: string, inside: string, outline: string, data: readonly string[] = rows): string {
  writeFileSync(scratch.path(`${name}.csv`), `${data.join("\n")}\n`);
  const path = scratch.path(`${name}.vrt`);
  writeFileSync(
    path,
    `<OGRVRTDataSource><OGRVRTLayer name="towns">
<SrcDataSource relativeToVRT="1">${name}.csv</SrcDataSource><SrcLayer>${name}</SrcLayer>
${column("inside", inside)}${column("outline", outline)}
<Field name="name" type="String"/><Field name="big" type="Integer64"/>
</OGRVRTLayer></OGRVRTDataSource>`,
  );
  return path;
}

const projected = [
  rows[0]!,
  'Wien,1,POINT (16.3725 48.2083),"POLYGON ((600000 5330000,610000 5330000,610000 5340000,600000 5330000))"',
];

interface Read {
  readonly name: string;
  readonly big: unknown;
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | null;
}

function read(path: string, layer: string, ...args: readonly string[]): Read[] {
  const { status, stdout, stderr } = geoferry(["convert", path, "-", "--to", "geojsonl", "--layer", layer, ...args]);
  expect([status, stderr.includes("geoferry:")]).toEqual([0, false]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => {
      const { properties, geometry } = JSON.parse(line) as { properties: Read; geometry: Read["geometry"] };
      return { name: properties.name, big: properties.big, geometry };
    });
}

const byVrt = ["--from", "gdal:OGR_VRT"];

describe.skipIf(!hasGdal)("a table with several columns of geometry", () => {
  test("is a layer for each, with all fields in all of them", () => {
    const path = towns("both", "EPSG:4326", "EPSG:4326");
    const { stdout, status } = geoferry(["info", path, "--json", ...byVrt]);
    expect(status).toBe(0);
    for (const name of ['"towns"', '"towns (outline)"']) expect(stdout).toContain(name);
    const inside = read(path, "towns", ...byVrt);
    const outline = read(path, "towns (outline)", ...byVrt);
    expect(inside.map(({ geometry }) => geometry)).toEqual([
      { type: "Point", coordinates: [16.3725, 48.2083] },
      { type: "Point", coordinates: [15.4395, 47.0707] },
      null,
    ]);
    expect(outline.map(({ geometry }) => geometry?.type)).toEqual(["Polygon", "Polygon", "Polygon"]);
    for (const layer of [inside, outline]) {
      expect(layer.map(({ name }) => name)).toEqual(["Wien", "Graz", "Nowhere"]);
      expect(layer.map(({ big }) => big)).toEqual(["9007199254740993", 7, 5]);
    }
  });

  test("has the fields where none of them needs SQL", () => {
    const path = towns("plain", "EPSG:4326", "EPSG:4326");
    writeFileSync(path, readFileSync(path, "utf8").replace('<Field name="big" type="Integer64"/>', ""));
    expect(read(path, "towns", ...byVrt).map(({ name }) => name)).toEqual(["Wien", "Graz", "Nowhere"]);
  });

  test("has each column in the system that it is in", () => {
    const path = towns("systems", "EPSG:4326", "EPSG:32633", projected);
    const [inside] = read(path, "towns", ...byVrt);
    expect(inside!.geometry!.coordinates).toEqual([16.3725, 48.2083]);
    const [outline] = read(path, "towns (outline)", ...byVrt);
    // By cs2cs of PROJ.
    const corner = (outline!.geometry!.coordinates as number[][][])[0]![0]!;
    expect(corner[0]).toBeCloseTo(16.3435758015616, 6);
    expect(corner[1]).toBeCloseTo(48.1154038708766, 6);
  });

  test("of a GML comes whole in one system, and in several ones asks which", () => {
    const one = scratch.path("one.gml");
    ogr2ogr("-f", "GML", one, towns("for-gml", "EPSG:4326", "EPSG:4326"));
    const byGdal = ["--from", "gdal:GML"];
    expect(read(one, "towns", ...byGdal).map(({ geometry }) => geometry?.type)).toEqual(["Point", "Point", undefined]);
    expect(read(one, "towns (outline)", ...byGdal).map(({ geometry }) => geometry?.type)).toEqual(
      Array(3).fill("Polygon"),
    );
    // GDAL says that all of it is in the system of the column that comes last.
    const two = scratch.path("two.gml");
    ogr2ogr("-f", "GML", two, towns("for-two", "EPSG:4326", "EPSG:32633", projected));
    const whole = geoferry(["convert", two, scratch.path("two.gpkg"), ...byGdal]);
    expect(whole.status).toBe(3);
    expect(whole.stderr).toContain("--source-crs");
    expect(read(two, "towns", ...byGdal)[0]!.geometry!.coordinates).toEqual([16.3725, 48.2083]);
    const [outline] = read(two, "towns (outline)", ...byGdal, "--source-crs", "EPSG:32633");
    const corner = (outline!.geometry!.coordinates as number[][][])[0]![0]!;
    expect(corner[0]).toBeCloseTo(16.3435758015616, 6);
  });
});

describe.skipIf(!hasGdal)("an SQL selection of GDAL without references", () => {
  test("does not set another one back that is being read", () => {
    const table = scratch.path("many.csv");
    const lines = Array.from({ length: 3000 }, (_, n) => `n${n},${n % 180},${n % 80}`);
    writeFileSync(table, `name,x,y\n${lines.join("\n")}\n`);
    const path = scratch.path("many.fgb");
    ogr2ogr("-f", "FlatGeobuf", path, table, "-oo", "X_POSSIBLE_NAMES=x", "-oo", "Y_POSSIBLE_NAMES=y");
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const dataset = loadGdal().open(path);
    const sql = 'SELECT name FROM "many"';
    selectLayer(dataset, sql).features.first();
    const { features } = selectLayer(dataset, sql);
    let count = 0;
    for (let feature = features.first(); feature && count < 10_000; feature = features.next()) {
      if (++count === 500) collectGarbage();
    }
    dataset.close();
    expect(count).toBe(3000);
  });
});
