import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BytesColumn, type Column, Presence, type Value, valueAt } from "../../../src/model/column.js";
import type { FieldType } from "../../../src/model/field.js";
import { castColumn } from "../../../src/stages/fields/cast.js";
import { CastLosses, castValue } from "../../../src/stages/fields/cast-value.js";
import { columnOf, RecordingStageContext } from "../stage-fixture.js";

const values = (column: Column): Value[] => Array.from(column.presence, (_, row) => valueAt(column, row));

function cast(from: FieldType, given: readonly (Value | undefined)[], to: FieldType) {
  const heard = new RecordingStageContext();
  const column = castColumn(columnOf(from, given), to, "f", heard);
  expect(column.type).toBe(to);
  const losses = Object.fromEntries(heard.losses.map((loss) => [loss.code, loss.count]));
  expect(heard.losses.every((loss) => loss.field === "f")).toBe(true);
  return { values: values(column), losses, column };
}

const types: FieldType[] = [
  "boolean",
  "int32",
  "int64",
  "double",
  "text",
  "date",
  "time",
  "datetime",
  "binary",
  "json",
];
const sample: Record<FieldType, Exclude<Value, null>> = {
  boolean: true,
  int32: 1,
  int64: 1n,
  double: 1,
  text: "1",
  date: "2024-02-29",
  time: "23:59:59",
  datetime: "2024-02-29T00:00:00",
  binary: Uint8Array.of(1),
  json: "1",
};

describe("every type to every type", () => {
  const pairs = types.flatMap((from) => types.map((to) => [from, to] as const));
  test.each(pairs)("casting %s to %s keeps null and absent, and reports losses", (from, to) => {
    const { values: cast1, losses, column } = cast(from, [sample[from], null, undefined], to);
    expect([...column.presence.slice(1)]).toEqual([Presence.null, Presence.absent]);
    const lost = (losses["cast-failed"] ?? 0) > 0;
    expect(column.presence[0]).toBe(lost ? Presence.null : Presence.value);
    expect(cast1[0] === null).toBe(lost);
  });

  test("casting to the same type keeps the column", () => {
    for (const type of types) {
      const column = columnOf(type, [sample[type]]);
      expect(castColumn(column, type, "f", new RecordingStageContext())).toBe(column);
    }
  });

  test.each<[FieldType, FieldType[]]>([
    ["boolean", ["date", "time", "datetime", "binary"]],
    ["double", ["date", "time", "datetime", "binary"]],
    ["date", ["boolean", "int32", "int64", "double", "time", "binary"]],
    ["time", ["boolean", "int32", "int64", "double", "date", "datetime", "binary"]],
    ["binary", ["boolean", "int32", "int64", "double", "date", "time", "datetime"]],
  ])("casting %s fails as %j only", (from, failing) => {
    expect(types.filter((to) => cast(from, [sample[from]], to).losses["cast-failed"])).toEqual(failing);
  });
});

const byHand: [FieldType, Exclude<Value, null>, FieldType, Value, Record<string, number>][] = [
  ["int32", -2147483648, "text", "-2147483648", {}],
  ["int32", 0, "text", "0", {}],
  ["int32", 1000000000, "text", "1000000000", {}],
  ["int32", 999, "json", "999", {}],
  ["int32", 5, "double", 5, {}],
  ["int32", -5, "int64", -5n, {}],
  ["int32", 2, "boolean", null, { "cast-failed": 1 }],
  ["int64", 2147483648n, "int32", null, { "cast-failed": 1 }],
  ["int64", -2147483648n, "int32", -2147483648, {}],
  ["int64", 9007199254740993n, "double", 9007199254740992, { rounded: 1 }],
  ["int64", 9007199254740994n, "double", 9007199254740994, {}],
  ["int64", 9007199254740993n, "text", "9007199254740993", {}],
  ["int64", 9007199254740993n, "json", '"9007199254740993"', {}],
  ["double", 1.5, "int32", 2, { "cast-rounded": 1 }],
  ["double", -1.5, "int32", -2, { "cast-rounded": 1 }],
  ["double", 1.49, "int64", 1n, { "cast-rounded": 1 }],
  ["double", 3e9, "int32", null, { "cast-failed": 1 }],
  ["double", 3e9, "int64", 3000000000n, {}],
  ["double", 2 ** 63, "int64", null, { "cast-failed": 1 }],
  ["double", -(2 ** 63), "int64", -9223372036854775808n, {}],
  ["double", Number.NaN, "int32", null, { "cast-failed": 1 }],
  ["double", Number.NaN, "json", null, { "cast-failed": 1 }],
  ["double", Number.NEGATIVE_INFINITY, "text", "-Infinity", {}],
  ["double", 0.1, "text", "0.1", {}],
  ["text", " 12 ", "int32", 12, {}],
  ["text", "12.5", "int32", 13, { "cast-rounded": 1 }],
  ["text", "1e3", "int32", 1000, {}],
  ["text", "12 m", "int32", null, { "cast-failed": 1 }],
  ["text", "1,5", "double", null, { "cast-failed": 1 }],
  ["text", "0x10", "double", null, { "cast-failed": 1 }],
  ["text", "", "double", null, {}],
  ["text", "+9007199254740993", "int64", 9007199254740993n, {}],
  ["text", "9223372036854775808", "int64", null, { "cast-failed": 1 }],
  ["text", "Yes", "boolean", true, {}],
  ["text", "maybe", "boolean", null, { "cast-failed": 1 }],
  ["text", "2024/02/29", "date", "2024-02-29", {}],
  ["text", "2023-02-29", "date", null, { "cast-failed": 1 }],
  ["text", "29.02.2024", "date", null, { "cast-failed": 1 }],
  ["text", "2024-02-29 12:30:00Z", "datetime", "2024-02-29T12:30:00Z", {}],
  ["text", "2024-02-29", "datetime", "2024-02-29T00:00:00", {}],
  ["text", "2024/02/29 12:30:00", "date", "2024-02-29", { "time-dropped": 1 }],
  ["text", "12:30:00.25", "time", "12:30:00.25", {}],
  ["date", "2024-02-29", "datetime", "2024-02-29T00:00:00", {}],
  ["date", "2024-02-29", "text", "2024-02-29", {}],
  ["date", "2024-02-29", "json", '"2024-02-29"', {}],
  ["datetime", "2024-02-29T00:00:00", "date", "2024-02-29", {}],
  ["datetime", "2024-02-29T12:00:00+02:00", "date", "2024-02-29", { "time-dropped": 1 }],
  ["datetime", "2024-02-29T12:00:00+02:00", "time", "12:00:00", { "date-dropped": 1 }],
  ["boolean", true, "int32", 1, {}],
  ["boolean", false, "text", "false", {}],
  ["json", '"a \\"b\\""', "text", 'a "b"', {}],
  ["json", '{"a":1}', "text", '{"a":1}', {}],
  ["json", " [1]", "text", " [1]", {}],
  ["json", "[1]", "double", null, { "cast-failed": 1 }],
  ["json", "9007199254740993", "int64", 9007199254740993n, {}],
  ["json", "1.5e2", "double", 150, {}],
  ["json", "true", "boolean", true, {}],
  ["json", '"2024-02-29"', "date", "2024-02-29", {}],
  ["text", 'a "b"', "json", '"a \\"b\\""', {}],
  ["binary", Uint8Array.of(0xab, 0xcd, 0xef), "text", "q83v", {}],
  ["binary", Uint8Array.of(0xab, 0xcd, 0xef), "json", '"q83v"', {}],
  ["text", "q83v", "binary", Buffer.from("abcdef", "hex"), {}],
  ["text", "0xabcdef", "binary", Buffer.from("abcdef", "hex"), {}],
  ["text", "\\xABCDEF", "binary", Buffer.from("abcdef", "hex"), {}],
  ["text", "abcdef", "binary", Buffer.from("abcdef", "hex"), {}],
  ["text", "@", "binary", null, { "cast-failed": 1 }],
];

