import { describe, expect, test } from "vitest";
import type { Geometry } from "../../../src/model/geometry.js";
import { suspectSwap } from "../../../src/stages/suspect-swap.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const point = (...coordinates: number[]): Geometry => ({ type: "Point", coordinates });
const check = (mode: string, geometries: readonly (Geometry | null)[]) =>
  applyStage("check-coordinates", { mode }, batchOf(geometries));

describe("check-coordinates", () => {
  test("valid batches are returned unchanged", async () => {
    const batch = batchOf([point(180, 90), point(-180, -90), point(0, 0), null, point(1, 2, 3)]);
    expect((await applyStage("check-coordinates", { mode: "wgs84" }, batch)).batch).toBe(batch);
  });

  test("positions out of range are rejected, with their record and a hint", async () => {
    const { batch, heard } = await check("wgs84", [
      point(1, 1),
      point(361.5, 10),
      point(12, 151),
      point(448262, 5411932),
      { type: "GeometryCollection", geometries: [point(0, 0), point(0, -90.1)] },
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [181, 0],
        ],
      },
    ]);
    expect([...batch.features()].map((feature) => feature.properties.n)).toEqual([1]);
    expect(heard.rejects.map((reject) => [reject.code, reject.place.record])).toEqual([
      ["out-of-range", 2],
      ["out-of-range", 3],
      ["out-of-range", 4],
      ["out-of-range", 5],
      ["out-of-range", 6],
    ]);
    expect(heard.rejects[0]!.reason).toContain("longitude 361.5 is beyond ±180°");
    expect(heard.rejects[4]!.reason).toContain("--out antimeridian=cut, which cuts it there");
    expect(heard.rejects[1]!.reason).toContain("--swap-xy");
    expect(heard.rejects[0]!.feature?.geometry).toEqual(point(361.5, 10));
  });

  test("a latitude just beyond a pole is not suggested to be a longitude", async () => {
    // From ne_10m_time_zones of Natural Earth, which ends 22 m beyond the pole.
    const { heard } = await check("wgs84", [point(15, 90.0002058)]);
    expect(heard.rejects[0]!.reason).toBe("latitude 90.0002058 is beyond ±90°");
  });

  test("features with all longitudes beyond the antimeridian are shifted and counted", async () => {
    const ring = (...longitudes: number[]): Geometry => ({
      type: "Polygon",
      coordinates: [longitudes.map((longitude, k) => [longitude, k === 1 ? 1 : 0])],
    });
    const given = batchOf([
      point(200, -17),
      point(-200, 5),
      ring(180, 190, 185, 180),
      { type: "GeometryCollection", geometries: [point(360, 0), ring(350, 355, 352, 350)] },
      ring(170, 190, 185, 170),
      point(200, 95),
    ]);
    const { batch, heard } = await applyStage("check-coordinates", { mode: "wgs84" }, given);
    expect([...batch.features()].map((feature) => feature.geometry)).toEqual([
      point(-160, -17),
      point(160, 5),
      ring(-180, -170, -175, -180),
      { type: "GeometryCollection", geometries: [point(0, 0), ring(-10, -5, -8, -10)] },
    ]);
    expect(heard.notices).toMatchObject([{ code: "longitude-turned", count: 4 }]);
    // Turned one by one its positions would lead around the earth.
    expect(heard.rejects[0]!.reason).toMatch(/longitude 190 .*both sides of the antimeridian: convert it to GeoJSON/);
    expect(heard.rejects).toHaveLength(2);
    expect(given.geometry.xy[0]).toBe(200);
  });

  test("longitudes that continue beyond the antimeridian are kept if the target supports them", async () => {
    const line = (...longitudes: number[]): Geometry => ({
      type: "LineString",
      coordinates: longitudes.map((longitude, k) => [longitude, k]),
    });
    const geometries: Geometry[] = [
      line(170, 190),
      line(-179, -180.0033),
      {
        type: "MultiPoint",
        coordinates: [
          [-180.00000000000006, 1],
          [181, 1],
        ],
      },
      line(350, 361),
      {
        type: "LineString",
        coordinates: [
          [170, 0],
          [190, 91],
        ],
      },
      {
        type: "LineString",
        coordinates: [
          [170, 0, 0],
          [190, 1, Number.POSITIVE_INFINITY],
        ],
      },
    ];
    const { batch, heard } = await applyStage(
      "check-coordinates",
      { mode: "wgs84", continuousLongitudes: true },
      batchOf(geometries),
    );
    expect([...batch.features()].map((feature) => feature.geometry)).toEqual(geometries.slice(0, 3));
    expect(heard.notices).toMatchObject([{ code: "longitude-continued", count: 3 }]);
    expect(heard.rejects.map((reject) => reject.place.record)).toEqual([4, 5, 6]);
  });

  test("positions 1e-6 beyond the range are snapped and counted, without changing the input batch", async () => {
    const given = batchOf([
      point(180.0000000009, 0),
      point(-180.000000001, 90.000000001),
      { type: "GeometryCollection", geometries: [point(-180.0000000005, 5)] },
      point(180.0000003, 0),
      {
        type: "LineString",
        coordinates: [
          [179, 0],
          [180.000002, 0],
        ],
      },
    ]);
    const { batch, heard } = await applyStage("check-coordinates", { mode: "wgs84" }, given);
    expect([...batch.features()].map((feature) => feature.geometry)).toEqual([
      point(180, 0),
      point(-180, 90),
      { type: "GeometryCollection", geometries: [point(-180, 5)] },
      point(180, 0),
    ]);
    expect(heard.notices).toMatchObject([{ code: "snapped", count: 4 }]);
    expect(heard.rejects).toHaveLength(1);
    expect(given.geometry.xy[0]).toBe(180.0000000009);
  });

  test.each(["wgs84", "finite"])("non-finite positions are rejected (%s)", async (mode) => {
    const { batch, heard } = await check(mode, [
      point(Number.NaN, 1),
      point(1, Number.POSITIVE_INFINITY),
      point(1, 1, Number.NEGATIVE_INFINITY),
      point(1, 1),
    ]);
    expect(batch.length).toBe(1);
    expect(heard.rejects.map((reject) => reject.code)).toEqual(["non-finite", "non-finite", "non-finite"]);
  });

  test("the mode finite checks no range", async () => {
    const batch = batchOf([point(448262, 5411932)]);
    expect((await applyStage("check-coordinates", { mode: "finite" }, batch)).batch).toBe(batch);
  });
});

