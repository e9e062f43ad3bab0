/** Batches as they were written, held against the same and changed ones in other batches. */
import { describe, expect, test } from "vitest";
import type { Batch, Feature, Field } from "../../../src/model/index.js";
import { packFeatures } from "../../../src/model/pack-features.js";
import { compareColumns } from "../../../src/pipeline/proof/compare-columns.js";
import { compareGeometries } from "../../../src/pipeline/proof/compare-geometries.js";
import { LayerHash } from "../../../src/pipeline/proof/layer-hash.js";
import { parsePlainNumber } from "../../../src/pipeline/proof/parse-plain-number.js";
import { proofColumns } from "../../../src/pipeline/proof/proof-columns.js";
import type { ProofRules } from "../../../src/pipeline/proof/proof-rules.js";

const rules: ProofRules = {
  decimals: { xy: 7, z: 3 },
  types: "value",
  writtenTypes: null,
  singleIsMulti: false,
  absentIsNull: false,
  withIds: false,
  byPosition: false,
  idsAsText: false,
  splitsMultiPoints: false,
  isOrdered: true,
  ignoredFields: [],
};

const point = (x: number, y: number, ...z: number[]): Feature["geometry"] => ({
  type: "Point",
  coordinates: [x, y, ...z],
});
const feature = (properties: Record<string, unknown>, geometry: Feature["geometry"] = point(7, 46)): Feature => ({
  type: "Feature",
  geometry,
  properties,
});
const batchOf = (values: readonly unknown[], type: Field["type"]): Batch =>
  packFeatures(
    values.map((value) => feature(value === undefined ? {} : { value })),
    1,
    [{ name: "value", type }],
  );

/** Rows that differ, from 0. */
function differingValues(written: Batch, read: Batch, changes: Partial<ProofRules> = {}): number[] {
  const all = { ...rules, ...changes };
  const marks = new Uint8Array(written.length);
  const range = { from: 0, readFrom: 0, count: written.length };
  compareColumns(proofColumns(written, all)[0] ?? null, proofColumns(read, all)[0] ?? null, range, all, marks);
  return [...marks.keys()].filter((row) => marks[row] === 1);
}

function isSameGeometry(
  one: Feature["geometry"],
  other: Feature["geometry"],
  changes: Partial<ProofRules> = {},
): boolean {
  const marks = new Uint8Array(1);
  const [written, read] = [one, other].map((geometry) => packFeatures([feature({}, geometry)], 1, [])) as [
    Batch,
    Batch,
  ];
  const range = { from: 0, readFrom: 0, count: 1 };
  compareGeometries(written.geometry, read.geometry, range, { ...rules, ...changes }, marks);
  return marks[0] === 0;
}

describe("values", () => {
  test("numbers are equal in any type of number", () => {
    expect(differingValues(batchOf([1, -0, 2.5, null], "double"), batchOf([1, 0, 2, null], "int32"))).toEqual([2]);
    expect(differingValues(batchOf([Number.NaN], "double"), batchOf([Number.NaN], "double"))).toEqual([]);
    expect(differingValues(batchOf([1n, 2n ** 53n + 1n], "int64"), batchOf([1, 2 ** 53], "double"))).toEqual([1]);
  });

  test("texts are equal byte by byte, and times in two notations", () => {
    expect(differingValues(batchOf(["a", "b ", ""], "text"), batchOf(["a", "b", null], "text"))).toEqual([1, 2]);
    const utc = "2024-01-01T12:00:00Z";
    expect(differingValues(batchOf([utc], "datetime"), batchOf(["2024-01-01T12:00:00.000+00:00"], "text"))).toEqual([]);
  });

  test("null and absent are equal only in formats that do not tell them apart", () => {
    const [nulls, absents] = [batchOf([null, 1], "int32"), batchOf([undefined, 1], "int32")];
    expect(differingValues(nulls, absents)).toEqual([0]);
    expect(differingValues(nulls, absents, { absentIsNull: true })).toEqual([]);
  });

  test("a number of another kind of value differs", () => {
    expect(differingValues(batchOf([1], "int32"), batchOf(["1"], "text"))).toEqual([0]);
    expect(differingValues(batchOf([1], "int32"), batchOf([true], "boolean"))).toEqual([0]);
  });

  test("texts of a format without types are parsed by the type that was written", () => {
    const changes = { types: "none", writtenTypes: { value: "double" } } as const;
    const texts = ["1", "1.50", "1e3", "-.5", "0.1", "x", "12345678901234567890"];
    const numbers = [1, 1.5, 1000, -0.5, 0.2, 0, Number("12345678901234567890")];
    expect(differingValues(batchOf(numbers, "double"), batchOf(texts, "text"), changes)).toEqual([4, 5]);
  });

  test("a column that one side lacks differs where it has values", () => {
    const none = packFeatures([feature({}), feature({})], 1, []);
    expect(differingValues(batchOf([null, 1], "int32"), none, { absentIsNull: true })).toEqual([1]);
    expect(differingValues(none, batchOf([null, 1], "int32"))).toEqual([0, 1]);
  });
});

