import { describe, expect, test } from "vitest";
import type { Batch, Feature } from "../../src/model/batch.js";
import type { Geometry } from "../../src/model/geometry.js";
import { Kind } from "../../src/model/geometry.js";
import { GeometryBuilder } from "../../src/model/geometry-builder.js";
import { packFeatures } from "../../src/model/pack-features.js";
import { buildStage } from "../../src/stages/build-stage.js";
import { applyStage, batchOf, RecordingStageContext } from "./stage-fixture.js";

const point: Geometry = { type: "Point", coordinates: [1, 2, 3] };
const batch = packFeatures(
  [
    { type: "Feature", id: 7, geometry: point, properties: { a: 1, b: "x", c: true } },
    { type: "Feature", id: 8, geometry: null, properties: { a: 2, b: "y" } },
  ],
  1,
);
const properties = (of: Batch) => [...of.features()].map((feature) => feature.properties);

describe("attributes", () => {
  test("select keeps the requested order and ignores unknown names", async () => {
    const { batch: left } = await applyStage("select", { fields: ["c", "missing", "a"] }, batch);
    expect(left.fields.map((field) => field.name)).toEqual(["c", "a"]);
    expect(properties(left)).toEqual([{ c: true, a: 1 }, { a: 2 }]);
  });

  test("rename is simultaneous, also with __proto__", async () => {
    const { batch: left } = await applyStage("rename", { map: { a: "b", b: "a" } }, batch);
    expect(properties(left)[1]).toEqual({ b: 2, a: "y" });
    const map = new Map([["a", "__proto__"]]);
    const { batch: odd } = await applyStage("rename", { map }, batch);
    expect(odd.fields[0]!.name).toBe("__proto__");
  });

  test("cast changes the type and removes the declared width of the old one", async () => {
    const declared = batch.with({ fields: batch.fields.map((field) => ({ ...field, width: 5 })) });
    const { batch: left } = await applyStage("cast", { map: { a: "text", b: "text" } }, declared);
    expect(left.fields).toEqual([
      { name: "a", type: "text" },
      { name: "b", type: "text", width: 5 },
      { name: "c", type: "boolean", width: 5 },
    ]);
    expect(properties(left)[0]).toEqual({ a: "1", b: "x", c: true });
  });

  test("ids become the first field, with a unique name", async () => {
    const { batch: left, heard } = await applyStage("ids-to-field", { name: "a" }, batch);
    expect([...left.features()][0]).toEqual({
      type: "Feature",
      geometry: point,
      properties: { a_1: 7, a: 1, b: "x", c: true },
    });
    expect(heard.notices).toMatchObject([{ code: "field-renamed", field: "a" }]);
  });
});

test("limit counts over all batches, separately for each stage", async () => {
  const heard = new RecordingStageContext();
  const stage = await buildStage({ name: "limit", settings: { count: 3 } }, heard);
  expect([stage.apply(batch).length, stage.apply(batch).length, stage.apply(batch).length]).toEqual([2, 1, 0]);
  const other = await buildStage({ name: "limit", settings: { count: 3 } }, heard);
  expect(other.apply(batch)).toBe(batch);
});

describe("geometry", () => {
  test("swap-xy includes collections and does not change the input batch", async () => {
    const given = batchOf([{ type: "GeometryCollection", geometries: [point] }, point]);
    const { batch: left } = await applyStage("swap-xy", {}, given);
    const exchanged = { type: "Point", coordinates: [2, 1, 3] };
    expect([...left.features()].map((f: Feature) => f.geometry)).toEqual([
      { type: "GeometryCollection", geometries: [exchanged] },
      exchanged,
    ]);
    expect(given.geometry.xy[0]).toBe(1);
  });

  test("drop-dimensions counts the features that had the dimension", async () => {
    const geometry = new GeometryBuilder();
    geometry.beginSinglePart(Kind.LineString);
    geometry.addPositionZM(0, 0, 1, 5);
    geometry.addPositionZM(1, 1, 2, 6);
    geometry.end();
    geometry.addPoint(1, 1);
    geometry.begin(Kind.GeometryCollection);
    geometry.beginMembers().addGeoJson(point);
    geometry.end();
    const given = batchOf([null, null, null]).with({ geometry: geometry.finish() });
    const { batch: left, heard } = await applyStage("drop-dimensions", { z: true }, given);
    expect(heard.losses).toMatchObject([{ code: "z-dropped", count: 2 }]);
    expect(left.geometry.z).toBe(null);
    expect(left.geometry.members?.z).toBe(null);
    expect(left.geometry.m).toEqual(given.geometry.m);
    const both = await applyStage("drop-dimensions", { z: true, m: true }, given);
    expect(both.heard.losses).toMatchObject([
      { code: "z-dropped", count: 2 },
      { code: "m-dropped", count: 1 },
    ]);
    expect((await applyStage("drop-dimensions", { z: true }, left)).batch).toBe(left);
  });

  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const mixed: (Geometry | null)[] = [
    { type: "Point", coordinates: [1, 2] },
    {
      type: "MultiPoint",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    { type: "Polygon", coordinates: [ring, ring] },
    { type: "MultiPolygon", coordinates: [[ring]] },
    { type: "GeometryCollection", geometries: [] },
    null,
    { type: "Polygon", coordinates: [] },
  ];
  test.each<[string, (Geometry | null)[], number]>([
    ["Point", [mixed[0]!, mixed[1]!], 6],
    ["line", [mixed[2]!], 7],
    ["polygon", [mixed[3]!, mixed[4]!, mixed[7]!], 5],
    [
      "MultiLineString",
      [
        {
          type: "MultiLineString",
          coordinates: [
            [
              [1, 2],
              [3, 4],
            ],
          ],
        },
      ],
      7,
    ],
    [
      "multi",
      [
        { type: "MultiPoint", coordinates: [[1, 2]] },
        mixed[1]!,
        {
          type: "MultiLineString",
          coordinates: [
            [
              [1, 2],
              [3, 4],
            ],
          ],
        },
        { type: "MultiPolygon", coordinates: [[ring, ring]] },
        mixed[4]!,
        mixed[5]!,
        null,
        { type: "MultiPolygon", coordinates: [] },
      ],
      0,
    ],
  ])("geometry-type %s keeps or converts geometries", async (type, expected, leftOut) => {
    const { batch: left, heard } = await applyStage("geometry-type", { type }, batchOf(mixed));
    expect([...left.features()].map((feature) => feature.geometry)).toEqual(expected);
    expect(heard.notices.map((notice) => notice.count)).toEqual(leftOut === 0 ? [] : [leftOut]);
  });
});

test.each<[string, Record<string, unknown>]>([
  ["select", { fields: "a" }],
  ["rename", { map: ["a"] }],
  ["cast", { map: { a: "varchar" } }],
  ["limit", { count: -1 }],
  ["bbox", { box: [0, 1, 1, 0] }],
  ["bbox", { box: [0, 0, 1, Number.NaN] }],
  ["geometry-type", { type: "curve" }],
  ["check-coordinates", { mode: "nad27" }],
])("the stage %s refuses %j", async (name, settings) => {
  await expect(buildStage({ name, settings }, new RecordingStageContext())).rejects.toMatchObject({
    code: "option-invalid",
  });
});

test.each(["constructor", "nothing"])("the unknown stage %s is refused", async (name) => {
  await expect(buildStage({ name, settings: {} }, new RecordingStageContext())).rejects.toMatchObject({
    code: "internal",
  });
});
