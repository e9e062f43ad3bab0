import { describe, expect, it } from "vitest";
import { splitAtAntimeridian } from "../../../../plugins/geojson/write/antimeridian.js";
import { type Geometry, GeometryBuilder, geometryAt } from "../../../../src/model/index.js";

function cut(geometry: Geometry): Geometry {
  const builder = new GeometryBuilder();
  builder.addGeoJson(geometry);
  return geometryAt(splitAtAntimeridian(builder.finish(), unexpected), 0)!;
}

const unexpected = (uncut: number) => expect(uncut).toBe(0);

/** The area of a ring, positive whichever way it runs. */
const area = (ring: number[][]) =>
  Math.abs(ring.slice(1).reduce((sum, [x, y], k) => sum + ring[k]![0]! * y! - x! * ring[k]![1]!, 0)) / 2;
const areas = (geometry: Geometry) =>
  geometry.type === "MultiPolygon"
    ? geometry.coordinates.map(([shell, ...holes]) => area(shell!) - holes.reduce((sum, hole) => sum + area(hole), 0))
    : [];
const longitudes = (geometry: Geometry) =>
  geometry.type === "MultiPolygon" ? geometry.coordinates.flat(2).map((p) => p[0]!) : [];

describe("cutting at the antimeridian", () => {
  it.each([1e300, 5e15, 36_001, -1e8])(
    "a line to longitude %d is not cut at the antimeridian, with a loss",
    (longitude) => {
      const line: Geometry = {
        type: "LineString",
        coordinates: [
          [0, 0],
          [longitude, 1],
        ],
      };
      const ring: Geometry = {
        type: "Polygon",
        coordinates: [
          [
            [0, 0],
            [longitude, 1],
            [1, 1],
            [0, 0],
          ],
        ],
      };
      const builder = new GeometryBuilder();
      builder.addGeoJson({ type: "GeometryCollection", geometries: [line, ring] });
      builder.addGeoJson({
        type: "LineString",
        coordinates: [
          [170, 0],
          [190, 0],
        ],
      });
      const uncutCounts: number[] = [];
      const column = splitAtAntimeridian(builder.finish(), (uncut) => uncutCounts.push(uncut));
      expect(geometryAt(column, 0)).toEqual({ type: "GeometryCollection", geometries: [line, ring] });
      expect(geometryAt(column, 1)).toMatchObject({ type: "MultiLineString" });
      expect(uncutCounts).toEqual([2]);
    },
  );

  it("a line a hundred times around the world is cut, except for the revolution that its one step saves", () => {
    const line = cut({
      type: "LineString",
      coordinates: [
        [0, 0],
        [36_000, 1],
      ],
    });
    expect(line.type === "MultiLineString" && line.coordinates.length).toBe(100);
  });

  it("cuts the line of RFC 7946, section 3.1.9", () => {
    expect(
      cut({
        type: "LineString",
        coordinates: [
          [170, 45],
          [-170, 45],
        ],
      }),
    ).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [170, 45],
          [180, 45],
        ],
        [
          [-180, 45],
          [-170, 45],
        ],
      ],
    });
  });

  it("cuts the polygon of RFC 7946, section 3.1.9", () => {
    const geometry = cut({
      type: "Polygon",
      coordinates: [
        [
          [170, 40],
          [-170, 40],
          [-170, 50],
          [170, 50],
          [170, 40],
        ],
      ],
    });
    expect(geometry.type).toBe("MultiPolygon");
    expect(areas(geometry)).toEqual([100, 100]);
    expect(new Set(longitudes(geometry))).toEqual(new Set([170, 180, -180, -170]));
  });

  it("interpolates latitude and height, in either direction and as often as it crosses", () => {
    const line = [
      [-175, 10, 100],
      [175, 20, 200],
      [-175, 30, 300],
    ];
    expect(cut({ type: "LineString", coordinates: line })).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [-175, 10, 100],
          [-180, 15, 150],
        ],
        [
          [180, 15, 150],
          [175, 20, 200],
          [180, 25, 250],
        ],
        [
          [-180, 25, 250],
          [-175, 30, 300],
        ],
      ],
    });
  });

  it("treats longitudes beyond 180 as the other side", () => {
    expect(
      cut({
        type: "LineString",
        coordinates: [
          [170, 0],
          [190, 10],
        ],
      }),
    ).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [170, 0],
          [180, 5],
        ],
        [
          [-180, 5],
          [-170, 10],
        ],
      ],
    });
    expect(
      cut({
        type: "LineString",
        coordinates: [
          [185, 0],
          [190, 10],
        ],
      }),
    ).toEqual({
      type: "LineString",
      coordinates: [
        [-175, 0],
        [-170, 10],
      ],
    });
  });

  it("a line that only touches the antimeridian is not cut", () => {
    const touching: Geometry = {
      type: "LineString",
      coordinates: [
        [170, 0],
        [180, 5],
        [170, 10],
      ],
    };
    expect(cut(touching)).toEqual(touching);
    expect(
      cut({
        type: "LineString",
        coordinates: [
          [170, 0],
          [-180, 5],
          [170, 10],
        ],
      }),
    ).toEqual(touching);
    expect(
      cut({
        type: "LineString",
        coordinates: [
          [170, 0],
          [180, 5],
          [-170, 10],
        ],
      }),
    ).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [170, 0],
          [180, 5],
        ],
        [
          [-180, 5],
          [-170, 10],
        ],
      ],
    });
  });

  it("cuts holes with their polygon, and assigns uncut ones to the part that contains them", () => {
    const shell = [
      [160, 0],
      [-160, 0],
      [-160, 40],
      [160, 40],
      [160, 0],
    ];
    const across = [
      [175, 10],
      [-175, 10],
      [-175, 20],
      [175, 20],
      [175, 10],
    ];
    const east = [
      [-170, 30],
      [-165, 30],
      [-165, 35],
      [-170, 35],
      [-170, 30],
    ];
    const geometry = cut({ type: "Polygon", coordinates: [shell, across, east] });
    expect(areas(geometry)).toEqual([800 - 50, 800 - 50 - 25]);
    expect(geometry.type === "MultiPolygon" && geometry.coordinates.map((rings) => rings.length)).toEqual([1, 2]);
  });

  it("cuts a comb at the antimeridian into as many parts as it has teeth", () => {
    const comb = [
      [170, 0],
      [-170, 0],
      [-170, 10],
      [175, 10],
      [175, 20],
      [-170, 20],
      [-170, 30],
      [170, 30],
      [170, 0],
    ];
    const geometry = cut({ type: "Polygon", coordinates: [comb] });
    expect(areas(geometry).sort((a, b) => a - b)).toEqual([100, 100, 100 + 50 + 100]);
  });

  it("closes a ring around the world at the pole that it encloses", () => {
    const ring = [
      [0, 80],
      [90, 80],
      [180, 80],
      [-90, 80],
      [0, 80],
    ];
    const geometry = cut({ type: "Polygon", coordinates: [ring] });
    expect(areas(geometry).reduce((sum, a) => sum + a, 0)).toBeCloseTo(3600, 9);
    expect(Math.max(...longitudes(geometry).map(Math.abs))).toBe(180);
    const south = cut({ type: "Polygon", coordinates: [ring.map(([x, y]) => [x!, -y!]).reverse()] });
    expect(areas(south).reduce((sum, a) => sum + a, 0)).toBeCloseTo(3600, 9);
  });

  it("leaves the whole world, and geometries already cut, unchanged", () => {
    const world: Geometry = {
      type: "Polygon",
      coordinates: [
        [
          [-180, -90],
          [180, -90],
          [180, 90],
          [-180, 90],
          [-180, -90],
        ],
      ],
    };
    expect(cut(world)).toEqual(world);
    const done: Geometry = {
      type: "LineString",
      coordinates: [
        [179, 0],
        [180, 1],
      ],
    };
    expect(cut(done)).toEqual(done);
    expect(cut({ type: "Point", coordinates: [180, 0] })).toEqual({ type: "Point", coordinates: [180, 0] });
  });

  it("cuts the members of a collection at the antimeridian", () => {
    const line: Geometry = {
      type: "LineString",
      coordinates: [
        [170, 45],
        [-170, 45],
      ],
    };
    const geometry = cut({ type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }, line] });
    expect(geometry).toEqual({
      type: "GeometryCollection",
      geometries: [{ type: "Point", coordinates: [1, 2] }, cut(line)],
    });
  });
});
