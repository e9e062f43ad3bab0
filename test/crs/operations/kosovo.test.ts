/** MGI 1901 in Kosovo: which operation is taken there, how accurate it is said to be, and what is said beside it. */
import { expect, it } from "vitest";
import { crsContext, findOperation, operationNotes } from "../../../src/crs/index.js";
import { PositionCounter } from "../../../src/crs/operations/position-counter.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";

async function converted(longitude: number, latitude: number) {
  const operation = await findOperation(await crsContext.parse("EPSG:3906"), crsContext.wgs84);
  const tally = new PositionCounter(operation.transformations.length);
  const xy = Float64Array.of(longitude, latitude);
  (await buildTransform(operation, tally))(xy, null);
  const transformationIndex = operation.transformations.findIndex((_, k) => tally.getCount(k) > 0);
  const stated = await operationNotes(operation, [
    { transformationIndex, positionCount: 1, box: tally.getBox(transformationIndex) },
  ]);
  return {
    xy,
    accuracy: operation.transformations[transformationIndex]!.accuracy,
    said: stated.map(({ text }) => text).join("\n"),
  };
}

it("in Kosovo the stated accuracy of Serbia's operation is its agreement with the neighbors", async () => {
  const { xy, accuracy, said } = await converted(20.9, 42.6);
  expect(accuracy).toBe(4);
  expect(said).toContain("EPSG:9143");
  // EPSG:9486, by PROJ 9.9's cs2cs.
  expect(xy[0]).toBeCloseTo(20.8946649552, 8);
  expect(xy[1]).toBeCloseTo(42.6002711646, 8);
});

it.each([
  ["Belgrade", 20.46, 44.82, 1],
  ["Vranje, east of Kosovo", 21.9, 42.55, 1],
  ["Skopje", 21.43, 42, 2],
  ["Sarajevo", 18.4, 43.85, 1],
])("%s has its own operation", async (_, longitude, latitude, accuracy) => {
  const found = await converted(longitude, latitude);
  expect(found.accuracy).toBe(accuracy);
  expect(found.said).not.toContain("Kosovo");
});