const shown = (value: Value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value));

for (const [from, value, to, expected, losses] of byHand) {
  test(`${from} ${shown(value)} as ${to} is ${shown(expected)}`, () => {
    const result = cast(from, [value], to);
    expect(result.losses).toEqual(losses);
    const [found] = result.values;
    expect(found instanceof Uint8Array ? Buffer.from(found) : found).toEqual(expected);
  });
}

test("bytes survive a cast to text and back", () => {
  // Twelve zero bytes are sixteen letters A in base64, which are hexadecimal digits too.
  const bytes = new Uint8Array(12);
  const text = cast("binary", [bytes], "text").column;
  expect(valueAt(text, 0)).toBe("AAAAAAAAAAAAAAAA");
  expect(valueAt(castColumn(text, "binary", "f", new RecordingStageContext()), 0)).toEqual(bytes);
});

test("losses of a batch are counted in one call, with an example", () => {
  const calls: unknown[][] = [];
  const reportLoss = (...call: unknown[]) => void calls.push(call);
  castColumn(columnOf("text", ["a", "1", "b", null, undefined]), "int32", "f", { reportLoss });
  expect(calls).toEqual([["cast-failed", "f", expect.stringContaining('"a"'), 2]]);
});

test("dates share their bytes as text", () => {
  const column = columnOf("date", ["2024-02-29", null]);
  const text = castColumn(column, "text", "f", new RecordingStageContext());
  expect("bytes" in text && "bytes" in column && text.bytes === column.bytes).toBe(true);
});

describe("casts of text of one temporal type", () => {
  const texts = [
    "2024-02-29",
    "2023-02-29",
    "2024-02-29T01:02:03Z",
    "01:02:03",
    "2024/02/29",
    " 2024-03-01",
    "x",
    null,
  ];
  test.each<FieldType>(["date", "time", "datetime"])("is cast to %s as each of its values is", (to) => {
    const some = fc.array(fc.constantFrom(...texts.slice(0, 4), null, undefined), { minLength: 1, maxLength: 3 });
    const any = fc.array(fc.constantFrom(...texts, undefined), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.oneof(some, any), (given) => {
        const costs = new CastLosses();
        const each = given.map((text) => (typeof text === "string" ? castValue(text, "text", to, costs) : null));
        const counts = Object.fromEntries([...costs.byCode].map(([code, { count }]) => [code, count]));
        const { values: together, losses, column } = cast("text", given, to);
        expect(together).toEqual(each);
        expect(losses).toEqual(counts);
        const absent = given.map((text) => text === undefined);
        expect(Array.from(column.presence, (presence) => presence === Presence.absent)).toEqual(absent);
      }),
    );
  });

  test("text of a single temporal type keeps its bytes when it is cast", () => {
    const column = columnOf("text", ["2024-02-29", null, "2023-01-31"]) as BytesColumn;
    expect((castColumn(column, "date", "f", new RecordingStageContext()) as BytesColumn).bytes).toBe(column.bytes);
  });
});

test("integers that a double rounds are a loss from text and json, as from int64", () => {
  const long = "9007199254740993";
  expect(cast("text", [long, `+${long}`, "9007199254740992", "7"], "double")).toMatchObject({
    values: [9007199254740992, 9007199254740992, 9007199254740992, 7],
    losses: { rounded: 2 },
  });
  expect(cast("json", [long, `"${long}"`, "1e300"], "double").losses).toEqual({ rounded: 2 });
});
