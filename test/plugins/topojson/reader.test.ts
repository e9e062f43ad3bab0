import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { feature } from "topojson-client";
import type { Topology } from "topojson-specification";
import { afterAll, describe, expect, test } from "vitest";
import { esrijson } from "../../../plugins/arcgis/index.js";
import { geojson, geojsonseq } from "../../../plugins/geojson/index.js";
import topojson from "../../../plugins/topojson/index.js";
import { open } from "../../../plugins/topojson/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import { RecordingContext } from "../../../src/testing/recording-context.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { readTopology, topologyOf } from "./read-topojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const samplePath = new URL("../../../samples/topojson/districts.topojson", import.meta.url).pathname;
const sample = readFileSync(samplePath, "utf8");

async function systemOf(path: string): Promise<string | null | undefined> {
  await using dataset = await open(FileSource.at(path), { fid: undefined }, new RecordingContext());
  return dataset.layers[0]!.crs?.id;
}

describe("geometries", () => {
  test("arcs are joined, also in reverse, and quantized positions are scaled and translated", async () => {
    const { layers } = await readTopology(
      scratch,
      topologyOf(
        [
          { type: "LineString", arcs: [0, 1] },
          { type: "LineString", arcs: [-2, -1] },
          { type: "Polygon", arcs: [[0, 1, 2]] },
          { type: "Point", coordinates: [4, 5] },
        ],
        [
          [
            [0, 0],
            [10, 0],
          ],
          [
            [10, 0],
            [0, 10],
          ],
          [
            [10, 10],
            [-10, -10],
          ],
        ],
        { transform: { scale: [0.5, 2], translate: [100, -10] } },
      ),
    );
    // x = 100 + 0.5 × sum of differences, y = −10 + 2 × sum of differences
    const [p, q, r] = [
      [100, -10],
      [105, -10],
      [105, 10],
    ];
    expect(layers.a!.map(({ geometry }) => geometry)).toEqual([
      { type: "LineString", coordinates: [p, q, r] },
      { type: "LineString", coordinates: [r, q, p] },
      { type: "Polygon", coordinates: [[p, q, r, p]] },
      { type: "Point", coordinates: [102, 0] },
    ]);
  });

  test("nested collections, null and empty geometries, heights", async () => {
    const { layers, context } = await readTopology(
      scratch,
      topologyOf(
        [
          {
            type: "GeometryCollection",
            geometries: [
              { type: "Point", coordinates: [1, 2, 30] },
              { type: null },
              { type: "GeometryCollection", geometries: [{ type: "MultiPoint", coordinates: [[3, 4]] }] },
            ],
          },
          { type: null, properties: { a: 1 } },
          { type: "Point", coordinates: [] },
          { type: "LineString", arcs: [] },
          { type: "Polygon", arcs: [] },
          { type: "MultiLineString", arcs: [[], [0]] },
          { type: "LineString", arcs: [0] },
        ],
        [
          [
            [1, 2, 3, 9],
            [4, 5, 6, 9],
          ],
        ],
      ),
    );
    const line = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    expect(layers.a!.map(({ geometry }) => geometry)).toEqual([
      {
        type: "GeometryCollection",
        geometries: [
          { type: "Point", coordinates: [1, 2, 30] },
          { type: "GeometryCollection", geometries: [{ type: "MultiPoint", coordinates: [[3, 4]] }] },
        ],
      },
      null,
      { type: "Point", coordinates: [] },
      { type: "LineString", coordinates: [] },
      { type: "Polygon", coordinates: [] },
      { type: "MultiLineString", coordinates: [line] },
      { type: "LineString", coordinates: line },
    ]);
    expect(context.losses.map(({ code }) => code)).toEqual(["extra-coordinates"]);
    expect(context.notices.map(({ code }) => code)).toEqual(["empty-part"]);
  });

  test.each([
    ["an arc that does not exist", { type: "LineString", arcs: [7] }, "arc 7 does not exist: the file has 3 arcs"],
    ["an arc before the first", { type: "LineString", arcs: [-9] }, "arc 8 does not exist"],
    ["an index that is no integer", { type: "LineString", arcs: [0.5] }, "an arc index is not an integer"],
    ["arcs that do not meet", { type: "LineString", arcs: [0, 0] }, "arc 0 does not begin where arc 0"],
    ["an arc of one position", { type: "LineString", arcs: [1] }, "arc 1 has fewer than two positions"],
    ["an arc with text", { type: "LineString", arcs: [2] }, "arc 2: a position has a coordinate that is not a number"],
    ["arcs that are nested too little", { type: "Polygon", arcs: [0] }, "the arcs of a line are not an array"],
    ["arcs that are missing", { type: "MultiPolygon" }, "not nested as its type requires"],
    ["a position of one number", { type: "Point", coordinates: [1] }, "fewer than two numbers"],
    ["another type", { type: "Circle" }, '"Circle" is not a type of geometry'],
    ["a member that is no geometry", { type: "GeometryCollection", geometries: [5] }, "is not a geometry"],
  ])("%s is a reject, and the other features are read", async (_, geometry, reason) => {
    const arcs = [
      [
        [0, 0],
        [1, 1],
      ],
      [[0, 0]],
      [
        [0, 0],
        ["x", 1],
      ],
    ];
    const good = { type: "LineString", arcs: [0] };
    const { layers, context } = await readTopology(scratch, topologyOf([good, geometry, good], arcs));
    expect(layers.a).toHaveLength(2);
    expect(context.rejects).toMatchObject([
      { code: "geometry-malformed", place: { record: 2 }, reason: expect.stringContaining(reason) },
    ]);
  });

  test("collections nested deeper than 64 are rejects", async () => {
    let inner: unknown = { type: "Point", coordinates: [1, 2] };
    for (let k = 0; k < 100; k++) inner = { type: "GeometryCollection", geometries: [inner] };
    const { context } = await readTopology(scratch, topologyOf([inner]));
    expect(context.rejects).toMatchObject([{ code: "geometry-malformed" }]);
  });

  test("an open ring is closed", async () => {
    const arc = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ];
    const { layers, context } = await readTopology(scratch, topologyOf([{ type: "Polygon", arcs: [[0]] }], [arc]));
    expect(layers.a![0]!.geometry).toEqual({ type: "Polygon", coordinates: [[...arc, [0, 0]]] });
    expect(context.notices.map(({ code }) => code)).toEqual(["ring-closed"]);
  });
});

