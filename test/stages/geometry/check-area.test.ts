import { describe, expect, test } from "vitest";
import { crsContext, describeCrs } from "../../../src/crs/index.js";
import type { Geometry } from "../../../src/model/geometry.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const point = (x: number, y: number): Geometry => ({ type: "Point", coordinates: [x, y] });

async function outside(
  code: string,
  geometries: readonly (Geometry | null)[],
  more: Readonly<Record<string, unknown>> = {},
) {
  const crs = await crsContext.parse(code);
  const { area, areaName } = await describeCrs(crs);
  const given = batchOf(geometries);
  const { batch, heard } = await applyStage("check-area", { crs, area, areaName, ...more }, given);
  // It only looks.
  expect(batch).toBe(given);
  return heard.notices;
}

describe("features far outside of the area of use", () => {
  test("features far outside of the area of use are counted, with an example and the area", async () => {
    // EPSG: 6°E to 12°E. 500000 is 9°E; an easting of 9,500,000 is in the Indian Ocean.
    const found = await outside("EPSG:25832", [point(500000, 5500000), point(9500000, 550000), null, point(0, 0)]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ code: "outside-crs-area", count: 2 });
    expect(found[0]!.example).toMatch(
      /^9500000, 550000 is at longitude 71\.\d+°, latitude 2\.\d+°, far outside of the area of use of EPSG:25832 \(Europe - 6°E to 12°E and ETRS89 by country: longitude 6° to 12\.01°, latitude 36\.53° to 84\.01°\)$/,
    );
  });

  test("features within four degrees of the area of use are not counted, since whole countries use one system", async () => {
    // Görlitz, at 15.1°E, in zone 32; Cologne on the German datum, and Brest.
    expect(await outside("EPSG:25832", [point(929_700, 5_680_000)])).toEqual([]);
    expect(await outside("EPSG:4314", [point(15, 51), point(7, 51)])).toEqual([]);
    expect(await outside("EPSG:4314", [point(-4.5, 48.4)])).toMatchObject([{ count: 1 }]);
  });

  test("features far outside are found in collections, and counted once for any number of positions", async () => {
    const collection: Geometry = {
      type: "GeometryCollection",
      geometries: [
        point(10, 50),
        {
          type: "LineString",
          coordinates: [
            [-80, 40],
            [-81, 41],
            [9, 50],
          ],
        },
      ],
    };
    expect(await outside("EPSG:4314", [collection, point(10, 50)])).toMatchObject([{ count: 1 }]);
  });

  test("features far outside of an area across the antimeridian are those on neither side of it", async () => {
    // NZGD2000: 160.6°E to 171.2°W.
    expect(await outside("EPSG:4167", [point(174, -41), point(-176.5, -44)])).toEqual([]);
    expect(await outside("EPSG:4167", [point(0, -41)])).toMatchObject([{ count: 1 }]);
  });

  test("are said to have x and y swapped only if all of them then lie in the area", async () => {
    // A northing of 5,400,000 m is at 48.7°N, and an easting of 500,000 m is the central meridian of 9°E.
    const [swapped] = await outside("EPSG:25832", [point(5_400_000, 500_000), point(5_400_100, 500_010)]);
    expect(swapped!.example).toContain("; x and y seem to be swapped: --swap-xy swaps them");
    const [again] = await outside("EPSG:25832", [point(5_400_000, 500_000)], { swapped: true });
    expect(again!.example).toContain("omit --swap-xy");
    const [mixed] = await outside("EPSG:25832", [point(5_400_000, 500_000), point(9_500_000, 550_000)]);
    expect(mixed!.example).not.toContain("swapped");
  });

  test("features in a geocentric system are not checked", async () => {
    expect(await outside("EPSG:4978", [point(1, 2)])).toEqual([]);
  });
});

describe("features far outside of the area of use of the target", () => {
  async function outsideTarget(code: string, target: string, geometries: readonly Geometry[]) {
    const [crs, to] = await Promise.all([crsContext.parse(code), crsContext.parse(target)]);
    const { area, areaName } = await describeCrs(to);
    const { heard } = await applyStage("check-area", { crs, target: to, area, areaName }, batchOf(geometries));
    return heard.notices;
  }

  test("features far outside of the target's area are counted by their source coordinates, with a suggested system", async () => {
    const found = await outsideTarget("EPSG:4326", "EPSG:25832", [point(-47.9, -15.8), point(-60, -3), point(10, 50)]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ code: "outside-target-area", count: 2 });
    expect(found[0]!.example).toContain("-47.9, -15.8 is at longitude -47.9°, latitude -15.8°, far outside");
    expect(found[0]!.example).toContain("area of use of EPSG:25832 (");
    // Brasília is in zone 23 of UTM, south of the equator.
    const [, advised] = /--target-crs (EPSG:\d+) /.exec(found[0]!.example)!;
    expect(advised).toBe("EPSG:32723");
    expect(await outsideTarget("EPSG:4326", advised!, [point(-47.9, -15.8)])).toEqual([]);
  });

  test("features far outside of the target's area are found from a projected source, with a system at the poles and the antimeridian", async () => {
    expect(await outsideTarget("EPSG:32723", "EPSG:25832", [point(188_000, 8_250_000)])).toMatchObject([{ count: 1 }]);
    const [pole] = await outsideTarget("EPSG:4326", "EPSG:25832", [point(0, -89)]);
    expect(pole!.example).not.toContain("UTM zone");
    expect(pole!.example).toContain("--target-crs EPSG:4326");
    const [fiji] = await outsideTarget("EPSG:4326", "EPSG:25832", [point(180, -17)]);
    expect(fiji!.example).toContain("EPSG:32701");
  });
});

test("a system is described by its area, axes and unit", async () => {
  expect(await describeCrs(await crsContext.parse("EPSG:2263"))).toMatchObject({
    areaName: "USA - New York - SPCS - Long Island",
    axes: ["easting", "northing"],
    unit: "US survey foot",
    datum: "North American Datum 1983",
  });
  expect(await describeCrs(await crsContext.parse("+proj=utm +zone=32 +datum=WGS84 +units=km"))).toMatchObject({
    unit: "kilometre",
  });
});
