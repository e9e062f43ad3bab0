/** Geometries of GML, by the clauses of ISO 19136 (OGC 07-036r1); the expected positions are worked out by hand. */
import { afterAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../support/read-layers.js";
import { readGeometry } from "./documents.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const utm = 'srsName="urn:ogc:def:crs:EPSG::25832"';
const line = (text: string) => `<gml:LineString><gml:posList>${text}</gml:posList></gml:LineString>`;
const ring = (text: string) => `<gml:LinearRing><gml:posList>${text}</gml:posList></gml:LinearRing>`;
const polygon = (shell: string, ...holes: string[]) =>
  `<gml:Polygon><gml:exterior>${ring(shell)}</gml:exterior>${holes
    .map((hole) => `<gml:interior>${ring(hole)}</gml:interior>`)
    .join("")}</gml:Polygon>`;
const square = "0 0 4 0 4 4 0 4 0 0";
const hole = "1 1 1 2 2 2 2 1 1 1";
const squareRing = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
  [0, 0],
];
const holeRing = [
  [1, 1],
  [1, 2],
  [2, 2],
  [2, 1],
  [1, 1],
];

describe("geometries", () => {
  const shapes: [name: string, gml: string, geometry: object, types: string[]][] = [
    ["Point", "<gml:Point><gml:pos>1 2</gml:pos></gml:Point>", { type: "Point", coordinates: [1, 2] }, ["Point"]],
    [
      "Point with height",
      "<gml:Point><gml:pos>1 2 3.5</gml:pos></gml:Point>",
      { type: "Point", coordinates: [1, 2, 3.5] },
      ["Point"],
    ],
    [
      "Point of GML 2",
      "<gml:Point><gml:coordinates>1,2</gml:coordinates></gml:Point>",
      { type: "Point", coordinates: [1, 2] },
      ["Point"],
    ],
    [
      "Point with coord",
      "<gml:Point><gml:coord><gml:X>1</gml:X><gml:Y>2</gml:Y></gml:coord></gml:Point>",
      { type: "Point", coordinates: [1, 2] },
      ["Point"],
    ],
    ["empty Point", "<gml:Point/>", { type: "Point", coordinates: [] }, ["Point"]],
    [
      "LineString",
      line("0 0 1 1 2 0"),
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
          [2, 0],
        ],
      },
      ["LineString"],
    ],
    [
      "LineString of three dimensions",
      '<gml:LineString srsDimension="3"><gml:posList>0 0 5 1 1 6</gml:posList></gml:LineString>',
      {
        type: "LineString",
        coordinates: [
          [0, 0, 5],
          [1, 1, 6],
        ],
      },
      ["LineString"],
    ],
    [
      "LineString with count",
      '<gml:LineString><gml:posList count="2">0 0 5 1 1 6</gml:posList></gml:LineString>',
      {
        type: "LineString",
        coordinates: [
          [0, 0, 5],
          [1, 1, 6],
        ],
      },
      ["LineString"],
    ],
    [
      "LineString of positions and points",
      "<gml:LineString><gml:pos>0 0</gml:pos><gml:pointProperty><gml:Point><gml:pos>1 1</gml:pos></gml:Point></gml:pointProperty></gml:LineString>",
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
      ["LineString"],
    ],
    [
      "LineString with other separators",
      '<gml:LineString><gml:coordinates decimal="," cs=";" ts="|">0,5;1|2;3,25</gml:coordinates></gml:LineString>',
      {
        type: "LineString",
        coordinates: [
          [0.5, 1],
          [2, 3.25],
        ],
      },
      ["LineString"],
    ],
    [
      "LineString with blanks after commas",
      "<gml:LineString><gml:coordinates>0, 1 2, 3</gml:coordinates></gml:LineString>",
      {
        type: "LineString",
        coordinates: [
          [0, 1],
          [2, 3],
        ],
      },
      ["LineString"],
    ],
    ["Polygon", polygon(square, hole), { type: "Polygon", coordinates: [squareRing, holeRing] }, ["Polygon"]],
    [
      "Polygon of GML 2",
      `<gml:Polygon><gml:innerBoundaryIs>${ring(hole)}</gml:innerBoundaryIs><gml:outerBoundaryIs>${ring(square)}</gml:outerBoundaryIs></gml:Polygon>`,
      { type: "Polygon", coordinates: [squareRing, holeRing] },
      ["Polygon"],
    ],
    [
      "MultiPoint",
      "<gml:MultiPoint><gml:pointMember><gml:Point><gml:pos>1 2</gml:pos></gml:Point></gml:pointMember><gml:pointMembers><gml:Point><gml:pos>3 4</gml:pos></gml:Point></gml:pointMembers></gml:MultiPoint>",
      {
        type: "MultiPoint",
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      ["MultiPoint"],
    ],
    [
      "MultiLineString",
      `<gml:MultiLineString><gml:lineStringMember>${line("0 0 1 1")}</gml:lineStringMember></gml:MultiLineString>`,
      {
        type: "MultiLineString",
        coordinates: [
          [
            [0, 0],
            [1, 1],
          ],
        ],
      },
      ["MultiLineString"],
    ],
    [
      "MultiCurve",
      `<gml:MultiCurve><gml:curveMember>${line("0 0 1 1")}</gml:curveMember><gml:curveMembers>${line("2 2 3 3")}${line("4 4 5 5")}</gml:curveMembers></gml:MultiCurve>`,
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
          [
            [4, 4],
            [5, 5],
          ],
        ],
      },
      ["MultiLineString"],
    ],
    [
      "MultiPolygon",
      `<gml:MultiPolygon><gml:polygonMember>${polygon(square)}</gml:polygonMember></gml:MultiPolygon>`,
      { type: "MultiPolygon", coordinates: [[squareRing]] },
      ["MultiPolygon"],
    ],
    [
      "MultiSurface of surfaces",
      `<gml:MultiSurface><gml:surfaceMember><gml:Surface><gml:patches><gml:PolygonPatch><gml:exterior>${ring(square)}</gml:exterior></gml:PolygonPatch></gml:patches></gml:Surface></gml:surfaceMember></gml:MultiSurface>`,
      { type: "MultiPolygon", coordinates: [[squareRing]] },
      ["MultiPolygon"],
    ],
    [
      "Surface",
      `<gml:Surface><gml:patches><gml:PolygonPatch><gml:exterior>${ring(square)}</gml:exterior><gml:interior>${ring(hole)}</gml:interior></gml:PolygonPatch></gml:patches></gml:Surface>`,
      { type: "Polygon", coordinates: [squareRing, holeRing] },
      ["Polygon", "MultiPolygon"],
    ],
    [
      "Curve",
      "<gml:Curve><gml:segments><gml:LineStringSegment><gml:posList>0 0 1 1</gml:posList></gml:LineStringSegment><gml:LineStringSegment><gml:posList>1 1 2 0</gml:posList></gml:LineStringSegment></gml:segments></gml:Curve>",
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
          [2, 0],
        ],
      },
      ["LineString"],
    ],
    [
      "OrientableCurve",
      `<gml:OrientableCurve orientation="-"><gml:baseCurve>${line("0 0 1 1")}</gml:baseCurve></gml:OrientableCurve>`,
      {
        type: "LineString",
        coordinates: [
          [1, 1],
          [0, 0],
        ],
      },
      ["LineString"],
    ],
    [
      "Polygon of a Ring",
      `<gml:Polygon><gml:exterior><gml:Ring><gml:curveMember>${line("0 0 4 0 4 4")}</gml:curveMember><gml:curveMember>${line("4 4 0 4 0 0")}</gml:curveMember></gml:Ring></gml:exterior></gml:Polygon>`,
      { type: "Polygon", coordinates: [squareRing] },
      ["Polygon"],
    ],
    [
      "MultiGeometry",
      `<gml:MultiGeometry><gml:geometryMember><gml:Point><gml:pos>1 2</gml:pos></gml:Point></gml:geometryMember><gml:geometryMember>${line("0 0 1 1")}</gml:geometryMember></gml:MultiGeometry>`,
      {
        type: "GeometryCollection",
        geometries: [
          { type: "Point", coordinates: [1, 2] },
          {
            type: "LineString",
            coordinates: [
              [0, 0],
              [1, 1],
            ],
          },
        ],
      },
      ["GeometryCollection"],
    ],
    [
      "Envelope",
      "<gml:Envelope><gml:lowerCorner>0 0</gml:lowerCorner><gml:upperCorner>4 4</gml:upperCorner></gml:Envelope>",
      { type: "Polygon", coordinates: [squareRing] },
      ["Polygon"],
    ],
  ];
  it.each(shapes)("%s", async (_, gml, geometry, types) => {
    const found = await readGeometry(scratch, gml);
    expect(found.rejects).toEqual([]);
    expect(found.geometry).toEqual(geometry);
    expect(found.types).toEqual(types);
  });

  it("an Arc is a line on its circle, and is reported", async () => {
    // A half circle around (0, 0) with radius 10, from (10, 0) over (0, 10).
    const found = await readGeometry(
      scratch,
      "<gml:Curve><gml:segments><gml:Arc><gml:posList>10 0 0 10 -10 0</gml:posList></gml:Arc></gml:segments></gml:Curve>",
    );
    const { coordinates } = found.geometry as { coordinates: number[][] };
    expect(coordinates[0]).toEqual([10, 0]);
    expect(coordinates.at(-1)).toEqual([-10, 0]);
    expect(coordinates.length).toBeGreaterThan(40);
    for (const [x, y] of coordinates) expect(Math.hypot(x!, y!)).toBeCloseTo(10, 9);
    expect(found.losses).toEqual(["curve-linearized"]);
  });

  it("a Circle is closed and on its circle", async () => {
    const found = await readGeometry(
      scratch,
      "<gml:Curve><gml:segments><gml:Circle><gml:posList>110 200 100 210 90 200</gml:posList></gml:Circle></gml:segments></gml:Curve>",
    );
    const { coordinates } = found.geometry as { coordinates: number[][] };
    expect(coordinates.at(-1)).toEqual(coordinates[0]);
    for (const [x, y] of coordinates) expect(Math.hypot(x! - 100, y! - 200)).toBeCloseTo(10, 9);
    expect(Math.min(...coordinates.map(([, y]) => y!))).toBeCloseTo(190, 1);
  });

  it("an open ring is closed, with a note", async () => {
    const found = await readGeometry(scratch, polygon("0 0 4 0 4 4 0 4"));
    expect(found.geometry).toEqual({ type: "Polygon", coordinates: [squareRing] });
    expect(found.notices).toEqual(["ring-closed"]);
  });

  it("a solid is its faces, and that is reported", async () => {
    const found = await readGeometry(
      scratch,
      `<gml:Solid srsDimension="2"><gml:exterior><gml:CompositeSurface><gml:surfaceMember>${polygon(square)}</gml:surfaceMember></gml:CompositeSurface></gml:exterior></gml:Solid>`,
    );
    expect(found.geometry).toEqual({ type: "MultiPolygon", coordinates: [[squareRing]] });
    expect(found.losses).toEqual(["solid-as-faces"]);
  });
});

