import { describe, expect, test } from "vitest";
import { RowEncoder } from "../../src/canonical/canonical-row.js";
import type { ComparisonRules } from "../../src/canonical/rules.js";
import { Batch } from "../../src/model/batch.js";
import type { FieldType } from "../../src/model/field.js";
import type { Geometry } from "../../src/model/geometry.js";
import { packFeatures } from "../../src/model/pack-features.js";
import { exactRules } from "./rules.js";

type Typed = readonly [type: FieldType, value: unknown];

/** A value of a json field by its text. */
const longJson = (text: string): Typed => ["json", { text }];

function encode([type, value]: Typed, rules: Partial<ComparisonRules> = {}): string {
  const isText = type === "json" && value !== null && typeof value === "object" && "text" in value;
  const properties = { f: isText ? "" : value };
  const packed = packFeatures([{ type: "Feature", geometry: null, properties }], 1, [{ name: "f", type }]);
  const batch = isText ? withJson(packed, String(value.text)) : packed;
  return Buffer.from(new RowEncoder({ ...exactRules, ...rules }).encode(batch, 0)).toString("hex");
}

/** `packFeatures` has no digits that a number does not hold. */
function withJson(batch: Batch, text: string): Batch {
  const bytes = Buffer.from(text);
  const column = { type: "json", presence: Uint8Array.of(1), bytes, offsets: Uint32Array.of(0, bytes.length) } as const;
  return new Batch({ ...batch.toData(), columns: [column] });
}

function encodeGeometry(geometry: Geometry | null, rules: Partial<ComparisonRules> = {}): string {
  const batch = packFeatures([{ type: "Feature", geometry, properties: {} }], 1);
  return Buffer.from(new RowEncoder({ ...exactRules, ...rules }).encode(batch, 0)).toString("hex");
}

const asText = { comparisons: { f: "text" } } as const;

describe("values that are equal", () => {
  test.each<[string, Typed, Typed, Partial<ComparisonRules>?]>([
    ["an integer and the same decimal number", ["int32", 1], ["double", 1]],
    ["an integer of 64 bits and one of 32", ["int64", 7n], ["int32", 7]],
    ["negative zero and zero", ["double", -0], ["double", 0]],
    ["null and a missing value", ["text", null], ["text", undefined]],
    [
      "a moment in UTC and in another zone",
      ["datetime", "2026-01-01T12:00:00+02:00"],
      ["datetime", "2026-01-01T10:00:00Z"],
    ],
    ["seconds with and without zeros", ["datetime", "2026-01-01T10:00:00.500Z"], ["text", "2026-01-01T10:00:00.5Z"]],
    ["a date and the same text", ["date", "2026-01-31"], ["text", "2026-01-31"]],
    [
      "an integer beyond 2^53 in a field of mixed types, and one in a field of integers",
      longJson("9007199254740993"),
      ["int64", 2n ** 53n + 1n],
    ],
    ["a nested value with another order of members", ["json", { a: 1, b: [2] }], ["json", { b: [2], a: 1 }]],
    ["a number in a field of mixed types, and one in a field of numbers", ["json", 5], ["int32", 5]],
    ["a text in a field of mixed types, and one in a field of texts", ["json", "x"], ["text", "x"]],
    ["a number and its text, if the types differ", ["int32", 12], ["text", "12"], asText],
    [
      "an integer beyond 2^53 and its text, if the types differ",
      ["int64", 2n ** 60n],
      ["text", "1152921504606846976"],
      asText,
    ],
    [
      "a nested value and its text, if the types differ",
      ["json", { b: 1, a: 2 }],
      ["text", '{"a": 2, "b": 1}'],
      asText,
    ],
    ["true and 1, if the types differ", ["boolean", true], ["int32", 1], { comparisons: { f: "number" } }],
    [
      "an empty text and null in a format without the difference",
      ["text", ""],
      ["text", null],
      { emptyTextIsNull: true },
    ],
    [
      "texts with blanks at the end in a format that pads",
      ["text", "a  "],
      ["text", "a"],
      { ignoresTrailingBlanks: true },
    ],
  ])("equal: %s", (_, one, other, rules) => {
    expect(encode(one, rules)).toBe(encode(other, rules));
  });
});