describe("suspectSwap", () => {
  test("suspectSwap is certain if swapping makes a latitude beyond 90 valid", () => {
    expect(suspectSwap({ extent: [-38, 140, -34, 152] })).toBe("sure");
    expect(suspectSwap({ extent: [140, -38, 152, -34] })).toBe(null);
    expect(suspectSwap({ extent: [4e5, 5e6, 5e5, 6e6] })).toBe(null);
    expect(suspectSwap({ extent: [100, 95, 120, 99] })).toBe(null);
    expect(suspectSwap({ extent: null })).toBe(null);
    // A latitude that rounding put beyond the pole.
    expect(suspectSwap({ extent: [8, 45, 12, 90.0001] })).toBe(null);
  });

  test("suspectSwap suspects a swap if only the swapped extent fits the CRS", () => {
    // EPSG:4171 (RGF93), area of use from EPSG: -9.86 41.15 10.38 51.56.
    const areaOfUse = [-9.86, 41.15, 10.38, 51.56] as const;
    expect(suspectSwap({ extent: [43, 1, 50, 7] }, { areaOfUse })).toBe("suspected");
    expect(suspectSwap({ extent: [1, 43, 7, 50] }, { areaOfUse })).toBe(null);
    // EPSG:4167 (NZGD2000), which spans the antimeridian.
    expect(suspectSwap({ extent: [-47, 167, -34, 178] }, { areaOfUse: [160.6, -55.95, -171.2, -25.88] })).toBe("sure");
    expect(suspectSwap({ extent: [20, 30, 25, 35] }, { areaOfUse: [-180, -90, 180, 90] })).toBe(null);
  });

  test("suspectSwap suspects a swap if only the swapped extent overlaps that of the target", () => {
    expect(suspectSwap({ extent: [43, 1, 50, 7] }, { existingExtent: [0, 42, 5, 48] })).toBe("suspected");
    expect(suspectSwap({ extent: [43, 1, 50, 7] }, { existingExtent: [40, 0, 60, 50] })).toBe(null);
    expect(suspectSwap({ extent: [43, 1, 50, 7] }, { existingExtent: [-100, -40, -90, -30] })).toBe(null);
  });
});