describe("the order of axes", () => {
  // Marienplatz in Munich: 48.1374° N, 11.5755° E.
  const cases: [srsName: string, pos: string, crs: string | null, x: number, y: number][] = [
    ["urn:ogc:def:crs:EPSG::4326", "48.1374 11.5755", "EPSG:4326", 11.5755, 48.1374],
    ["urn:x-ogc:def:crs:EPSG:6.9:4326", "48.1374 11.5755", "EPSG:4326", 11.5755, 48.1374],
    ["http://www.opengis.net/def/crs/EPSG/0/4326", "48.1374 11.5755", "EPSG:4326", 11.5755, 48.1374],
    ["https://www.opengis.net/def/crs/EPSG/0/4326", "48.1374 11.5755", "EPSG:4326", 11.5755, 48.1374],
    ["EPSG:4326", "11.5755 48.1374", "EPSG:4326", 11.5755, 48.1374],
    ["http://www.opengis.net/gml/srs/epsg.xml#4326", "11.5755 48.1374", "EPSG:4326", 11.5755, 48.1374],
    ["urn:ogc:def:crs:OGC:1.3:CRS84", "11.5755 48.1374", "EPSG:4326", 11.5755, 48.1374],
    ["http://www.opengis.net/def/crs/OGC/1.3/CRS84", "11.5755 48.1374", "EPSG:4326", 11.5755, 48.1374],
    ["urn:ogc:def:crs:EPSG::25832", "691600 5334700", "EPSG:25832", 691600, 5334700],
    ["urn:ogc:def:crs:EPSG::3857", "1288500 6129700", "EPSG:3857", 1288500, 6129700],
    // DHDN / 3-degree Gauss-Krüger zone 4 declares the northing first.
    ["urn:ogc:def:crs:EPSG::31468", "5332900 4468500", "EPSG:31468", 4468500, 5332900],
    ["http://www.opengis.net/gml/srs/epsg.xml#31468", "4468500 5332900", "EPSG:31468", 4468500, 5332900],
    ["EPSG:31468", "4468500 5332900", "EPSG:31468", 4468500, 5332900],
    ["urn:adv:crs:ETRS89_UTM32", "691600 5334700", "EPSG:25832", 691600, 5334700],
    ["urn:ogc:def:crs,crs:EPSG::4258,crs:EPSG::7837", "48.1374 11.5755 519", null, 11.5755, 48.1374],
  ];
  it.each(cases)("%s", async (srsName, pos, crs, x, y) => {
    const found = await readGeometry(scratch, `<gml:Point srsName="${srsName}"><gml:pos>${pos}</gml:pos></gml:Point>`);
    expect(found.crs).toBe(crs);
    const { coordinates } = found.geometry as { coordinates: number[] };
    expect(coordinates.slice(0, 2)).toEqual([x, y]);
  });

  it("can be overridden", async () => {
    const point = '<gml:Point srsName="EPSG:4326"><gml:pos>48.1374 11.5755</gml:pos></gml:Point>';
    const found = await readGeometry(scratch, point, { options: { axisOrder: "yx" } });
    expect(found.geometry).toEqual({ type: "Point", coordinates: [11.5755, 48.1374] });
  });
});

