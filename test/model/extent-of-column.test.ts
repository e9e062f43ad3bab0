/** The extent of a geometry column, with and without the boxes of its features. */
import { expect, test } from "vitest";
import { extentOfColumn } from "../../src/model/feature-box.js";
import { type Geometry, GeometryBuilder } from "../../src/model/index.js";

const line = (coordinates: number[][]): Geometry => ({ type: "LineString", coordinates });

function columns(geometries: readonly (Geometry | null)[]) {
  const builder = new GeometryBuilder();
  for (const geometry of geometries) builder.addGeoJson(geometry);
  const plain = builder.finish();
  const unknown = new Float64Array(4 * geometries.length).fill(Number.NaN);
  const rebuilt = new GeometryBuilder();
  for (const geometry of geometries) rebuilt.addGeoJson(geometry);
  return { plain, boxed: rebuilt.finish(unknown) };
}

test.each([
  [
    [
      line([
        [3, -7],
        [1, 9],
      ]),
      null,
      line([
        [-2, 0],
        [0, 4],
      ]),
    ],
    [-2, -7, 3, 9],
  ],
  [
    [
      null,
      line([
        [5, 5],
        [5, 5],
      ]),
      null,
    ],
    [5, 5, 5, 5],
  ],
  [[null, null], null],
  [[], null],
])("of %j is %j", (geometries, extent) => {
  const { plain, boxed } = columns(geometries);
  expect(plain.boxes).toBeNull();
  expect(boxed.boxes).not.toBeNull();
  expect(extentOfColumn(plain)).toEqual(extent);
  expect(extentOfColumn(boxed)).toEqual(extent);
});
