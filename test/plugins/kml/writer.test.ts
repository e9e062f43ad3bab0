import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import kml from "../../../plugins/kml/index.js";
import { type Batch, type Feature, packFeatures } from "../../../src/model/index.js";
import { readFile, TemporaryFolder, writeFile } from "../../../src/testing/index.js";
import { batchOf, generatedLayer } from "../../support/formats/generated-layers.js";
import { convertFile } from "../../support/host.js";
import { canValidate, validateDocument } from "../../support/schemas.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const schema = "ogckml22.xsd";
const isTestable = canValidate(schema);
const hasOgr = spawnSync("ogrinfo", ["--version"]).error === undefined;
if (!hasOgr) console.warn("NOT TESTED: there is no ogrinfo (gdal-bin), so nothing is opened with GDAL");

let count = 0;

interface Written {
  readonly path: string;
  readonly text: string;
  readonly losses: readonly { readonly code: string; readonly field?: string; readonly count: number }[];
  readonly notices: readonly { readonly code: string; readonly field?: string; readonly count: number }[];
}

async function writtenBatch(batch: Batch, options: Record<string, string> = {}): Promise<Written> {
  const folder = scratch.path(`w${count++}`);
  mkdirSync(folder);
  const [file] = await writeFile(kml, folder, batch, { options, name: "layer" });
  return { path: file!.path, text: readFileSync(file!.path, "utf8"), losses: file!.losses, notices: [] };
}

/** Converts features with the whole pipeline. */
async function written(features: readonly Partial<Feature>[], options: Record<string, string> = {}): Promise<Written> {
  const stem = scratch.path(`c${count++}`);
  const whole = features.map((feature) => ({ type: "Feature", properties: {}, geometry: null, ...feature }));
  writeFileSync(`${stem}.geojson`, JSON.stringify({ type: "FeatureCollection", features: whole }));
  const report = await convertFile(`${stem}.geojson`, `${stem}.kml`, { writerOptions: options });
  return {
    path: `${stem}.kml`,
    text: readFileSync(`${stem}.kml`, "utf8"),
    losses: report.losses,
    notices: report.notices,
  };
}

async function readBack(path: string): Promise<Feature[]> {
  const [layer] = await readFile(kml, path);
  return layer!.batches.flatMap((batch) => [...batch.features()]);
}

const at = (...coordinates: number[]) => ({ type: "Point" as const, coordinates });

describe("documents are valid against the schema of OGC", () => {
  test.runIf(isTestable)(
    "documents of generated features are valid against the OGC schema",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(generatedLayer, async (layer) => {
          const { text } = await writtenBatch(batchOf(layer));
          expect(validateDocument(text, schema)).toBe("");
        }),
        { numRuns: 40, seed: 1 },
      );
    },
  );

  test.runIf(isTestable)("a document with all elements is valid against the OGC schema", async () => {
    const properties = {
      name: "a < b & c ]]>",
      visibility: true,
      open: false,
      author: "Me",
      link: 'https://example.org/?a="b"',
      address: "x",
      phoneNumber: "+1",
      snippet: "s",
      description: "<b>d</b>",
      timestamp: "2020-05",
      styleUrl: "https://example.org/s.kml#a",
      icon: "i.png",
      "icon-color": "#ffffff",
      "icon-opacity": 1,
      "icon-scale": 2.5,
      "icon-heading": -10,
      "icon-offset": [0.5, 1],
      "icon-offset-units": ["fraction", "pixels"],
      "label-color": "#00ff00",
      "label-scale": 1,
      stroke: "#123456",
      "stroke-opacity": 0.2,
      "stroke-width": 3,
      fill: "#654321",
      folder: "A/B",
      altitudeMode: "relativeToGround",
      extrude: true,
      tessellate: false,
      other: "1",
    };
    const ring = [
      [0, 0, 5],
      [1, 0, 5],
      [1, 1, 5],
      [0, 0, 5],
    ];
    const { path, text, notices } = await written([
      { id: "p1", properties, geometry: { type: "Polygon", coordinates: [ring] } },
      { id: "p2", properties: { timespan: { begin: "2001", end: "2002-01-01T00:00:00Z" } }, geometry: at(1, 2) },
    ]);
    expect(validateDocument(text, schema)).toBe("");
    const [first, second] = await readBack(path);
    expect(first).toMatchObject({ id: "p1", properties: { ...properties, "label-opacity": 1, "fill-opacity": 1 } });
    expect(second).toMatchObject({
      id: "p2",
      properties: { timespan: { begin: "2001", end: "2002-01-01T00:00:00Z" } },
    });
    const added = notices.filter(({ code }) => code === "field-added").map(({ field }) => field);
    expect(added.sort()).toEqual(["fill-opacity", "label-opacity"]);
  });

  test.runIf(isTestable)(
    "a document with several layers, one of them empty, is valid against the OGC schema",
    async () => {
      const folder = scratch.path("many");
      mkdirSync(folder);
      const collection = (features: unknown[]) => JSON.stringify({ type: "FeatureCollection", features });
      const feature = { type: "Feature", id: "same", properties: { a: 1 }, geometry: at(1, 2) };
      writeFileSync(`${folder}/one two.geojson`, collection([feature]));
      writeFileSync(`${folder}/three.geojson`, collection([feature]));
      writeFileSync(`${folder}/none.geojson`, collection([]));
      const inputs = ["one two", "three", "none"].map((name) => `${folder}/${name}.geojson`);
      const report = await convertFile(inputs[0]!, `${folder}/out.kml`, { inputs });
      const text = readFileSync(`${folder}/out.kml`, "utf8");
      expect(validateDocument(text, schema)).toBe("");
      expect(report.losses).toMatchObject([{ code: "id-repeated", layer: "three", count: 1 }]);
      const layers = await readFile(kml, `${folder}/out.kml`, { options: { layers: "folders" } });
      expect(layers.map(({ info }) => [info.name, info.featureCount])).toEqual([
        ["one two", 1],
        ["three", 1],
        ["none", 0],
      ]);
    },
  );
});

