import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { crsContext, findOperation } from "../../../src/crs/index.js";
import type { Geometry } from "../../../src/model/geometry.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const operation = async (from: string, to: string) =>
  findOperation(await crsContext.parse(from), await crsContext.parse(to));

test("every position is transformed as by gdaltransform, members of collections and heights included", async () => {
  const positions = [
    [448262.1, 5411932.7],
    [500000, 5500000],
    [691000.5, 5334000.25],
  ];
  const out = execFileSync("gdaltransform", ["-s_srs", "EPSG:25832", "-t_srs", "EPSG:4258"], {
    input: positions.map((position) => position.join(" ")).join("\n"),
    encoding: "utf8",
  });
  const expected = out
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  const geometries: Geometry[] = [
    { type: "LineString", coordinates: [[...positions[0]!, 12], positions[1]!] },
    { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: positions[2]! }] },
  ];
  const given = batchOf(geometries);
  const { batch, heard } = await applyStage(
    "reproject",
    { operation: await operation("EPSG:25832", "EPSG:4258") },
    given,
  );
  const { xy, z, members } = batch.geometry;
  const found = [...xy, ...members!.xy];
  expected.forEach(([x, y], i) => {
    expect(found[2 * i]).toBeCloseTo(x!, 8);
    expect(found[2 * i + 1]).toBeCloseTo(y!, 8);
  });
  expect([...z!]).toEqual([12, Number.NaN]);
  expect(heard.rejects).toEqual([]);
  expect([...given.features()].map((feature) => feature.geometry)).toEqual(geometries);
});

test("a feature with a position that cannot be transformed is rejected, in its source coordinates", async () => {
  const pole: Geometry = {
    type: "LineString",
    coordinates: [
      [10, 50],
      [10, 90],
    ],
  };
  const settings = { operation: await operation("EPSG:4326", "EPSG:3857") };
  const { batch, heard } = await applyStage(
    "reproject",
    settings,
    batchOf([pole, { type: "Point", coordinates: [0, 0] }, null]),
  );
  expect(batch.length).toBe(2);
  expect(heard.rejects).toMatchObject([
    { code: "not-transformable", place: { record: 1 }, feature: { geometry: pole } },
  ]);
  expect(heard.rejects[0]!.reason).toContain("10, 90");
});

test("an identity transformation leaves the batch unchanged", async () => {
  const batch = batchOf([{ type: "Point", coordinates: [1, 2] }]);
  const settings = { operation: await operation("EPSG:4326", "OGC:CRS84") };
  expect((await applyStage("reproject", settings, batch)).batch).toBe(batch);
});

test("positions up to a degree outside of the area of the operation are counted", async () => {
  // The area of MGI to WGS 84 (3), all of Austria, ends at 49.02° north; MGI to WGS 84 (8) is for Carinthia and Styria.
  const at = (...coordinates: number[]): Geometry => ({ type: "Point", coordinates });
  const settings = { operation: await operation("EPSG:4312", "EPSG:4326") };
  const { batch, heard } = await applyStage("reproject", settings, batchOf([at(14, 48), at(14, 49.5), at(10, 49.3)]));
  expect(batch.length).toBe(3);
  expect(heard.notices).toMatchObject([{ code: "outside-operation-area", count: 2 }]);
  expect((await applyStage("reproject", settings, batchOf([at(14, 48)]))).heard.notices).toEqual([]);
});
