import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { assignRings } from "../../../plugins/shapefile/rings.js";
import { type Feature, packFeatures } from "../../../src/model/index.js";
import { Scratch } from "../../support/recording.js";
import { ogrFeatures, readFeatures, writeBatches } from "./support.js";

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** A ring of `corners` corners on a circle, counter-clockwise. */
function circle(x: number, y: number, radius: number, corners: number): number[][] {
  const ring = Array.from({ length: corners }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)].map((each) => Math.round(each * 1e6) / 1e6 + 0);
  });
  return [...ring, ring[0]!];
}

/** Islands side by side, each with holes side by side, some of them with an island in the hole. */
const multipolygon = fc
  .array(
    fc.record({
      corners: fc.integer({ min: 8, max: 40 }),
      holes: fc.integer({ min: 0, max: 4 }),
      nested: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((islands) =>
    islands.flatMap(({ corners, holes, nested }, i) => {
      const x = 100 * i;
      const shell = circle(x, 0, 45, corners);
      const rings = Array.from({ length: holes }, (_, h) => circle(x - 24 + 16 * h, 0, 6, 12).reverse());
      const inner = nested && holes > 0 ? [[circle(x - 24, 0, 3, 9)]] : [];
      return [[shell, ...rings], ...inner];
    }),
  );

const normal = (coordinates: readonly (readonly number[][][])[]) =>
  coordinates
    .map(([shell, ...holes]) => {
      const ring = (positions: readonly number[][]) =>
        positions
          .slice(1)
          .map((position) => position.map((number) => number.toFixed(9)).join(" "))
          .sort()
          .join(",");
      return [ring(shell!), ...holes.map(ring).sort()].join("|");
    })
    .sort();

it("keep their shells and holes through a file, for us as for ogr2ogr", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(multipolygon, { minLength: 1, maxLength: 6 }), async (all) => {
      const features = all.map(
        (coordinates): Feature => ({
          type: "Feature",
          geometry: { type: "MultiPolygon", coordinates },
          properties: {},
        }),
      );
      const { path } = await writeBatches(scratch, "rings", [packFeatures(features, 1, [])], []);
      for (const read of [await readFeatures(path), ogrFeatures(path)]) {
        const found = read.map(({ geometry }) => {
          if (geometry?.type === "Polygon") return normal([geometry.coordinates]);
          return geometry?.type === "MultiPolygon" ? normal(geometry.coordinates) : null;
        });
        expect(found).toEqual(all.map(normal));
      }
    }),
    { numRuns: 15, seed: 3 },
  );
});

it("of any order find their owners", () => {
  fc.assert(
    fc.property(multipolygon, fc.infiniteStream(fc.nat()), (coordinates, order) => {
      const rings = coordinates.flatMap((polygon, p) => polygon.map((ring, r) => ({ ring, owner: p, shell: r === 0 })));
      const sorted = rings
        .map((each) => ({ each, key: order.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ each }) => each);
      const starts: number[] = [];
      const ends: number[] = [];
      const xy: number[] = [];
      for (const { ring } of sorted) {
        starts.push(xy.length / 2);
        // Turned round: shells clockwise, as the format has them.
        for (const position of [...ring].reverse()) xy.push(...position);
        ends.push(xy.length / 2);
      }
      const { owners, turned } = assignRings({ xy: Float64Array.from(xy), starts, ends });
      expect(turned).toBe(0);
      expect([...owners].map((owner) => sorted[owner]!.owner)).toEqual(sorted.map(({ owner }) => owner));
    }),
    { numRuns: 100, seed: 5 },
  );
});
