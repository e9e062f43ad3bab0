import { expect, it } from "vitest";
import { crsContext, findOperation } from "../../../src/crs/index.js";
import { buildTransform } from "../../../src/crs/operations/transform.js";
import { operationText } from "../operation-text.js";

const { parse } = crsContext;

async function transformPosition(from: string, to: string, position: readonly [number, number], accuracy: number) {
  const operation = await findOperation(await parse(from), await parse(to), { accuracy });
  const xy = Float64Array.from(position);
  (await buildTransform(operation))(xy, null);
  return { longitude: xy[0]!, latitude: xy[1]!, operation };
}

const degrees = (whole: number, minutes: number, seconds: number): number => whole + minutes / 60 + seconds / 3600;

it("Greek to GGRS87 by an offset of longitude and latitude, and back (guidance note 7-2, Geographic2D offsets)", async () => {
  const greek = [degrees(23, 48, 16.235), degrees(38, 8, 36.565)] as const;
  const ggrs87 = [degrees(23, 48, 16.515), degrees(38, 8, 30.705)] as const;
  const there = await transformPosition("EPSG:4120", "EPSG:4121", greek, 5);
  expect(there.longitude).toBeCloseTo(ggrs87[0], 10);
  expect(there.latitude).toBeCloseTo(ggrs87[1], 10);
  expect(there.operation).toMatchObject({ name: "Greek to GGRS87 (1)", accuracy: 5 });
  const back = await transformPosition("EPSG:4121", "EPSG:4120", ggrs87, 5);
  expect(back.longitude).toBeCloseTo(greek[0], 10);
  expect(back.latitude).toBeCloseTo(greek[1], 10);
});

it("an offset before a geocentric shift, and after it on the way back: as PROJ 9.5.1", async () => {
  const there = await transformPosition("EPSG:4326", "EPSG:4120", [23.935, 37.17], 6);
  expect(there.longitude).toBeCloseTo(23.933239573038282, 9);
  expect(there.latitude).toBeCloseTo(37.16902767147937, 9);
  const back = await transformPosition("EPSG:4120", "EPSG:4326", [23.933239573038282, 37.16902767147937], 6);
  expect(back.longitude).toBeCloseTo(23.934999992726457, 9);
  expect(back.latitude).toBeCloseTo(37.169999988712995, 9);
});

it("a rotation of longitude between datums of one meridian, under a map: as PROJ 9.5.1", async () => {
  const there = await transformPosition("EPSG:4326", "EPSG:5171", [129.5, 35.43666666666667], 5);
  expect(there.longitude).toBeCloseTo(245343.3454842356, 4);
  expect(there.latitude).toBeCloseTo(215346.60260452994, 4);
});

it("an offset is reported with its accuracy, and is not ignored", async () => {
  const { operation } = await transformPosition("EPSG:4600", "EPSG:4326", [-63.0712222, 18.1883333], 10);
  expect(await operationText(operation)).toBe("Anguilla 1957 to WGS 84 (1): accurate to 10 m");
  await expect(transformPosition("EPSG:4600", "EPSG:4326", [-63.07, 18.19], 5)).rejects.toThrow(/accurate to 10 m/);
});

it("a zero offset reports that the datums are treated as equal", async () => {
  const { operation, longitude } = await transformPosition("EPSG:4156", "EPSG:5228", [14.4, 50.1], 1);
  expect(await operationText(operation)).toContain("both datums are assumed to be the same");
  expect(longitude).toBeCloseTo(14.4, 12);
});
