import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { afterAll, describe, expect, test } from "vitest";
import type { Feature, Geometry } from "../../../src/model/index.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const samples = new URL("../../../samples/", import.meta.url).pathname;

const write = async (
  geometries: readonly (Geometry | null)[],
  options: Record<string, string> = {},
  properties: object = {},
) => {
  const features = geometries.map((geometry) => ({ type: "Feature", properties, geometry }));
  const [input, output] = [scratch.path("in.geojson"), scratch.path("out.topojson")];
  writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features }));
  const report = await convertFile(input, output, { overwrite: true, writerOptions: options });
  return { report, topology: JSON.parse(readFileSync(output, "utf8")) as Topology };
};

const featuresOf = (topology: Topology, name: string): Feature[] =>
  (feature(topology, topology.objects[name]! as GeometryCollection) as unknown as { features: Feature[] }).features;

/** Two squares with a common side, of which the second begins in the middle of it. */
const west = [
  [0, 0],
  [0, 1],
  [1, 1],
  [1, 0.5],
  [1, 0],
  [0, 0],
];
const east = [
  [1, 0.5],
  [1, 1],
  [2, 1],
  [2, 0],
  [1, 0],
  [1, 0.5],
];

describe("arcs", () => {
  test("a side of two polygons is written once, and all positions stay in their order", async () => {
    const geometries: Geometry[] = [
      { type: "Polygon", coordinates: [west] },
      { type: "Polygon", coordinates: [east] },
    ];
    const { topology } = await write(geometries, {});
    expect(featuresOf(topology, "in").map(({ geometry }) => geometry)).toEqual(geometries);
    const sides = topology.arcs.map((arc) => JSON.stringify(arc));
    expect(new Set(sides).size).toBe(sides.length);
    // The side between both, from (1, 0) to (1, 1), in the library's own words.
    const border = mesh(topology, topology.objects.in as GeometryCollection, (a, b) => a !== b);
    expect(border.coordinates.flat().sort()).toEqual([
      [1, 0],
      [1, 0.5],
      [1, 1],
    ]);
  });

  test("coordinates keep all their digits", async () => {
    const line = [
      [0.1 + 0.2, 1 / 3],
      [-179.99999999999997, 1e-20],
    ];
    const { topology } = await write([{ type: "LineString", coordinates: line }]);
    expect(topology.arcs).toEqual([line]);
    expect(topology.transform).toBeUndefined();
  });

  test("all types of geometries come back, also null, empty and nested ones", async () => {
    const geometries: (Geometry | null)[] = [
      null,
      { type: "Point", coordinates: [1, 2] },
      {
        type: "MultiPoint",
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      {
        type: "MultiLineString",
        coordinates: [
          [
            [0, 0],
            [1, 1],
          ],
          [
            [2, 2],
            [3, 3],
          ],
        ],
      },
      { type: "MultiPolygon", coordinates: [[west], [east.map(([x, y]) => [x! + 5, y!])]] },
      {
        type: "GeometryCollection",
        geometries: [
          { type: "Point", coordinates: [7, 8] },
          {
            type: "GeometryCollection",
            geometries: [
              {
                type: "LineString",
                coordinates: [
                  [0, 0],
                  [1, 1],
                ],
              },
            ],
          },
        ],
      },
      { type: "GeometryCollection", geometries: [] },
      { type: "MultiPolygon", coordinates: [] },
    ];
    const { topology } = await write(geometries);
    expect(featuresOf(topology, "in").map(({ geometry }) => geometry)).toEqual(geometries);
    expect((topology.objects.in as GeometryCollection).geometries[0]).toEqual({ type: null, properties: {} });
  });

  test("empty points and lines have no coordinates and no arcs", async () => {
    const empty: Geometry[] = [
      { type: "Point", coordinates: [] },
      { type: "LineString", coordinates: [] },
    ];
    const { topology } = await write(empty);
    expect((topology.objects.in as GeometryCollection).geometries).toEqual([
      { type: "Point", coordinates: [], properties: {} },
      { type: "LineString", arcs: [], properties: {} },
    ]);
  });
});

describe("layers and losses", () => {
  test("several layers become several objects of one file", async () => {
    const output = scratch.path("two.topojson");
    await convertFile(`${samples}geopackage/world.gpkg`, output, { layers: ["parks", "rivers"] });
    const topology = JSON.parse(readFileSync(output, "utf8")) as Topology;
    expect(Object.keys(topology.objects)).toEqual(["parks", "rivers"]);
    for (const name of ["parks", "rivers"]) {
      const { features } = JSON.parse(readFileSync(`${samples}${name}.geojson`, "utf8")) as { features: Feature[] };
      expect(featuresOf(topology, name)).toEqual(features);
    }
  });

  test("GDAL reads the layers and the number of their features", async () => {
    const output = scratch.path("gdal.topojson");
    await convertFile(`${samples}geopackage/world.gpkg`, output, { layers: ["parks", "rivers"] });
    const info = execFileSync("ogrinfo", ["-ro", "-so", "-al", output], { encoding: "utf8" });
    expect(info.match(/Layer name: \w+|Feature Count: \d+/g)).toEqual([
      ...["Layer name: parks", "Feature Count: 27"],
      ...["Layer name: rivers", "Feature Count: 12"],
    ]);
  });

  test("heights are lost, and reported", async () => {
    const { report } = await write([{ type: "Point", coordinates: [1, 2, 3] }]);
    expect(report.losses.map(({ code }) => code)).toEqual(["z-dropped"]);
  });

  test("quantization is noted, and lines that become one place are lost", async () => {
    const { report, topology } = await write(
      [
        {
          type: "LineString",
          coordinates: [
            [0, 0],
            [10, 10],
          ],
        },
        {
          type: "LineString",
          coordinates: [
            [5, 5],
            [5.1, 5.1],
          ],
        },
      ],
      { quantization: "11" },
    );
    // 11 columns from 0 to 10: a grid of whole numbers.
    expect(topology.transform).toEqual({ scale: [1, 1], translate: [0, 0] });
    expect(report.losses.map(({ code, count }) => [code, count])).toEqual([["rounded-away", 1]]);
    expect(report.notices).toMatchObject([{ code: "quantized", example: expect.stringContaining("up to 0.500 in x") }]);
  });

  test("more positions than fit into memory are refused, and nothing is written", async () => {
    const { refuseDocument, refusePositions } = await import("../../../plugins/topojson/memory-limit.js");
    expect(refusePositions(1e9)).toMatch(/--max-old-space-size to more than \d+,/);
    expect(refuseDocument(2 ** 31)).toContain("gdal:TopoJSON");
    expect(refuseDocument(500_000_000)).toMatch(/--max-old-space-size=\d+|gdal/);
    expect([refusePositions(1000), refuseDocument(1000)]).toEqual([null, null]);
    expect(existsSync(scratch.path("none.topojson"))).toBe(false);
  });
});
