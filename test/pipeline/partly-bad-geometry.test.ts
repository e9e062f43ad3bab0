/** Of a geometry of several parts, those that cannot be read are left out, and the others stay. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Feature, Geometry } from "../../src/model/index.js";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

const square = (x: number): number[][] => [
  [x, 0],
  [x + 1, 0],
  [x + 1, 1],
  [x, 1],
  [x, 0],
];

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const wkbPolygon = (ring: readonly (readonly number[])[]): Buffer => {
  const numbers = Buffer.from(new Float64Array(ring.flat()).buffer);
  return Buffer.concat([Buffer.of(1), u32(3), u32(1), u32(ring.length), numbers]);
};
const nan = Number.NaN;
const wkb = (...rings: number[][][]) =>
  Buffer.concat([Buffer.of(1), u32(6), u32(rings.length), ...rings.map(wkbPolygon)]).toString("hex");
const spoiled = square(5).with(1, [nan, 0]);

const geojson = (geometry: string) => `{"type":"Feature","properties":{"name":"a"},"geometry":${geometry}}`;
const json = (value: unknown) => JSON.stringify(value);
const cell = (text: string) => `name,wkt\na,"${text.replaceAll('"', '""')}"\nb,POINT (0 0)\n`;
const kml = (geometry: string) =>
  `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>a</name>${geometry}</Placemark></Document></kml>`;
const kmlRing = (text: string) => `<LinearRing><coordinates>${text}</coordinates></LinearRing>`;
const kmlPolygon = (ring: string, ...holes: string[]) =>
  `<Polygon><outerBoundaryIs>${kmlRing(ring)}</outerBoundaryIs>${holes.map((hole) => `<innerBoundaryIs>${kmlRing(hole)}</innerBoundaryIs>`).join("")}</Polygon>`;
const kmlSquare = (x: number) =>
  square(x)
    .map((position) => position.join(","))
    .join(" ");

/** The feature read first, and what the report says. */
async function read(text: string, extension: string, to = "geojsonl") {
  const input = scratch.path(`${++files}.${extension}`);
  const output = scratch.path(`${files}.out.${to}`);
  writeFileSync(input, text);
  const report = await convertFile(input, output, { overwrite: true });
  const [feature] = readFileSync(output, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Feature);
  const { losses, notices, rejected } = report;
  return { geometry: feature!.geometry, losses, notices, rejected };
}

const onlySquare: Geometry[] = [
  { type: "MultiPolygon", coordinates: [[square(0)]] },
  { type: "Polygon", coordinates: [square(0)] },
];
const twoPoints: Geometry = {
  type: "MultiPoint",
  coordinates: [
    [1, 2],
    [3, 4],
  ],
};