describe("properties", () => {
  test("types are those of GeoJSON, integers beyond 2^53 are exact, and ids also become a field", async () => {
    const text = JSON.stringify(
      topologyOf([
        { type: null, id: 5, properties: { whole: 1, big: "BIG", list: ["BIG"], __proto__x: 1 } },
        { type: null, id: "x", properties: { whole: 1.5, big: 7 } },
      ]),
    ).replaceAll('"BIG"', "9007199254740993");
    const { layers, context, types } = await readTopology(scratch, text, { fid: "key" });
    expect(layers.a!.map(({ id, properties }) => [id, properties])).toEqual([
      [5, { whole: 1, big: "9007199254740993", list: ["9007199254740993"], __proto__x: 1, key: 5 }],
      ["x", { whole: 1.5, big: 7, key: "x" }],
    ]);
    expect(types.a).toEqual({ key: "json", whole: "double", big: "int64", list: "json", __proto__x: "int32" });
    expect(context.losses).toEqual([]);
  });

  test("properties that are not an object are rejects, with their place", async () => {
    const text = JSON.stringify(topologyOf([{ type: null, properties: [] }, 5, { type: null }]));
    const { layers, context } = await readTopology(scratch, text);
    expect(layers.a).toHaveLength(1);
    expect(context.rejects.map(({ code, reason, place }) => [code, reason, place])).toEqual([
      ["feature-invalid", "its properties are not an object", { record: 1, byte: text.indexOf('{"type":null') }],
      ["feature-invalid", "it is not an object", { record: 2, byte: text.indexOf("5,{") }],
    ]);
  });

  test("the type of a field is that of the notation: 5.0 is a double, and nested JSON stays as it is", async () => {
    const text = JSON.stringify(topologyOf([{ type: null, properties: { a: "X", b: { c: "X" } } }]));
    const { layers, types } = await readTopology(scratch, text.replaceAll('"X"', "12345678901234567890.0"));
    expect(types.a).toEqual({ a: "double", b: "json" });
    expect(layers.a![0]!.properties.a).toBe(Number("12345678901234567890"));
  });

  test("members that TopoJSON does not define are reported", async () => {
    const { context } = await readTopology(
      scratch,
      topologyOf([{ type: null, style: {} }], [], { metadata: 1, bbox: [] }),
    );
    expect(context.losses.map(({ code, field }) => [code, field])).toEqual([
      ["foreign-member", "metadata"],
      ["foreign-member", "style"],
    ]);
  });
});

