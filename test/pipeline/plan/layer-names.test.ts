import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasProgram } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (n: string) => ({ type: "Feature", properties: { n }, geometry: { type: "Point", coordinates: [1, 2] } });
/** A file of one point for each name, which is the layer's. */
function filesNamed(folder: string, names: readonly string[]): string[] {
  mkdirSync(scratch.path(folder));
  return names.map((name) => {
    const path = scratch.path(`${folder}/${name}.geojson`);
    writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: [point(name)] }));
    return path;
  });
}

const names = ["gpkg_x", "layer_gpkg_x", "Places", "places", "places_1", " edge"];

/** What the report says of each layer: its name in the output, and why it has another one. */
async function convertedNames(inputs: readonly string[], output: string, more = {}) {
  const { outputs, losses } = await convertFile(inputs[0]!, output, { inputs, ...more });
  const renamed = losses.filter(({ code }) => code === "layer-renamed");
  return { names: outputs.map(({ layer }) => layer), renamed: renamed.map(({ example }) => example) };
}

let inputs: string[];
beforeAll(() => {
  inputs = filesNamed("in", names);
});

test("a layer name that is invalid or taken in a GeoPackage becomes a unique one", async () => {
  const path = scratch.path("out.gpkg");
  expect(await convertedNames(inputs, path)).toEqual({
    names: ["layer_gpkg_x_1", "layer_gpkg_x", "Places", "places_2", "places_1", " edge"],
    renamed: [
      'the layer "gpkg_x" became "layer_gpkg_x_1", since another layer has that name',
      'the layer "places" became "places_2", since another layer has that name',
    ],
  });
  if (!hasProgram("ogrinfo")) return;
  const listed = spawnSync("ogrinfo", ["-ro", "-q", path], { encoding: "utf8" }).stdout.trimEnd().split("\n");
  expect(listed.map((line) => line.replace(/^\d+: (.*) \(Point\)$/, "$1")).sort()).toEqual(
    ["layer_gpkg_x_1", "layer_gpkg_x", "Places", "places_2", "places_1", " edge"].sort(),
  );
});

test("an invalid layer name is adapted the same way for --replace-layer and --append", async () => {
  const path = scratch.path("again.gpkg");
  const asked = { layerName: "rtree_x" };
  const became = {
    names: ["layer_rtree_x"],
    renamed: ['the layer "rtree_x" became "layer_rtree_x", since OGC GeoPackage does not allow the name'],
  };
  for (const more of [{}, { replaceLayer: true }, { append: true }]) {
    expect(await convertedNames(inputs.slice(0, 1), path, { ...asked, ...more })).toEqual(became);
  }
  const { read } = await convertFile(path, scratch.path("again.csv"));
  expect(read).toBe(2);
});

test("KML folder names are trimmed", async () => {
  const { names: written, renamed } = await convertedNames(inputs.slice(-2), scratch.path("out.kml"));
  expect(written).toEqual(["places_1", "edge"]);
  expect(renamed).toEqual(['the layer " edge" became "edge", since KML does not allow the name']);
});

test("a file for each layer keeps as much of the layer name as a file name holds", async () => {
  const long = "Straße ".repeat(30);
  const both = scratch.path("both.gpkg");
  await convertFile(inputs[1]!, both);
  for (const layerName of [long, `${long}!`]) {
    await convertFile(inputs[1]!, both, { replaceLayer: true, layerName });
  }
  mkdirSync(scratch.path("files"));
  const { outputs } = await convertFile(both, scratch.path("files/of_layers.shp"));
  expect(outputs.map(({ layer }) => layer)).toEqual(["layer_gpkg_x", long, `${long}!`]);
  const shapes = readdirSync(scratch.path("files")).filter((name) => name.endsWith(".shp"));
  expect(shapes).toHaveLength(3);
  for (const name of shapes) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
});

test("losses name the layer that they belong to", async () => {
  const feature = (id: number) => ({ ...point("p"), id });
  const files = [
    ["first", [1, 2]],
    ["second", [7, 7]],
    ["third", [8, 9]],
  ] as const;
  const taken = files.map(([name, ids]) => {
    const path = scratch.path(`ids-${name}.geojson`);
    writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: ids.map(feature) }));
    return path;
  });
  const { losses } = await convertFile(taken[0]!, scratch.path("ids.gpkg"), { inputs: taken });
  expect(losses).toMatchObject([{ code: "id-changed", layer: "ids-second", count: 1 }]);
});

test("a notice says that --to writes one format under the extension of another", async () => {
  const noticed = async (output: string, to: string) => {
    const { notices } = await convertFile(inputs[0]!, scratch.path(output), { to });
    return notices.filter(({ code }) => code === "foreign-extension");
  };
  expect(await noticed("named.gpkg", "shp")).toEqual([
    {
      code: "foreign-extension",
      layer: "named.gpkg",
      count: 1,
      example:
        "written as ESRI Shapefile because of --to shp, although .gpkg is an extension of OGC GeoPackage; programs that decide by name would misread it, so name it .shp",
    },
  ]);
  // GeoJSON has both extensions, and no format has the last one.
  for (const output of ["a.geojson", "a.json", "a.data"]) expect(await noticed(output, "geojson")).toEqual([]);
  if (hasProgram("ogrinfo")) expect(await noticed("a.fgb", "gdal:FlatGeobuf")).toEqual([]);
});
