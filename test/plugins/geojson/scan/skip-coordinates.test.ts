import fc from "fast-check";
import { expect, test } from "vitest";
import { skipCoordinates } from "../../../../plugins/geojson/scan/skip-coordinates.js";
import { JsonCursor } from "../../../../plugins/shared/json/cursor.js";

type Nested = readonly (number | Nested)[];

const spaces = ["", " ", "\n", "\r\n", "\n  ", "  "];
const written = (value: number | Nested, [open, between, close]: readonly string[]): string =>
  typeof value === "number"
    ? String(value)
    : value.length === 0
      ? `[${open}]`
      : `[${open}${value.map((one) => written(one, [open!, between!, close!])).join(`,${between}`)}${close}]`;

const sizesIn = (value: Nested): number[] =>
  value.length === 0 || typeof value[0] === "number" ? [value.length] : (value as Nested[]).flatMap(sizesIn);

const size = fc.constantFrom(2, 3);
const nestedOf = (position: fc.Arbitrary<Nested>, depth: number): fc.Arbitrary<Nested> =>
  depth === 0 ? position : fc.array(nestedOf(position, depth - 1), { maxLength: 6 });
const number = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.double({ min: -180, max: 180, noNaN: true }));
const positionOf = (sizes: fc.Arbitrary<number>): fc.Arbitrary<Nested> =>
  sizes.chain((length) => fc.array(number, { minLength: length, maxLength: length }));
const position = fc.oneof(
  positionOf(fc.constant(2)),
  positionOf(fc.constant(3)),
  positionOf(fc.integer({ min: 1, max: 5 })),
);
const coordinates = fc
  .tuple(
    fc.oneof(
      size.map((n) => positionOf(fc.constant(n))),
      fc.constant(position),
    ),
    fc.integer({ min: 1, max: 3 }),
  )
  .chain(([of, depth]) => fc.array(nestedOf(of, depth - 1), { minLength: 1, maxLength: 40 }));

test("returns the number of coordinates per position and moves to the end of the array", () => {
  let counted = 0;
  fc.assert(
    fc.property(
      coordinates,
      fc.array(fc.constantFrom(...spaces), { minLength: 3, maxLength: 3 }),
      fc.nat({ max: 3 }),
      fc.constantFrom("}", " }", ',"type":"LineString"}', ' , "type":"LineString"}'),
      (value, space, before, after) => {
        const text = written(value, space);
        if (!/^\[\s*\[/.test(text)) return;
        const cursor = new JsonCursor();
        cursor.load(Buffer.from(" ".repeat(before) + text + after));
        cursor.at = before;
        const each = skipCoordinates(cursor);
        expect(cursor.at).toBe(each === 0 ? before : before + text.length);
        const sizes = sizesIn(value);
        const tight = space.every((one) => one.length < 2);
        const even = sizes.every((of) => of === sizes[0]) && (sizes[0] === 2 || sizes[0] === 3);
        if (each !== 0 && sizes.every((of) => of > 1)) expect(each > 2).toBe(sizes.some((of) => of > 2));
        if (sizes.includes(0)) expect(each).toBe(0);
        if (tight && even) {
          expect(each).toBe(sizes[0]);
          counted++;
        }
      },
    ),
    { numRuns: 10_000 },
  );
  expect(counted).toBeGreaterThan(300);
});

test("stops at braces and quotes, and at non-ASCII bytes", () => {
  for (const text of ["[[1,2],[3,{4]]", "[[1,2],[3,é4]]", '[[1,2],["3",4]]']) {
    const cursor = new JsonCursor();
    cursor.load(Buffer.from(text));
    expect([skipCoordinates(cursor), cursor.at]).toEqual([0, 0]);
  }
});
