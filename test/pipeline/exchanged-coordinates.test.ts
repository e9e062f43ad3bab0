/** Projected coordinates whose x and y are exchanged, and coordinates outside of the area that both systems have. */
import { existsSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { inspect } from "../../src/pipeline/inspect.js";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { convertFile, createTestHost } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

let files = 0;
function table(...positions: readonly (readonly [number | string, number | string])[]): string {
  const path = scratch.path(`in${files++}.csv`);
  writeFileSync(path, `id,easting,northing\n${positions.map(([x, y], n) => `${n},${x},${y}\n`).join("")}`);
  return path;
}

// A northing of 5,400,000 m is at 48.7°N, and an easting of 500,000 m is the central meridian of 9°E.
const swapped = () => table([5_400_000, 500_000], [5_400_100, 500_010]);
const utm = { sourceCrs: "EPSG:25832" };
const noted = async (input: string, request: Partial<ConvertRequest>) => {
  const { notices } = await convertFile(input, scratch.path(`out${files++}.csv`), request);
  return notices.filter(({ code }) => code === "outside-crs-area" || code === "axis-order-suspected");
};

describe("x and y of all features seem to be exchanged", () => {
  test("which --strict refuses", async () => {
    const output = scratch.path("strict.geojson");
    for (const targetCrs of ["EPSG:25832", "EPSG:25833", undefined]) {
      const run = convertFile(swapped(), output, { ...utm, ...(targetCrs && { targetCrs }), to: "csv", strict: true });
      await expect(run).rejects.toMatchObject({ code: "axis-order-suspected", kind: "input" });
      await expect(run).rejects.toThrow("x and y seem to be swapped: --swap-xy swaps them");
    }
    expect(existsSync(output)).toBe(false);
  });

  test("which is a note otherwise, and none if single features are in the area", async () => {
    expect(await noted(swapped(), { ...utm, targetCrs: "EPSG:25833" })).toMatchObject([
      { code: "axis-order-suspected", count: 2 },
    ]);
    const mixed = table([5_400_000, 500_000], [500_000, 5_400_000]);
    expect(await noted(mixed, { ...utm, targetCrs: "EPSG:25833", strict: true })).toHaveLength(1);
    expect(await noted(swapped(), { ...utm, swapXy: true, strict: true })).toEqual([]);
  });

  test("which check and info state for the layer", async () => {
    const look = async (input: string) =>
      (await inspect({ inputs: [input], ...utm }, createTestHost(), true)).layers[0]!;
    expect((await look(swapped())).suspectedOrder).toMatch(/^2 of 2 features: .*x and y seem to be swapped/);
    expect((await look(table([5_400_000, 500_000], [500_000, 5_400_000]))).suspectedOrder).toBeNull();
  });
});

describe("positions outside of the area, with the same system as source and target", () => {
  const same = { ...utm, targetCrs: "EPSG:25832" };

  test("are counted if they cannot be transformed, with advice for zone numbers", async () => {
    const notices = await noted(table(["32433287.62", "5800000"], ["433287.62", "5800000"], ["", ""]), same);
    expect(notices).toMatchObject([{ code: "outside-crs-area", count: 1 }]);
    expect(notices[0]!.example).toMatch(/^32433287\.62, 5800000 .*area of use of EPSG:25832.*EPSG:4647/);
  });

  test("are counted if they are elsewhere", async () => {
    expect(await noted(table([9_500_000, 550_000], [500_000, 5_400_000]), same)).toMatchObject([
      { code: "outside-crs-area", count: 1 },
    ]);
  });
});