const cases: [what: string, extension: string, text: string, left: Geometry[], why: RegExp][] = [
  [
    "a polygon of words in a MultiPolygon of GeoJSON",
    "geojsonl",
    geojson(json({ type: "MultiPolygon", coordinates: [[square(0)], [square(5).map(() => ["no", "where"])]] })),
    onlySquare,
    /not an array of numbers/,
  ],
  [
    "a position of one number in a MultiPoint of GeoJSON",
    "geojsonl",
    geojson('{"type":"MultiPoint","coordinates":[[1,2],[9],[3,4]]}'),
    [twoPoints],
    /fewer than two numbers/,
  ],
  [
    "a null for a coordinate in a MultiLineString of GeoJSON",
    "geojsonl",
    geojson('{"coordinates":[[[1,2],[3,4]],[[5,null],[6,7]]],"type":"MultiLineString"}'),
    [
      {
        type: "MultiLineString",
        coordinates: [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      },
    ],
    /not an array of numbers/,
  ],
  [
    "a member without coordinates in a GeometryCollection of GeoJSON",
    "geojsonl",
    geojson('{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"Point"}]}'),
    [{ type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }] }],
    /no coordinates/,
  ],
  [
    "a hole of words in a polygon of WKT",
    "csv",
    cell("POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0), (no where, 0.2 0.2, 0.3 0.2, 0.2 0.2))"),
    onlySquare,
    /a number is missing/,
  ],
  [
    "a polygon of words in a MultiPolygon of WKT",
    "csv",
    cell("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((5 0, 6 zero, 6 1, 5 0)))"),
    onlySquare,
    /a number is missing/,
  ],
  ["a point of words in a MultiPoint of WKT", "csv", cell("MULTIPOINT ((1 2), (x y), (3 4))"), [twoPoints], /missing/],
  ["a position that is NaN in a MultiPolygon of WKB", "csv", cell(wkb(square(0), spoiled)), onlySquare, /not a number/],
  [
    "an open ring with a position that is NaN in a MultiPolygon of WKB",
    "csv",
    cell(wkb(square(0), spoiled.slice(0, -1))),
    onlySquare,
    /not a number/,
  ],
  [
    "a polygon of words in a MultiPolygon of GeoJSON in a table",
    "csv",
    cell(json({ type: "MultiPolygon", coordinates: [[square(0)], [[["a", "b"]]]] })),
    onlySquare,
    /not an array of numbers/,
  ],
  [
    "a polygon of words in a MultiGeometry of KML",
    "kml",
    kml(`<MultiGeometry>${kmlPolygon(kmlSquare(0))}${kmlPolygon("no,where 1,2 3,4")}</MultiGeometry>`),
    onlySquare,
    /is not a number/,
  ],
  [
    "a hole of words in a polygon of KML",
    "kml",
    kml(kmlPolygon(kmlSquare(0), "0.1,0.1 no,where 0.3,0.3 0.1,0.1")),
    onlySquare,
    /is not a number/,
  ],
  [
    "a polygon without an outer boundary in a MultiGeometry of KML",
    "kml",
    kml(
      `<MultiGeometry>${kmlPolygon(kmlSquare(0))}<Polygon><innerBoundaryIs>${kmlRing(kmlSquare(5))}</innerBoundaryIs></Polygon></MultiGeometry>`,
    ),
    onlySquare,
    /no outer boundary/,
  ],
  [
    "a point of words among points of KML",
    "kml",
    kml(
      `<MultiGeometry>${["1,2", "no,where", "3,4"].map((at) => `<Point><coordinates>${at}</coordinates></Point>`).join("")}</MultiGeometry>`,
    ),
    [twoPoints],
    /is not a number/,
  ],
];

describe("valid parts of a partly invalid geometry are kept", () => {
  test.each(cases)("valid parts of a geometry are kept beside %s", async (_, extension, text, left, why) => {
    const { geometry, losses, notices, rejected } = await read(text, extension);
    expect(left).toContainEqual(geometry);
    expect(rejected).toBe(0);
    expect(losses).toMatchObject([{ code: "non-finite-part", count: 1 }]);
    expect(notices.find(({ code }) => code === "part-unreadable")?.example).toMatch(why);
  });

  test.each([
    [
      "a ring of one position in GeoJSON",
      "geojsonl",
      geojson(json({ type: "MultiPolygon", coordinates: [[square(0)], [[[5, 5]]]] })),
    ],
    ["a ring of one position in WKT", "csv", cell("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((5 5)))")],
    ["a ring of one position in WKB", "csv", cell(wkb(square(0), [[5, 5]]))],
    [
      "a ring of one position in KML",
      "kml",
      kml(`<MultiGeometry>${kmlPolygon(kmlSquare(0))}${kmlPolygon("5,5")}</MultiGeometry>`),
    ],
  ])("valid parts of a geometry are kept beside %s", async (_, extension, text) => {
    const { geometry, losses } = await read(text, extension);
    expect(onlySquare).toContainEqual(geometry);
    expect(losses).toMatchObject([{ code: "degenerate-part", count: 1 }]);
  });
});

test.each([
  ["GeoJSON", "geojsonl", geojson('{"type":"MultiPoint","coordinates":[["a","b"],[9]]}')],
  ["WKT", "csv", cell("MULTIPOINT ((a b), (x y))")],
  ["WKB", "csv", cell(wkb(spoiled))],
  ["KML", "kml", kml(`<MultiGeometry>${kmlPolygon("a,b")}${kmlPolygon("c,d")}</MultiGeometry>`)],
])("a geometry of %s of which no part can be read is rejected once, with the reason", async (_, extension, text) => {
  const { geometry, losses, rejected } = await read(text, extension);
  expect(geometry).toBeNull();
  expect(rejected).toBe(1);
  expect(losses.filter(({ code }) => code === "non-finite-part")).toEqual([]);
});