describe("values that differ", () => {
  test.each<[string, Typed, Typed, Partial<ComparisonRules>?]>([
    ["an integer beyond 2^53 and the next one", ["int64", 2n ** 53n], ["int64", 2n ** 53n + 1n]],
    ["integers beyond 2^53 in a field of mixed types", longJson("123456789012345678"), longJson("123456789012345679")],
    ["integers of 30 digits", longJson("123456789012345678901234567890"), longJson("123456789012345678901234567891")],
    ["nested integers beyond 2^53", longJson('{"a":123456789012345678}'), longJson('{"a":123456789012345679}')],
    [
      "an integer beyond 2^53 and its text in fields of mixed types",
      longJson("123456789012345678"),
      longJson('"123456789012345678"'),
    ],
    ["a number and its text in fields of mixed types", ["json", 1], ["json", "1"]],
    ["a text with zeros in front and the number", ["text", "007"], ["int32", 7], asText],
    ["an empty text and null", ["text", ""], ["text", null]],
    ["texts with other blanks", ["text", "a "], ["text", "a"]],
    [
      "a moment and the same time without a zone",
      ["datetime", "2026-01-01T10:00:00Z"],
      ["datetime", "2026-01-01T10:00:00"],
    ],
    ["a boolean and null", ["boolean", false], ["boolean", null]],
    ["bytes and their text", ["binary", new Uint8Array([97])], ["text", "a"]],
  ])("different: %s", (_, one, other, rules) => {
    expect(encode(one, rules)).not.toBe(encode(other, rules));
  });

  test("the same value in another field", () => {
    const rowOf = (properties: Record<string, unknown>) =>
      Buffer.from(
        new RowEncoder(exactRules).encode(packFeatures([{ type: "Feature", geometry: null, properties }], 1), 0),
      ).toString("hex");
    expect(rowOf({ a: 1, b: null })).not.toBe(rowOf({ a: null, b: 1 }));
    expect(rowOf({ a: "x", b: "" })).not.toBe(rowOf({ a: "", b: "x" }));
    expect(rowOf({ b: 2, a: 1 })).toBe(rowOf({ a: 1, b: 2 }));
  });
});

const ring = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 0],
];
const hole = [
  [3, 1],
  [3, 2],
  [3.5, 2],
  [3, 1],
];

describe("geometries that are equal", () => {
  test.each<[string, Geometry | null, Geometry | null]>([
    [
      "rings in the other direction",
      { type: "Polygon", coordinates: [ring, hole] },
      { type: "Polygon", coordinates: [[...ring].reverse(), [...hole].reverse()] },
    ],
    [
      "a multi-geometry of one part and the part",
      { type: "MultiPolygon", coordinates: [[ring]] },
      { type: "Polygon", coordinates: [ring] },
    ],
    [
      "several points that are one, and a point",
      { type: "MultiPoint", coordinates: [[1, 2]] },
      { type: "Point", coordinates: [1, 2] },
    ],
    ["a geometry without positions and none", { type: "LineString", coordinates: [] }, null],
    ["a collection without positions and none", { type: "GeometryCollection", geometries: [] }, null],
    [
      "coordinates that differ in the eighth decimal",
      { type: "Point", coordinates: [1.00000001, 2] },
      { type: "Point", coordinates: [1, 2] },
    ],
  ])("equal geometries: %s", (_, one, other) => {
    expect(encodeGeometry(one)).toBe(encodeGeometry(other));
  });
});

describe("geometries that differ", () => {
  test.each<[string, Geometry | null, Geometry | null]>([
    [
      "a ring that starts elsewhere",
      { type: "Polygon", coordinates: [ring] },
      { type: "Polygon", coordinates: [[ring[1]!, ring[2]!, ring[0]!, ring[1]!]] },
    ],
    [
      "a line in the other direction",
      { type: "LineString", coordinates: ring },
      { type: "LineString", coordinates: [...ring].reverse() },
    ],
    ["a point with a height", { type: "Point", coordinates: [1, 2, 0] }, { type: "Point", coordinates: [1, 2] }],
    [
      "a height that differs by a centimetre",
      { type: "Point", coordinates: [1, 2, 3] },
      { type: "Point", coordinates: [1, 2, 3.01] },
    ],
    [
      "a line and points at the same positions",
      { type: "LineString", coordinates: ring },
      { type: "MultiPoint", coordinates: ring },
    ],
    [
      "coordinates that differ in the seventh decimal",
      { type: "Point", coordinates: [1.0000001, 2] },
      { type: "Point", coordinates: [1, 2] },
    ],
  ])("different geometries: %s", (_, one, other) => {
    expect(encodeGeometry(one)).not.toBe(encodeGeometry(other));
  });

  test("heights do not count in a format without them", () => {
    const [high, flat] = [
      [1, 2, 3],
      [1, 2],
    ].map((coordinates): Geometry => ({ type: "Point", coordinates }));
    expect(encodeGeometry(high!, { ignoresHeights: true })).toBe(encodeGeometry(flat!, { ignoresHeights: true }));
  });
});
