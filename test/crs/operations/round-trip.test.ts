import { describe, expect, it } from "vitest";
import { crsContext, findOperation } from "../../../src/crs/index.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";

const { parse } = crsContext;

async function transformPositions(from: string, to: string, positions: readonly number[]): Promise<Float64Array> {
  const operation = await findOperation(await parse(from), await parse(to), { accuracy: 999 });
  const xy = Float64Array.from(positions);
  (await buildTransform(operation))(xy, null);
  return xy;
}

/** Metres between two positions in degrees. */
const distanceMetres = (a: readonly number[], b: readonly number[]): number =>
  111_320 * Math.hypot((a[0]! - b[0]!) * Math.cos((b[1]! * Math.PI) / 180), a[1]! - b[1]!);

// On the one datum these lie on one side of the border between the areas of two operations, on WGS 84 on the other.
describe("within a datum's shift from the border of an area a position goes back as it came", () => {
  const backByProj: Readonly<Record<string, { map: readonly number[]; wgs84: readonly number[] }>> = {
    "EPSG:3910": { map: [8424240.764548793, 4949834.832679882], wgs84: [23.03838001813573, 44.689229999363896] },
    "EPSG:8679": { map: [8424240.764548793, 4949834.832679882], wgs84: [23.03838001813573, 44.689229999363896] },
    "EPSG:21818": { map: [792247.5779044065, 1040346.6308315528], wgs84: [-72.33562502954999, 9.39851850713914] },
  };
  for (const [code, { map, wgs84 }] of Object.entries(backByProj)) {
    it(`near the border of an area a position returns unchanged: ${code}, as in PROJ 9.5.1`, async () => {
      expect(distanceMetres([...(await transformPositions(code, "EPSG:4326", map))], wgs84)).toBeLessThan(1e-3);
    });
  }

  it("near the border of an area a position returns unchanged: EPSG:3564, where PROJ returns by another operation", async () => {
    const corner = [-159.84814, 21.81144];
    const there = await transformPositions("EPSG:4326", "EPSG:3564", corner);
    expect(there[0]).toBeCloseTo(380957.0392201084, 3);
    expect(there[1]).toBeCloseTo(-6686.089101602085, 3);
    expect(distanceMetres([...(await transformPositions("EPSG:3564", "EPSG:4326", [...there]))], corner)).toBeLessThan(
      5e-3,
    );
  });

  it("a position returns unchanged from outside of the areas of two equally accurate operations into one: EPSG:3302", async () => {
    const map = [694163.1626531074, 8933681.660760075];
    expect(
      distanceMetres(
        [...(await transformPositions("EPSG:3302", "EPSG:4326", map))],
        [-139.2285600017, -9.6413199999198],
      ),
    ).toBeLessThan(1e-3);
    expect((await transformPositions("EPSG:3302", "EPSG:4326", [694163, 8500000]))[0]).toBeNaN();
  });

  it("a position returns unchanged across the borders between the operations of MGI 1901 and those of Bogota 1975", async () => {
    for (const { code, west, north } of [
      { code: "EPSG:3910", west: 22.9013, north: 44.6013 },
      { code: "EPSG:21818", west: -74.5013, north: 10.0013 },
    ]) {
      const start = Array.from({ length: 2000 }, (_, n) => [
        west + (n % 50) * 0.004,
        north - Math.floor(n / 50) * 0.03,
      ]);
      const there = await transformPositions("EPSG:4326", code, start.flat());
      const back = await transformPositions(code, "EPSG:4326", [...there]);
      const strays = start.filter((position, n) => !(distanceMetres([back[2 * n]!, back[2 * n + 1]!], position) < 0.1));
      // A few metres wide is the strip in which two operations lead to one place.
      expect(strays.length, code).toBeLessThanOrEqual(1);
    }
  });
});