describe.runIf(hasOgr)("documents opened by GDAL", () => {
  test.each(["KML", "LIBKML"])("a document is opened without a warning by GDAL's driver %s", async (driver) => {
    const { path } = await written(
      [
        {
          id: 1,
          properties: { name: "A", n: 1, t: "x", when: "2020-01-01", stroke: "#ff0000" },
          geometry: at(1, 2, 3),
        },
        {
          id: 2,
          properties: { name: "B", folder: "F" },
          geometry: {
            type: "LineString",
            coordinates: [
              [0, 0],
              [1, 1],
            ],
          },
        },
      ],
      {},
    );
    const skip = driver === "KML" ? "LIBKML" : "KML";
    const done = spawnSync("ogrinfo", ["--config", "OGR_SKIP", skip, "-al", "-so", path], { encoding: "utf8" });
    expect(done.stderr).toBe("");
    expect(done.status).toBe(0);
    expect(done.stdout).toContain(`driver \`${driver}' successful`);
    const counts = [...done.stdout.matchAll(/Feature Count: (\d+)/g)].map(([, n]) => Number(n));
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(2);
  });

  test("GDAL's driver reads the same attributes", async () => {
    const properties = { name: "Ä & <b>", flag: true, whole: -5, part: 0.25, text: " x ", empty: null };
    const { path } = await written([{ properties, geometry: at(1, 2) }]);
    const text = execFileSync("ogr2ogr", ["-f", "GeoJSONSeq", "/vsistdout/", path], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(JSON.parse(text).properties).toMatchObject({ Name: "Ä & <b>", flag: 1, whole: -5, part: 0.25 });
  });

  test.each([
    ["kml", "KML"],
    ["kml", "LIBKML"],
    ["kmz", "LIBKML"],
  ])("several layers in a .%s are read by GDAL's driver %s", async (extension, driver) => {
    const folder = scratch.path(`several-${extension}-${driver}`);
    mkdirSync(folder);
    const collection = (properties: object) =>
      JSON.stringify({ type: "FeatureCollection", features: [{ type: "Feature", properties, geometry: at(1, 2) }] });
    writeFileSync(`${folder}/one.geojson`, collection({ name: "A", first: 5 }));
    writeFileSync(`${folder}/two.geojson`, collection({ name: "B", second: 2.5 }));
    const inputs = ["one", "two"].map((name) => `${folder}/${name}.geojson`);
    await convertFile(inputs[0]!, `${folder}/out.${extension}`, { inputs });
    const skip = driver === "KML" ? "LIBKML" : "KML";
    const args = ["--config", "OGR_SKIP", skip, "-al", "-q", `${folder}/out.${extension}`];
    const done = spawnSync("ogrinfo", args, { encoding: "utf8" });
    expect(done.stderr).toBe("");
    expect(done.stdout.match(/Layer name: \w+/g)).toEqual(["Layer name: one", "Layer name: two"]);
    // The driver KML reads only names and descriptions.
    if (driver === "KML") return;
    expect(done.stdout).toContain("first (Integer) = 5");
    expect(done.stdout).toContain("second (Real) = 2.5");
  });

  test.each(["kml", "kmz"])("layers with folders in a .%s are opened by GDAL without a warning", async (extension) => {
    const folder = scratch.path(`nested-${extension}`);
    mkdirSync(folder);
    const collection = (...list: object[]) =>
      JSON.stringify({
        type: "FeatureCollection",
        features: list.map((properties) => ({ type: "Feature", properties, geometry: at(1, 2) })),
      });
    const features = [
      { first: 5, folder: "sub" },
      { first: 6, folder: "sub/deep" },
    ];
    writeFileSync(`${folder}/one.geojson`, collection(...features));
    writeFileSync(`${folder}/two.geojson`, collection({ second: 2.5 }));
    const inputs = ["one", "two"].map((name) => `${folder}/${name}.geojson`);
    const output = `${folder}/out.${extension}`;
    await convertFile(inputs[0]!, output, { inputs });
    const args = ["--config", "OGR_SKIP", "KML", "-al", "-q", output];
    const { stdout } = spawnSync("ogrinfo", args, { encoding: "utf8" });
    expect(stdout).toContain("first (Integer) = 5");
    expect(stdout).toContain("first (Integer) = 6");
    expect(stdout).toContain("second (Real) = 2.5");
    await convertFile(output, `${folder}/back.geojson`);
    const back = JSON.parse(readFileSync(`${folder}/back.geojson`, "utf8")) as { features: { properties: object }[] };
    expect(back.features.map(({ properties }) => properties)).toMatchObject([
      { first: 5, folder: "one/sub" },
      { first: 6, folder: "one/sub/deep" },
      { second: 2.5, folder: "two" },
    ]);
  });
});

describe("types and ids are restored", () => {
  test("ids that are not XML names become a field, with a notice", async () => {
    const features = [{ id: 7 }, { id: 8 }].map((each) => ({ ...each, geometry: at(1, 2) }));
    const { notices } = await written(features);
    expect(notices).toMatchObject([{ code: "id-as-field", field: "fid", count: 2 }]);
    expect((await written([{ id: "a", geometry: at(1, 2) }])).notices).toEqual([]);
  });

  test("types that KML does not have are restored, too", async () => {
    const fields = [
      { name: "i", type: "int64" },
      { name: "d", type: "date" },
      { name: "t", type: "time" },
      { name: "dt", type: "datetime" },
      { name: "b", type: "binary" },
      { name: "j", type: "json" },
      { name: "x", type: "text" },
    ] as const;
    const properties = {
      i: 5n,
      d: "2020-01-01",
      t: "10:00:00",
      dt: "2020-01-01T00:00:00Z",
      b: Uint8Array.of(1, 2, 255),
      j: { a: [1] },
      x: "2020-01-01",
    };
    const feature = { type: "Feature", id: 7, properties, geometry: at(1, 2) } as const;
    const { path, losses } = await writtenBatch(packFeatures([feature], 1, fields));
    const [layer] = await readFile(kml, path);
    expect(layer!.info.fields).toEqual(fields);
    expect(layer!.batches[0]!.ids!.type).toBe("int32");
    expect([...layer!.batches[0]!.features()]).toMatchObject([
      { id: 7, properties: { ...properties, i: 5, b: "AQL/", j: { a: [1] } } },
    ]);
    expect(losses).toEqual([]);
  });

  test("ids that are not XML names are written as data, and read as ids again", async () => {
    const ids = ["a", "1b", "with space", "ü", "a"];
    const { path, text, losses } = await written(ids.map((id) => ({ id, geometry: at(0, 0) })));
    expect(text.match(/<Placemark id="[^"]*"/g)).toEqual(['<Placemark id="a"']);
    expect(losses).toMatchObject([{ code: "id-repeated", count: 1 }]);
    expect((await readBack(path)).map(({ id }) => id)).toEqual(["a", "1b", "with space", "ü", undefined]);
  });
});

describe("properties become elements", () => {
  test("writes folders in the order of the features, and repeats a folder for a repeated path", async () => {
    const paths = ["A", "A/B", "A/B", "C", "A", undefined, " A", "A//B"];
    const { path, text } = await written(paths.map((folder) => ({ properties: { folder }, geometry: at(0, 0) })));
    expect(text.match(/<Folder>/g)).toHaveLength(4);
    expect((await readBack(path)).map(({ properties }) => properties.folder ?? undefined)).toEqual(paths);
  });

  test("keeps an exact opacity beside the nearest of KML's 256 steps", async () => {
    const { path, text } = await written([
      { properties: { stroke: "#ff8000", "stroke-opacity": 0.5 }, geometry: at(0, 0) },
    ]);
    expect(text).toContain("<LineStyle><color>800080ff</color></LineStyle>");
    expect((await readBack(path))[0]!.properties).toEqual({ stroke: "#ff8000", "stroke-opacity": 0.5 });
  });

  test("writes another field as the name where none has that name, and keeps the field", async () => {
    const { path, text, notices } = await written([{ properties: { NAME: "N", n: 1 }, geometry: at(0, 0) }]);
    expect(text).toContain("<name>N</name>");
    expect(notices).toMatchObject([{ code: "field-added", field: "name" }]);
    expect((await readBack(path))[0]!.properties).toEqual({ name: "N", NAME: "N", n: 1 });
    const chosen = await written([{ properties: { name: "A", n: 1 }, geometry: at(0, 0) }], { nameField: "n" });
    expect(chosen.text).toContain("<Placemark><name>1</name>");
  });

  test("writes times of lines as tracks, as far as tracks can hold them", async () => {
    const line = {
      type: "LineString" as const,
      coordinates: [
        [0, 0, 1],
        [1, 1, 2],
      ],
    };
    const lines = { type: "MultiLineString" as const, coordinates: [line.coordinates, line.coordinates] };
    const features = [
      { geometry: line, properties: { coordinateProperties: { times: ["2020-01-01T00:00:00Z", null] } } },
      {
        geometry: lines,
        properties: {
          coordinateProperties: {
            times: [
              ["2020", "2021"],
              ["2022", "2023"],
            ],
          },
        },
      },
      { geometry: line, properties: { coordinateProperties: { times: ["2020"] } } },
      { geometry: line, properties: { coordinateProperties: { times: ["noon", "later"] } } },
      { geometry: line, properties: { coordinateProperties: { times: ["2020", "2021"], heart: [80, 81] } } },
    ];
    const { path, text } = await written(features);
    expect(text.match(/<gx:Track>/g)).toHaveLength(3);
    expect(await readBack(path)).toMatchObject(features);
    expect((await written(features, { tracks: "no" })).text).not.toContain("gx:Track");
  });

  test("writes heights other than zero as absolute", async () => {
    const { text } = await written([{ geometry: at(1, 2, 3) }, { geometry: at(1, 2, 0) }, { geometry: at(1, 2) }]);
    expect([...text.matchAll(/<Point>(.*?)<\/Point>/g)].map(([, inner]) => inner)).toEqual([
      "<altitudeMode>absolute</altitudeMode><coordinates>1,2,3</coordinates>",
      "<coordinates>1,2,0</coordinates>",
      "<coordinates>1,2</coordinates>",
    ]);
  });
});

describe("reports what KML cannot hold", () => {
  test("reports characters that XML does not allow", async () => {
    const { path, losses } = await written([
      { properties: { name: "a\u0001b", x: "\u0000\uffff" }, geometry: at(0, 0) },
    ]);
    expect(losses).toMatchObject([
      { code: "control-character", field: "name", count: 1 },
      { code: "control-character", field: "x", count: 1 },
    ]);
    expect((await readBack(path))[0]!.properties).toEqual({ name: "ab", x: "" });
  });

  test("reports a collection of one kind", async () => {
    const { path, losses } = await written([
      { geometry: { type: "GeometryCollection", geometries: [at(1, 2), at(3, 4)] } },
    ]);
    expect(losses).toMatchObject([{ code: "geometry-type-changed", count: 1 }]);
    expect((await readBack(path))[0]!.geometry).toEqual({
      type: "MultiPoint",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    });
  });
});

test("a .kmz contains doc.kml, and can be read", async () => {
  const stem = scratch.path("zipped");
  writeFileSync(`${stem}.geojson`, JSON.stringify({ type: "Feature", properties: { a: 1 }, geometry: at(1, 2) }));
  await convertFile(`${stem}.geojson`, `${stem}.kmz`);
  const back = await convertFile(`${stem}.kmz`, `${stem}-back.geojson`);
  expect(back.written).toBe(1);
  expect(readFileSync(`${stem}.kmz`).toString("latin1")).toContain("doc.kml");
});
