import fc from "fast-check";
import { expect, test } from "vitest";
import { computeBox, isBoxOf } from "../../src/model/index.js";

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const position = fc.tuple(finite, finite);
const positions = fc.array(position, { minLength: 1, maxLength: 30 });

/** Least and greatest by the language's own functions. */
function boxOf(of: readonly (readonly [number, number])[]): number[] {
  const xs = of.map(([x]) => x);
  const ys = of.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

const zeroless = (values: readonly number[]) => values.map((value) => value + 0);

test("a bounding box is the minimum and maximum of its positions only", () => {
  fc.assert(
    fc.property(positions, positions, positions, (before, own, after) => {
      const box = new Float64Array(6);
      const xy = Float64Array.from([...before, ...own, ...after].flat());
      expect(computeBox(xy, before.length, before.length + own.length, box, 1)).toBe(true);
      expect(zeroless([...box.subarray(1, 5)])).toEqual(zeroless(boxOf(own)));
      expect([box[0], box[5]]).toEqual([0, 0]);
    }),
  );
});

test("only a correct bounding box is confirmed", () => {
  fc.assert(
    fc.property(positions, fc.nat({ max: 3 }), finite, (own, side, other) => {
      const xy = Float64Array.from(own.flat());
      const box = Float64Array.from(boxOf(own));
      // The sum of its sides may be beyond what a double holds: the box is then measured.
      const right = Number.isFinite(box.reduce((sum, value) => sum + value, 0));
      expect(isBoxOf(xy, 0, own.length, box, 0)).toBe(right);
      if (box[side] === other) return;
      box[side] = other;
      expect(isBoxOf(xy, 0, own.length, box, 0)).toBe(false);
    }),
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  "a coordinate %d has no bounding box",
  (odd) => {
    for (const at of [0, 1, 2, 3, 4, 5]) {
      const xy = Float64Array.of(1, 2, 3, 4, 5, 6);
      xy[at] = odd;
      expect(computeBox(xy, 0, 3, new Float64Array(4), 0)).toBe(false);
      expect(isBoxOf(xy, 0, 3, Float64Array.of(1, 2, 5, 6), 0)).toBe(false);
      expect(
        isBoxOf(
          xy,
          0,
          3,
          Float64Array.from(
            boxOf([
              [xy[0]!, xy[1]!],
              [xy[2]!, xy[3]!],
              [xy[4]!, xy[5]!],
            ]),
          ),
          0,
        ),
      ).toBe(false);
    }
  },
);