describe("geometries", () => {
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const polygon = (...rings: number[][][]): Feature["geometry"] => ({ type: "Polygon", coordinates: rings });

  test("coordinates are compared at the decimals of the format", () => {
    expect(isSameGeometry(point(7.12345674, 46), point(7.1234567, 46))).toBe(true);
    expect(isSameGeometry(point(7.1234568, 46), point(7.1234567, 46))).toBe(false);
    const exact = { decimals: { xy: null, z: null } };
    expect(isSameGeometry(point(7.12345674, 46), point(7.1234567, 46), exact)).toBe(false);
  });

  test("heights count, and no height is not 0", () => {
    expect(isSameGeometry(point(7, 46, 400.0001), point(7, 46, 400))).toBe(true);
    expect(isSameGeometry(point(7, 46, 400.001), point(7, 46, 400))).toBe(false);
    expect(isSameGeometry(point(7, 46, 0), point(7, 46))).toBe(false);
  });

  test("rings may turn the other way, lines may not", () => {
    const turned = ring.toReversed();
    expect(isSameGeometry(polygon(ring), polygon(turned))).toBe(true);
    const [line, back] = [ring.slice(0, 3), ring.slice(0, 3).toReversed()];
    expect(isSameGeometry({ type: "LineString", coordinates: line }, { type: "LineString", coordinates: back })).toBe(
      false,
    );
  });

  test("a polygon equals a multipolygon of one only where the format has one of both", () => {
    const multi: Feature["geometry"] = { type: "MultiPolygon", coordinates: [[ring]] };
    expect(isSameGeometry(polygon(ring), multi)).toBe(false);
    expect(isSameGeometry(polygon(ring), multi, { singleIsMulti: true })).toBe(true);
  });

  test("a hole is not a part", () => {
    const parts: Feature["geometry"] = { type: "MultiPolygon", coordinates: [[ring], [ring]] };
    const hole: Feature["geometry"] = { type: "MultiPolygon", coordinates: [[ring, ring]] };
    expect(isSameGeometry(parts, hole)).toBe(false);
    expect(isSameGeometry(polygon(ring), null)).toBe(false);
  });
});

describe("the hash of a layer", () => {
  const features = [1, 2, 3, 4].map((n) =>
    feature(
      { id: n, name: n === 2 ? null : `name ${n}`, ...(n > 2 && { more: n / 2 }) },
      point(n, 46, ...(n > 2 ? [n] : [])),
    ),
  );
  const fields: Field[] = [
    { name: "id", type: "int32" },
    { name: "name", type: "text" },
    { name: "more", type: "double" },
  ];
  const hashOf = (...batches: Batch[]) => {
    const hash = new LayerHash(false);
    for (const batch of batches) hash.add(batch);
    return hash.digest();
  };
  const pack = (some: Feature[], names = fields) => packFeatures(some, 1, names);

  test("does not depend on the batches", () => {
    const whole = hashOf(pack(features));
    expect(hashOf(pack(features.slice(0, 1)), pack(features.slice(1)))).toBe(whole);
    expect(hashOf(pack(features.slice(0, 2), fields.slice(0, 2)), pack(features.slice(2)))).toBe(whole);
    const doubles = fields.map((field) => (field.name === "id" ? { ...field, type: "double" as const } : field));
    expect(hashOf(pack(features.slice(0, 3), doubles), pack(features.slice(3)))).toBe(whole);
  });

  test("depends on each value, its kind, its field, and on the order", () => {
    const changed = (change: (feature: Feature) => Feature) =>
      hashOf(pack(features.map((each, n) => (n === 1 ? change(each) : each))));
    const hashes = [
      hashOf(pack(features)),
      hashOf(pack(features.toReversed())),
      changed((each) => ({ ...each, properties: { ...each.properties, name: "" } })),
      changed(({ properties: { name: _, ...properties }, ...each }) => ({ ...each, properties })),
      changed((each) => ({ ...each, properties: { ...each.properties, id: 5 } })),
      changed((each) => ({ ...each, geometry: point(2, 46.5) })),
      changed((each) => ({ ...each, geometry: point(2, 46, 0) })),
      changed((each) => ({ ...each, geometry: null })),
      hashOf(
        pack(
          features,
          fields.map((field) => (field.name === "id" ? { ...field, type: "text" as const } : field)),
        ),
      ),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

test("plain decimals are parsed as Number does, others not at all", () => {
  const parse = (text: string) => parsePlainNumber(Buffer.from(`9${text}9`), 1, text.length + 1);
  for (const text of ["0", "7", "-12.5", "0.1", ".5", "5.", "123456789012345", "0.00000000000001", "007"])
    expect(parse(text)).toBe(Number(text));
  for (const text of ["", "-", ".", "1.2.3", "1e5", "+1", "1234567890123456", " 1", "x"]) expect(parse(text)).toBeNaN();
});
