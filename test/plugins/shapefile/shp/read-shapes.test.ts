import { afterAll, describe, expect, it } from "vitest";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";
import {
  dbf,
  doubles,
  ints,
  nullShape,
  ogrFeatures,
  openAt,
  point,
  polyShape,
  readBySplits,
  readFeatures,
  shapefile,
  shpHeader,
  writeShapefile,
} from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const geometries = async (path: string, context = new RecordingContext()) =>
  (await readFeatures(path, {}, context)).map((feature) => feature.geometry);

/** Clockwise and counter-clockwise squares. */
const cw = (x: number, y: number, size: number) => [x, y, x, y + size, x + size, y + size, x + size, y, x, y];
const ccw = (x: number, y: number, size: number) => [x, y, x + size, y, x + size, y + size, x, y + size, x, y];
const pairs = (flat: readonly number[]) => flat.flatMap((_, i) => (i % 2 ? [] : [[flat[i]!, flat[i + 1]!]]));

/** The corners of a closed ring, in the order of their texts. */
const corners = (ring: readonly number[][]) =>
  ring
    .slice(1)
    .map((corner) => corner.join(" "))
    .sort();

describe("shapes", () => {
  it("shapes become points and null geometries in their order", async () => {
    const path = writeShapefile(scratch, "points", shapefile([point(1, 2), nullShape, point(-3.5, 4e10)]));
    expect(await geometries(path)).toEqual([
      { type: "Point", coordinates: [1, 2] },
      null,
      { type: "Point", coordinates: [-3.5, 4e10] },
    ]);
  });

  it("shapes of one part are LineStrings and Polygons, of several Multi*", async () => {
    const path = writeShapefile(
      scratch,
      "lines",
      shapefile([
        polyShape(3, [[0, 0, 1, 1]]),
        polyShape(3, [
          [0, 0, 1, 1],
          [2, 2, 3, 3, 4, 4],
        ]),
        polyShape(5, [cw(0, 0, 1)]),
      ]),
    );
    expect(await geometries(path)).toEqual([
      { type: "LineString", coordinates: [[0, 0], [1, 1]] }, // biome-ignore format: pairs
      { type: "MultiLineString", coordinates: [pairs([0, 0, 1, 1]), pairs([2, 2, 3, 3, 4, 4])] },
      { type: "Polygon", coordinates: [pairs(cw(0, 0, 1))] },
    ]);
  });

  it("shapes of several types in one file are all read", async () => {
    const path = writeShapefile(scratch, "mixed", shapefile([point(1, 1), polyShape(3, [[0, 0, 1, 1]])]));
    expect((await geometries(path)).map((geometry) => geometry?.type)).toEqual(["Point", "LineString"]);
  });

  it("shapes keep Z, and M of no data is NaN", async () => {
    const content = polyShape(
      13,
      [[0, 0, 1, 1]],
      doubles(5, 6, 5, 6), // least, greatest, values
      doubles(7, 7, 7, -1.1e38),
    );
    const path = writeShapefile(scratch, "z", shapefile([content]));
    const [batch] = await readBySplits(path);
    expect([...batch!.geometry.z!]).toEqual([5, 6]);
    expect([...batch!.geometry.m!]).toEqual([7, Number.NaN]);
    expect(batch!.featureAt(0).geometry).toEqual({ type: "LineString", coordinates: [[0, 0, 5], [1, 1, 6]] }); // biome-ignore format: pairs
  });

  it("shapes may omit the M block, or have no measures", async () => {
    const path = writeShapefile(
      scratch,
      "no-m",
      shapefile([
        polyShape(13, [[0, 0, 1, 1]], doubles(5, 6, 5, 6)),
        polyShape(23, [[0, 0, 1, 1]]),
        polyShape(23, [[0, 0, 1, 1]], doubles(0, 0, -1e39, -1.7e308)),
      ]),
    );
    const [batch] = await readBySplits(path);
    expect(batch!.geometry.m).toBeNull();
    expect([...batch!.geometry.z!]).toEqual([5, 6, Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
  });

  it("shapes of points have Z and M behind x and y", async () => {
    const path = writeShapefile(
      scratch,
      "point-zm",
      shapefile([
        Buffer.concat([ints(11), doubles(1, 2, 3, 4)]),
        Buffer.concat([ints(11), doubles(1, 2, 3)]),
        Buffer.concat([ints(21), doubles(1, 2, 9)]),
      ]),
    );
    const [batch] = await readBySplits(path);
    expect([...batch!.geometry.z!]).toEqual([3, 3, Number.NaN]);
    expect([...batch!.geometry.m!]).toEqual([4, Number.NaN, 9]);
  });

  it("shapes of many points are MultiPoints, with Z and M too", async () => {
    const head = (type: number) => Buffer.concat([ints(type), doubles(0, 0, 1, 1), ints(2), doubles(0, 0, 1, 1)]);
    const z = Buffer.concat([head(18), doubles(8, 9, 8, 9, 2, 3, 2, 3)]);
    const path = writeShapefile(
      scratch,
      "multipoints",
      shapefile([head(8), z, Buffer.concat([head(28), doubles(2, 3, 2, 3)])]),
    );
    const [batch] = await readBySplits(path);
    expect([...batch!.features()].map((feature) => feature.geometry)).toEqual([
      { type: "MultiPoint", coordinates: pairs([0, 0, 1, 1]) },
      { type: "MultiPoint", coordinates: [[0, 0, 8], [1, 1, 9]] }, // biome-ignore format: pairs
      { type: "MultiPoint", coordinates: pairs([0, 0, 1, 1]) },
    ]);
    expect([...batch!.geometry.m!]).toEqual([Number.NaN, Number.NaN, 2, 3, 2, 3]);
  });

  it("shapes without positions or with NaN coordinates become null geometries, with a notice", async () => {
    const context = new RecordingContext();
    context.keepsBadGeometries = true;
    const path = writeShapefile(
      scratch,
      "empty",
      shapefile([
        polyShape(5, []),
        polyShape(3, [[]]),
        point(Number.NaN, 1),
        polyShape(5, [[0, 0, Number.POSITIVE_INFINITY, 1, 1, 1, 0, 0]]),
        Buffer.concat([ints(8), doubles(0, 0, 0, 0), ints(0)]),
        polyShape(3, [[], [0, 0, 1, 1], []]),
      ]),
    );
    const found = await geometries(path, context);
    expect(found.slice(0, 5)).toEqual([null, null, null, null, null]);
    expect(found[5]).toEqual({ type: "LineString", coordinates: pairs([0, 0, 1, 1]) });
    const counts = Object.fromEntries(context.notices.map((notice) => [notice.code, notice.count]));
    expect(counts).toMatchObject({ "empty-shape": 3, "non-finite-coordinates": 1 });
    // A geometry that there was is more than an empty point.
    expect(context.rejects).toMatchObject([{ code: "input-corrupt", place: { record: 4 }, kept: true }]);
  });
});

describe("rings", () => {
  const cases: readonly { name: string; rings: readonly (readonly number[])[] }[] = [
    { name: "a shell with a hole", rings: [cw(0, 0, 10), ccw(2, 2, 2)] },
    { name: "the hole before its shell", rings: [ccw(2, 2, 2), cw(0, 0, 10)] },
    { name: "holes of two shells in any order", rings: [cw(0, 0, 10), cw(20, 0, 10), ccw(22, 2, 2), ccw(2, 2, 2)] },
    { name: "an island in a lake, with a pond", rings: [cw(0, 0, 20), ccw(2, 2, 16), cw(5, 5, 10), ccw(7, 7, 2)] },
    { name: "a shell that runs counter-clockwise", rings: [ccw(0, 0, 10)] },
    { name: "two shells that run counter-clockwise", rings: [ccw(0, 0, 10), ccw(20, 0, 10)] },
    { name: "a hole that touches its shell at a corner", rings: [cw(0, 0, 10), ccw(0, 0, 3)] },
    { name: "a lone shell and a shell with a hole elsewhere", rings: [cw(50, 50, 1), cw(0, 0, 10), ccw(1, 1, 1)] },
  ];
  it.each(cases)("rings of $name are read as by ogr2ogr", async ({ name, rings }) => {
    const stem = name.replace(/\W/g, "-");
    const path = writeShapefile(scratch, stem, {
      ...shapefile([polyShape(5, rings)]),
      dbf: dbf([{ name: "A", type: "C", width: 1 }], [" x"]),
    });
    const [ours] = await geometries(path);
    expect(normal(ours)).toEqual(normal(ogrFeatures(path)[0]!.geometry));
  });

  it("rings belong to the smallest shell around them if bounding boxes are not sufficient", async () => {
    // A U-shaped shell, whose box holds a square shell with a hole in its opening.
    const u = [0, 0, 0, 10, 2, 10, 2, 2, 8, 2, 8, 10, 10, 10, 10, 0, 0, 0];
    const path = writeShapefile(scratch, "u", shapefile([polyShape(5, [u, cw(3, 4, 4), ccw(4, 5, 1)])]));
    const [geometry] = await geometries(path);
    expect(geometry).toEqual({
      type: "MultiPolygon",
      coordinates: [[pairs(u)], [pairs(cw(3, 4, 4)), pairs(ccw(4, 5, 1))]],
    });
  });

  it("rings of the wrong direction are matched by containment, where ogr2ogr makes overlaps or holes outside", async () => {
    const context = new RecordingContext();
    const nested = polyShape(5, [ccw(2, 2, 2), ccw(0, 0, 10)]);
    const beside = polyShape(5, [cw(0, 0, 10), ccw(20, 20, 2)]);
    const path = writeShapefile(scratch, "turned", shapefile([nested, beside]));
    expect(await geometries(path, context)).toEqual([
      { type: "Polygon", coordinates: [pairs(ccw(0, 0, 10)), pairs(ccw(2, 2, 2))] },
      { type: "MultiPolygon", coordinates: [[pairs(cw(0, 0, 10))], [pairs(ccw(20, 20, 2))]] },
    ]);
    expect(context.notices).toContainEqual(expect.objectContaining({ code: "ring-direction", count: 2 }));
  });

  it("a shell and its holes are recognized if all have the wrong direction", async () => {
    const context = new RecordingContext();
    const lake = polyShape(5, [ccw(0, 0, 10), cw(2, 2, 2)]);
    const holeFirst = polyShape(5, [cw(2, 2, 2), ccw(0, 0, 10)]);
    const island = polyShape(5, [ccw(0, 0, 20), cw(2, 2, 10), ccw(4, 4, 4)]);
    const besideSound = polyShape(5, [ccw(0, 0, 10), cw(2, 2, 2), cw(20, 0, 10), ccw(22, 2, 2)]);
    const across = polyShape(5, [ccw(0, 0, 10), cw(8, 8, 10)]);
    const path = writeShapefile(scratch, "reversed", shapefile([lake, holeFirst, island, besideSound, across]));
    const holed = [pairs(ccw(0, 0, 10)), pairs(cw(2, 2, 2))];
    expect(await geometries(path, context)).toEqual([
      { type: "Polygon", coordinates: holed },
      { type: "Polygon", coordinates: holed },
      {
        type: "MultiPolygon",
        coordinates: [[pairs(ccw(0, 0, 20)), pairs(cw(2, 2, 10))], [pairs(ccw(4, 4, 4))]],
      },
      { type: "MultiPolygon", coordinates: [holed, [pairs(cw(20, 0, 10)), pairs(ccw(22, 2, 2))]] },
      { type: "MultiPolygon", coordinates: [[pairs(ccw(0, 0, 10))], [pairs(cw(8, 8, 10))]] },
    ]);
    expect(context.notices).toContainEqual(expect.objectContaining({ code: "ring-direction", count: 5 }));
  });

  it("rings that touch themselves at a vertex become a ring for each loop, of the same area", async () => {
    const context = new RecordingContext();
    // From the middle of the lower side a loop goes inwards: its two lower corners are the same point.
    const bay = polyShape(5, [[0, 0, 0, 10, 10, 10, 10, 0, 5, 0, 7, 4, 3, 4, 5, 0, 0, 0]]);
    const lobes = polyShape(5, [[0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0]]);
    const path = writeShapefile(scratch, "touching", shapefile([bay, lobes]));
    const found = (await geometries(path, context)).map((geometry) => {
      const { type, coordinates } = geometry as { type: string; coordinates: number[][][] | number[][][][] };
      const polygons = (type === "Polygon" ? [coordinates] : coordinates) as number[][][][];
      return { type, rings: polygons.map((rings) => rings.map(corners)) };
    });
    expect(found).toEqual([
      {
        type: "Polygon",
        rings: [
          [
            ["0 0", "0 10", "10 0", "10 10", "5 0"],
            ["3 4", "5 0", "7 4"],
          ],
        ],
      },
      { type: "MultiPolygon", rings: [[["0 0", "0 4", "4 0", "4 4"]], [["4 4", "4 8", "8 4", "8 8"]]] },
    ]);
    expect(context.notices).toContainEqual(expect.objectContaining({ code: "ring-split", count: 2 }));
  });

  it("rings that cross themselves at a vertex, or repeat a vertex, are unchanged", async () => {
    const context = new RecordingContext();
    const bow = [0, 0, 2, 2, 4, 4, 4, 0, 2, 2, 0, 4, 0, 0];
    const doubled = [0, 0, 0, 4, 0, 4, 4, 4, 4, 0, 2, 0, 0, 0];
    const path = writeShapefile(scratch, "crossing", shapefile([polyShape(5, [bow]), polyShape(5, [doubled])]));
    expect(await geometries(path, context)).toEqual([
      { type: "Polygon", coordinates: [pairs(bow)] },
      { type: "Polygon", coordinates: [pairs(doubled)] },
    ]);
    expect(context.notices.map(({ code }) => code)).not.toContain("ring-split");
  });

  it("rings after points that belong to no part are read, with a notice about those points", async () => {
    const context = new RecordingContext();
    const partAt = (type: number, start: number, points: readonly number[]) => {
      const shape = polyShape(type, [points]);
      shape.writeInt32LE(start, 44);
      return shape;
    };
    const twoParts = polyShape(5, [[9, 9, ...cw(0, 0, 1)], cw(5, 5, 1)]);
    twoParts.writeInt32LE(1, 44);
    const shapes = [partAt(5, 2, [9, 9, 8, 8, ...cw(0, 0, 1)]), twoParts, partAt(3, 1, [9, 9, 0, 0, 1, 1])];
    const path = writeShapefile(scratch, "outside", shapefile(shapes));
    expect(await geometries(path, context)).toEqual([
      { type: "Polygon", coordinates: [pairs(cw(0, 0, 1))] },
      { type: "MultiPolygon", coordinates: [[pairs(cw(0, 0, 1))], [pairs(cw(5, 5, 1))]] },
      { type: "LineString", coordinates: pairs([0, 0, 1, 1]) },
    ]);
    expect(context.notices).toContainEqual(expect.objectContaining({ code: "points-outside-parts", count: 3 }));
  });

  it("open rings are closed", async () => {
    const context = new RecordingContext();
    const path = writeShapefile(
      scratch,
      "open",
      shapefile([polyShape(5, [[0, 0, 0, 1, 1, 1]]), polyShape(5, [cw(5, 5, 1)])]),
    );
    const [open, closed] = await geometries(path, context);
    expect(open).toEqual({ type: "Polygon", coordinates: [pairs([0, 0, 0, 1, 1, 1, 0, 0])] });
    expect(closed).toEqual({ type: "Polygon", coordinates: [pairs(cw(5, 5, 1))] });
    expect(context.notices.map((notice) => notice.code)).toContain("ring-closed");
  });

  it("rings keep their Z when holes are placed after their shells", async () => {
    const heights = Array.from({ length: 10 }, (_, i) => 100 + i);
    const content = polyShape(15, [ccw(2, 2, 2), cw(0, 0, 10)], doubles(100, 109, ...heights));
    const [geometry] = await geometries(writeShapefile(scratch, "ring-z", shapefile([content])));
    const coordinates = (geometry as { coordinates: number[][][] }).coordinates;
    expect(coordinates.map((ring) => ring.map((position) => position[2]))).toEqual([
      [105, 106, 107, 108, 109],
      [100, 101, 102, 103, 104],
    ]);
  });
});

describe("a MultiPatch", () => {
  const patch = (types: readonly number[], parts: readonly (readonly number[])[], z: readonly number[]) => {
    const plain = polyShape(31, parts);
    const starts = 44 + 4 * parts.length;
    return Buffer.concat([plain.subarray(0, starts), ints(...types), plain.subarray(starts), doubles(0, 9, ...z)]);
  };
  it("a MultiPatch becomes a MultiPolygon of its triangles and rings", async () => {
    const context = new RecordingContext();
    const strip = [0, 0, 1, 0, 0, 1, 1, 1];
    const fan = [5, 5, 6, 5, 6, 6];
    const content = patch(
      [0, 1, 2, 3],
      [strip, fan, cw(0, 0, 9), ccw(1, 1, 1)],
      [0, 1, 2, 3, 4, 5, 6, ...new Array(10).fill(9)],
    );
    const path = writeShapefile(scratch, "patch", {
      ...shapefile([content]),
      dbf: dbf([{ name: "A", type: "C", width: 1 }], [" x"]),
    });
    const [geometry] = await geometries(path, context);
    const { coordinates } = geometry as { coordinates: number[][][][] };
    expect(geometry?.type).toBe("MultiPolygon");
    expect(coordinates.slice(0, 3)).toEqual([
      [[[0, 0, 0], [1, 0, 1], [0, 1, 2], [0, 0, 0]]], // biome-ignore format: positions
      [[[1, 0, 1], [0, 1, 2], [1, 1, 3], [1, 0, 1]]], // biome-ignore format: positions
      [[[5, 5, 4], [6, 5, 5], [6, 6, 6], [5, 5, 4]]], // biome-ignore format: positions
    ]);
    expect(coordinates[3]!.map((ring) => ring.length)).toEqual([5, 5]);
    expect(context.notices.map((notice) => notice.code)).toEqual(["multipatch"]);
  });
});

describe("headers", () => {
  it("headers provide name, types, extent and count without reading shapes", async () => {
    const files = shapefile([point(1, 2), point(3, 4)], { box: [1, 2, 3, 4] });
    await using dataset = await openAt(writeShapefile(scratch, "facts", files));
    const { name, geometryTypes, extent, featureCount, fields, crs } = dataset.layers[0]!;
    expect({ name, geometryTypes, extent, featureCount, fields, crs }).toEqual({
      name: "facts",
      geometryTypes: ["Point"],
      extent: [1, 2, 3, 4],
      featureCount: 2,
      fields: [],
      crs: null,
    });
  });

  it("a file without records has no extent", async () => {
    await using dataset = await openAt(writeShapefile(scratch, "none", { shp: shpHeader(100, 5, [0, 0, 0, 0]) }));
    expect(dataset.layers[0]!.extent).toBeNull();
    expect(dataset.layers[0]!.geometryTypes).toEqual(["Polygon", "MultiPolygon"]);
    expect(await readFeatures(scratch.path("none.shp"))).toEqual([]);
  });
});

/** Rings from their least position on, in one direction, sorted. */
function normal(geometry: unknown): unknown {
  const { type, coordinates } = geometry as { type: string; coordinates: number[][][] | number[][][][] };
  const polygons = (type === "Polygon" ? [coordinates] : coordinates) as number[][][][];
  const ring = (positions: readonly number[][]) => positions.map(String).slice(1).sort().join(" ");
  return polygons.map(([shell, ...holes]) => [ring(shell!), ...holes.map(ring).sort()].join("|")).sort();
}
