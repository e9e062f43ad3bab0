import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Geometry } from "../../../src/model/geometry.js";
import { type MapFeatureInput, refusal, SourceFixture } from "../source-fixture.js";

const side = new SourceFixture();
afterAll(() => side[Symbol.asyncDispose]());

const point = (...coordinates: number[]): Geometry => ({ type: "Point", coordinates });
const places = (name: string, positions: readonly (readonly number[])[], crs?: string) =>
  side.file(
    name,
    JSON.stringify({
      type: "FeatureCollection",
      ...(crs ? { crs: { type: "name", properties: { name: crs } } } : {}),
      features: positions.map((position, n) => ({
        type: "Feature",
        properties: { ref: `P${n}` },
        geometry: point(...position),
      })),
    }),
  );
const onMap = (positions: readonly (readonly number[])[]): MapFeatureInput[] =>
  positions.map((position, n) => ({ geometry: point(...position), properties: { ref: `M${n}` } }));

/** Latitude and longitude of Sydney, Melbourne and Brisbane. */
const australia = [
  [-33.87, 151.21],
  [-37.81, 144.96],
  [-27.47, 153.03],
];
/** Latitude and longitude of Paris, Lyon and Nantes. */
const france = [
  [48.86, 2.35],
  [45.76, 4.84],
  [47.22, -1.55],
];
const swap = (positions: readonly (readonly number[])[]) => positions.map(([x, y]) => [y!, x!]);

describe("latitude before longitude", () => {
  test("swapped coordinates are reported if all features are rejected for them, and no rejects are written", async () => {
    const rejects = side.path("australia.rejects.geojsonl");
    const path = places("australia.geojson", australia);
    const reading = await side.read(path, { source: { rejects, maxRejects: "1" } });
    expect(reading.source.rejects.count).toBe(3);
    const error = await refusal(() => reading.order());
    expect([error.code, error.kind]).toEqual(["axis-order-swapped", "input"]);
    expect(error.message).toContain(`${path}: latitude precedes longitude`);
    expect(error.message).toContain("x from -37.81 to -27.47, y from 144.96 to 153.03");
    expect(error.message).toContain("--swap-xy swaps them");
    expect(existsSync(rejects)).toBe(false);
    const repaired = await side.read(path, { source: { rejects, swapXy: true } });
    expect(await repaired.order()).toEqual([]);
    expect(repaired.source.extent).toEqual([144.96, -37.81, 153.03, -27.47]);
  });

  test("swapped coordinates are reported if only some features are rejected: Minneapolis, but not Chicago and Boston", async () => {
    const path = places("america.geojson", [
      [41.88, -87.63],
      [42.36, -71.06],
      [44.98, -93.27],
    ]);
    const error = await refusal(async () => (await side.read(path)).order());
    expect(error.code).toBe("axis-order-swapped");
    expect(error.message).toContain("If instead only that one feature is wrong, correct it in the source");
  });

  test("other rejects do not count as swapped coordinates", async () => {
    const [first, ...rest] = swap(australia);
    const path = places("one-wrong.geojson", [first!, ...rest, [12, 95]]);
    // Swapped, Sydney's latitude would be 151.
    expect(await (await side.read(path)).order()).toEqual([]);
    const far = places("far.geojson", [...australia, [200, 10]]);
    expect(await (await side.read(far)).order()).toEqual([]);
  });

  test("one wrong feature does not count if the others overlap the map", async () => {
    const path = places("typo.geojson", [...swap(france), [2, 95]]);
    const reading = await (await side.read(path)).onMap(onMap(swap(france)));
    expect(await reading.order()).toEqual([]);
    expect((await refusal(async () => (await side.read(path)).order())).code).toBe("axis-order-swapped");
  });

  test("swapped coordinates are suspected if the map's features suggest it, and rejected under --strict", async () => {
    const path = places("france.geojson", france);
    const reading = await (await side.read(path)).onMap(onMap(swap(france)));
    const [notice, ...more] = await reading.order();
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ code: "axis-order-suspected", count: 1 });
    expect(notice!.example).toContain("the coordinates are near the features of the map only after swapping");
    expect(notice!.example).toContain("--swap-xy");
    const strict = await (await side.read(path, { strict: true })).onMap(onMap(swap(france)));
    const error = await refusal(() => strict.order());
    expect([error.code, error.kind]).toEqual(["axis-order-suspected", "input"]);
    expect(error.message).toContain("--swap-xy swaps them");
    expect(await (await (await side.read(path)).onMap([])).order()).toEqual([]);
  });

  test("swapped coordinates are suspected outside of the area of use", async () => {
    // The area of use of RGF93 (EPSG:4171) is -9.86 41.15 to 10.38 51.56.
    const path = places("rgf93.geojson", france, "EPSG:4171");
    const [notice] = await (await side.read(path)).order();
    expect(notice!.example).toContain(
      "the coordinates are in the area of use of their reference system only after swapping",
    );
    expect(await (await side.read(places("rgf93-plain.geojson", swap(france), "EPSG:4171"))).order()).toEqual([]);
  });

  test("the error advises to remove --swap-xy if it caused the swap", async () => {
    const path = places("plain.geojson", swap(australia));
    const refused = await refusal(async () => (await side.read(path, { source: { swapXy: true } })).order());
    expect(refused.message).toContain("omit --swap-xy");
  });
});

describe("rejected positions", () => {
  test("rejects are limited by --max-rejects", async () => {
    const path = places("rejects.geojson", [...swap(australia), [400, 10]]);
    const stopped = await refusal(async () => (await side.read(path, { source: { maxRejects: "24%" } })).order());
    expect([stopped.code, stopped.kind]).toEqual(["guard-rejects", "guard"]);
    expect(await (await side.read(path, { source: { maxRejects: "25%" } })).order()).toEqual([]);
  });

  test("positions up to 1e-6 degrees out of range are moved to the edge and counted", async () => {
    const { source } = await side.read(places("edge.geojson", [[180.0000000005, 90.0000000005]]));
    expect(source).toMatchObject({ features: 1, extent: [180, 90, 180, 90], complete: true });
    expect(source.notices).toMatchObject([{ code: "snapped", count: 1 }]);
  });
});