describe("geometries that are not understood are rejected with the reason", () => {
  const flawed: [name: string, gml: string, reason: string][] = [
    ["a word among numbers", line("0 0 one 1"), '"one" is not a coordinate'],
    ["NaN", line("0 0 NaN 1"), '"NaN" is not a coordinate'],
    ["an odd number of numbers", line("0 0 1"), "3 numbers, which is not a multiple of 2"],
    [
      "two parts apart",
      `<gml:CompositeCurve><gml:curveMember>${line("0 0 1 1")}</gml:curveMember><gml:curveMember>${line("2 2 3 3")}</gml:curveMember></gml:CompositeCurve>`,
      "do not follow each other",
    ],
    [
      "an interpolation that is not read",
      "<gml:Curve><gml:segments><gml:ArcByCenterPoint><gml:pos>0 0</gml:pos></gml:ArcByCenterPoint></gml:segments></gml:Curve>",
      "<ArcByCenterPoint> is not supported",
    ],
    ["a reference", '<gml:MultiPoint><gml:pointMember xlink:href="#p7"/></gml:MultiPoint>', 'refers to "#p7"'],
    [
      "an element that is not known",
      "<gml:Point><gml:place>1 2</gml:place></gml:Point>",
      "<place> in <Point> is not supported",
    ],
    [
      "holes without shell",
      `<gml:Polygon><gml:interior>${ring(hole)}</gml:interior></gml:Polygon>`,
      "no exterior ring",
    ],
    [
      "two systems",
      `<gml:MultiPoint ${utm}><gml:pointMember><gml:Point srsName="EPSG:4326"><gml:pos>1 2</gml:pos></gml:Point></gml:pointMember></gml:MultiPoint>`,
      "another system",
    ],
    ["topology", "<gml:TopoCurve/>", "<TopoCurve> is not supported"],
  ];
  it.each(flawed)("%s", async (_, gml, reason) => {
    const found = await readGeometry(scratch, gml);
    expect(found.rejects).toEqual([expect.stringContaining(reason)]);
    expect(found.geometry).toBeNull();
  });
});
