import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { assignRings, type Rings } from "../../../../plugins/shared/rings/rings.js";
import { type Feature, packFeatures } from "../../../../src/model/index.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { ogrFeatures, readFeatures, writeBatches } from "../support.js";
import { assignByBruteForce } from "./rings-oracle.js";

const scratch = new TemporaryFolder();
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

it("rings keep their shells and holes through a file, in geoferry and ogr2ogr", async () => {
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

it("rings of any order are assigned to their shells", () => {
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

function packed(rings: readonly (readonly (readonly number[])[])[]): Rings {
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const ring of rings) {
    starts.push(at);
    at += ring.length;
    ends.push(at);
  }
  return { xy: Float64Array.from(rings.flat(2)), starts, ends };
}

const rectangle = (x: number, y: number, width: number, height: number): number[][] => [
  [x, y],
  [x, y + height],
  [x + width, y + height],
  [x + width, y],
  [x, y],
];

/** Rings on a small grid, so that many touch, nest, cross, or are the same; star-shaped ones with many positions too. */
const uglyRing = fc
  .record({
    kind: fc.constantFrom("rectangle", "rectangle", "circle", "wedge", "long"),
    x: fc.integer({ min: 0, max: 30 }),
    y: fc.integer({ min: 0, max: 30 }),
    width: fc.integer({ min: 1, max: 12 }),
    height: fc.integer({ min: 1, max: 12 }),
    turned: fc.boolean(),
  })
  .map(({ kind, x, y, width, height, turned }) => {
    const shapes = {
      rectangle: () => rectangle(x, y, width, height),
      circle: () => circle(x, y, width / 2, 8 + height).reverse(),
      wedge: () => [
        [x, y],
        [x, y + height],
        [x + 1, y + 1],
        [x + width, y],
        [x, y],
      ],
      long: () => circle(x, y, width, 200 + height).reverse(),
    };
    const ring = shapes[kind as keyof typeof shapes]();
    return turned ? ring.reverse() : ring;
  });

it("irregular rings are matched as by comparing each pair", () => {
  fc.assert(
    fc.property(fc.array(uglyRing, { minLength: 2, maxLength: 120 }), (all) => {
      const rings = packed([...all, ...all.slice(0, 3)]);
      const found = assignRings(rings);
      const expected = assignByBruteForce(rings);
      expect([...found.owners]).toEqual([...expected.owners]);
      expect(found.turned).toBe(expected.turned);
    }),
    { numRuns: 150, seed: 11 },
  );
});

it("rings beside a shell, in a corner of its bounding box outside of it, are not its holes", () => {
  const corner = [
    [0, 0],
    [0, 10],
    [2, 10],
    [2, 2],
    [10, 2],
    [10, 0],
    [0, 0],
  ];
  const rings = packed([corner, rectangle(20, 0, 5, 5), rectangle(6, 6, 2, 2).reverse()]);
  expect(assignRings(rings)).toEqual({ owners: Int32Array.of(0, 1, 2), turned: 1 });
});

it("rings are matched as by ogr2ogr: islands in lakes in islands, in any order, hundreds of them", async () => {
  const side = 20;
  const polygons: number[][][][] = [];
  for (let i = 0; i < side * side; i++) {
    const [x, y] = [10 * (i % side), 10 * Math.floor(i / side)];
    polygons.push([circle(x, y, 4, 12), circle(x, y, 3, 9).reverse()]);
    polygons.push([circle(x, y, 2, 7), circle(x, y, 1, 5).reverse()]);
  }
  const coordinates = polygons.sort((a, b) => ((a[0]![0]![0]! * 7919) % 31) - ((b[0]![0]![0]! * 7919) % 31));
  const feature: Feature = { type: "Feature", geometry: { type: "MultiPolygon", coordinates }, properties: {} };
  const { path } = await writeBatches(scratch, "many", [packFeatures([feature], 1, [])], []);
  for (const [read] of [await readFeatures(path), ogrFeatures(path)]) {
    expect(read!.geometry!.type).toBe("MultiPolygon");
    expect(normal((read!.geometry as { coordinates: number[][][][] }).coordinates)).toEqual(normal(coordinates));
  }
});

it("rings whose areas are beyond the range of numbers are matched as at a smaller scale", () => {
  fc.assert(
    fc.property(fc.array(uglyRing, { minLength: 2, maxLength: 60 }), fc.nat({ max: 3 }), (all, some) => {
      // Powers of two change no digit of a coordinate.
      const rings = packed(all);
      const huge = { ...rings, xy: rings.xy.map((value) => value * 2 ** 1010) };
      expect(assignRings(huge)).toEqual(assignRings(rings));
      // A few huge rings among others: every hole has a shell.
      const mixed = packed(all.map((ring, r) => (r <= some ? ring.map(([x, y]) => [x! * 1e306, -y! * 1e306]) : ring)));
      const { owners } = assignRings(mixed);
      expect([...owners].map((owner) => owners[owner])).toEqual([...owners]);
    }),
    { numRuns: 150, seed: 13 },
  );
});