describe("documents", () => {
  test.each([
    ["another type", '{"type":"FeatureCollection"}', "input-corrupt", "Topology"],
    ["no objects", '{"type":"Topology","arcs":[]}', "input-corrupt", 'has no member "objects"'],
    ["an object that is a number", '{"type":"Topology","objects":{"a":1}}', "input-corrupt", '"a"'],
    ["arcs that are an object", '{"type":"Topology","objects":{},"arcs":{}}', "input-corrupt", '"arcs"'],
    ["a transform without scale", '{"type":"Topology","objects":{},"transform":{}}', "input-corrupt", "transform"],
    ["an end that is missing", sample.slice(0, -20), "input-truncated", "not valid JSON"],
    ["a sign too many", sample.replace('"objects"', '"objects",'), "input-corrupt", "not valid JSON"],
  ])("a document with %s is refused", async (_, text, code, reason) => {
    await expect(readTopology(scratch, text)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason),
    });
  });

  test("the place of a syntax error is in bytes", async () => {
    const text = '{"type":"Topology","objects":{"ä":x}}';
    await expect(readTopology(scratch, text)).rejects.toMatchObject({
      details: { place: { byte: Buffer.byteLength(text.slice(0, text.indexOf("x}"))) } },
    });
  });

  test("the reference system is WGS84, or that of a crs member", async () => {
    const crs = { type: "name", properties: { name: "EPSG:31287" } };
    const path = scratch.path("crs.topojson");
    writeFileSync(path, JSON.stringify(topologyOf([{ type: null }], [], { crs })));
    expect(await systemOf(path)).toBe("EPSG:31287");
    expect(await systemOf(samplePath)).toBe(new RecordingContext().crs.wgs84.id);
  });

  test.each([
    ["its type first", '{"type":"Topology","objects":{}', "yes"],
    ["members before its type", '{"bbox":[1,2,{"type":"Feature"}],"a":"type\\"","type" : "Topology"', "yes"],
    ["a byte order mark", '\ufeff {"type":"Topology"', "yes"],
    [
      "its type beyond the head",
      '{"arcs":[[[0,0]]],"objects":{"a":{"type":"GeometryCollection","geometries":[',
      "maybe",
    ],
    ["a GeoJSON document", '{"type":"FeatureCollection","features":[{"type":"Topology"', "no"],
    ["a property of this name", '{"features":[{"properties":{"type":"Topology"}}]', "no"],
    ["an array", '[{"type":"Topology"}]', "no"],
    ["nothing", "", "no"],
  ])("%s is identified, and by no other reader of JSON", (_, text, confidence) => {
    const head = Buffer.from(text);
    const source = { name: "a.json", size: head.length, findSibling: () => undefined };
    expect(topojson.identify(head, source)).toBe(confidence);
    if (confidence !== "no")
      expect([geojson, geojsonseq, esrijson].map((format) => format.identify(head, source))).toEqual([
        "no",
        "no",
        "no",
      ]);
  });
});

describe("other programs", () => {
  test("topojson-client reads the same features", async () => {
    const topology = JSON.parse(sample) as Topology;
    const { layers } = await readTopology(scratch, sample);
    for (const name of ["districts", "stations"]) {
      const judged = feature(topology, topology.objects[name]!) as { features?: unknown[] };
      expect(layers[name]).toEqual(judged.features);
    }
  });

  test.each(["countries", "land"])(
    "a real file has the features that topojson-client reads: %s of world-atlas",
    async (name) => {
      const text = readFileSync(createRequire(import.meta.url).resolve("world-atlas/countries-110m.json"), "utf8");
      const topology = JSON.parse(text) as Topology;
      const { layers, context } = await readTopology(scratch, text);
      const judged = feature(topology, topology.objects[name]!) as { features?: unknown[] };
      expect(layers[name]).toEqual(judged.features);
      expect([context.losses, context.rejects]).toEqual([[], []]);
    },
  );

  test("ogr2ogr reads the same polygons", async () => {
    const { layers } = await readTopology(scratch, sample);
    const args = ["-f", "GeoJSON", "-lco", "RFC7946=NO", "/vsistdout/", samplePath, "districts"];
    const { features } = JSON.parse(
      execFileSync("ogr2ogr", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    ) as {
      features: { geometry: unknown }[];
    };
    // GDAL gives a null geometry no type, or leaves the feature out.
    const judged = features.map(({ geometry }) => geometry).filter((each) => each !== null);
    expect(JSON.stringify(layers.districts!.map(({ geometry }) => geometry).filter((each) => each !== null))).toBe(
      JSON.stringify(judged),
    );
  });
});
