import { describe, expect, it } from "vitest";
import { crsContext, findOperation } from "../../../src/crs/index.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import type { Extent } from "../../../src/model/geometry.js";
import { boxBeforeReprojection } from "../../../src/pipeline/plan/box-before-reprojection.js";
import { createRandom } from "../../support/random.js";

const operationOf = async (from: string, to: string) =>
  findOperation(await crsContext.parse(from), await crsContext.parse(to), { accuracy: 1000 });

describe("the box before a reprojection", () => {
  it.each<[string, string, Extent, Extent]>([
    ["EPSG:4326", "EPSG:3857", [-2e6, -3e6, 2e6, 9e6], [-60, -80, 60, 84]],
    ["EPSG:4326", "EPSG:25832", [3e5, 5.2e6, 8e5, 6e6], [-5, 35, 20, 70]],
    ["EPSG:25832", "EPSG:4326", [8, 46, 12, 54], [0, 4e6, 1.2e6, 7e6]],
    ["EPSG:2154", "EPSG:4326", [0, 43, 5, 49], [-5e5, 5.5e6, 2e6, 8e6]],
    ["EPSG:3035", "EPSG:4326", [-10, 40, 30, 65], [2e6, 1e6, 8e6, 6e6]],
    ["EPSG:4326", "EPSG:3035", [3e6, 2e6, 5e6, 4e6], [-20, 30, 50, 70]],
  ])("has all points that %s to %s moves into it", async (from, to, box, around) => {
    const operation = await operationOf(from, to);
    const found = (await boxBeforeReprojection(box, operation))!;
    const random = createRandom(2);
    const count = 20_000;
    const xy = Float64Array.from(
      { length: 2 * count },
      (_, k) => around[k % 2]! + random() * (around[(k % 2) + 2]! - around[k % 2]!),
    );
    const moved = xy.slice();
    (await buildTransform(operation))(moved, null);
    let [inside, covered, within] = [0, 0, 0];
    for (let k = 0; k < 2 * count; k += 2) {
      const isFound = xy[k]! >= found[0] && xy[k]! <= found[2] && xy[k + 1]! >= found[1] && xy[k + 1]! <= found[3];
      if (isFound) within++;
      if (moved[k]! < box[0] || moved[k]! > box[2] || moved[k + 1]! < box[1] || moved[k + 1]! > box[3]) continue;
      if (Number.isNaN(moved[k]!)) continue;
      inside++;
      if (isFound) covered++;
    }
    expect(inside).toBeGreaterThan(100);
    expect(covered).toBe(inside);
    // It is not all of the world either.
    expect(within).toBeLessThan(count);
  });

  it("is unknown at poles and across the antimeridian", async () => {
    const polar = await operationOf("EPSG:4326", "EPSG:3413");
    expect(await boxBeforeReprojection([-1e5, -1e5, 1e5, 1e5], polar)).toBeNull();
    const pacific = await operationOf("EPSG:4326", "EPSG:3832");
    expect(await boxBeforeReprojection([2e6, 0, 6e6, 1e6], pacific)).toBeNull();
  });
});
