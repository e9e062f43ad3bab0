import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { Batch } from "../../../src/model/batch.js";
import type { Value } from "../../../src/model/column.js";
import type { FieldType } from "../../../src/model/field.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { referencedFields } from "../../../src/stages/where/index.js";
import { applyStage, batchOf, columnOf } from "../stage-fixture.js";

type Table = Readonly<Record<string, readonly [FieldType, readonly (Value | undefined)[]]>>;

function tableBatch(table: Table): Batch {
  const names = Object.keys(table);
  const length = table[names[0]!]![1].length;
  const geometry = new GeometryBuilder();
  for (let i = 0; i < length; i++) geometry.addNull();
  return new Batch({
    length,
    ids: null,
    fields: names.map((name) => ({ name, type: table[name]![0] })),
    columns: names.map((name) => columnOf(...table[name]!)),
    geometry: geometry.finish(),
    recordNumbers: null,
    firstRecord: 0,
  });
}

/** The rows, from 0, that the condition keeps. */
async function kept(expression: string, batch: Batch): Promise<number[]> {
  const { batch: left } = await applyStage("where", { expression }, batch);
  return Array.from({ length: left.length }, (_, row) => left.recordAt(row) - batch.recordAt(0));
}

const holds = async (expression: string, table: Table = { x: ["int32", [1]] }) =>
  (await kept(expression, tableBatch(table))).length === 1;

/** SQL's third truth shows in that neither a condition nor its negation holds. */
async function truth(expression: string, table?: Table): Promise<"true" | "false" | "unknown"> {
  if (await holds(expression, table)) return "true";
  return (await holds(`not (${expression})`, table)) ? "false" : "unknown";
}

describe("three-valued logic", () => {
  // ISO/IEC 9075-2, 6.39 <boolean value expression>, tables of AND, OR and NOT.
  test.each([
    ["true", "true", "true", "true"],
    ["true", "false", "false", "true"],
    ["true", "null", "unknown", "true"],
    ["false", "true", "false", "true"],
    ["false", "false", "false", "false"],
    ["false", "null", "false", "unknown"],
    ["null", "true", "unknown", "true"],
    ["null", "false", "false", "unknown"],
    ["null", "null", "unknown", "unknown"],
  ])("three-valued logic, %s with %s: and is %s, or is %s", async (left, right, and, or) => {
    expect(await truth(`${left} and ${right}`)).toBe(and);
    expect(await truth(`${left} or ${right}`)).toBe(or);
  });

  test.each([
    ["not null", "unknown"],
    ["x = null", "unknown"],
    ["x in (1, null)", "true"],
    ["x in (2, null)", "unknown"],
    ["x not in (2, null)", "unknown"],
    ["null between 1 and 2", "unknown"],
    ["x between 2 and null", "false"],
    ["null like '%'", "unknown"],
    ["null is null", "true"],
    ["x is not null", "true"],
    ["missing = 1", "unknown"],
    ["missing is null", "true"],
  ])("three-valued logic, %s is %s", async (expression, expected) => {
    expect(await truth(expression)).toBe(expected);
  });
});

describe("precedence", () => {
  test.each([
    ["true or true and false", true],
    ["(true or true) and false", false],
    ["not false and false", false],
    ["not (false and false)", true],
    ["not x = 2", true],
    ["x between 0 and 1 and false", false],
    ["not not true", true],
    ["x == 1 and x != 2", true],
    ["-1 < +1", true],
    ["x = (1)", true],
    ["x IN (1) AND x Is Not Null", true],
  ])("precedence: %s is %s", async (expression, expected) => {
    expect(await holds(expression)).toBe(expected);
  });
});

describe("comparing", () => {
  test("64-bit numbers are compared exactly", async () => {
    const big: Table = { x: ["int64", [9007199254740993n]] };
    expect(await truth("x = 9007199254740993", big)).toBe("true");
    expect(await truth("x = 9007199254740992", big)).toBe("false");
    expect(await truth("x > 9007199254740992.0", big)).toBe("true");
    expect(await truth("x = '9007199254740993'", big)).toBe("true");
    expect(await truth("9007199254740992 < x", big)).toBe("true");
    expect(await truth("x in (1, 9007199254740992)", big)).toBe("false");
  });

  test("texts are compared by code points, not by UTF-16", async () => {
    const text: Table = { x: ["text", ["\u{1F600}"]], y: ["text", ["\uFF5E"]] };
    expect(await truth("x > '\uFF5E'", text)).toBe("true");
    expect(await truth("x > y", text)).toBe("true");
    expect(await truth("'Z' < 'a'")).toBe("true");
  });

  test("a number and a text are compared as numbers if the text is one", async () => {
    const code: Table = { x: ["text", ["07"]], n: ["double", [7]] };
    expect(await truth("x = 7", code)).toBe("true");
    expect(await truth("x = n", code)).toBe("true");
    expect(await truth("x = '7'", code)).toBe("false");
    expect(await truth("n = '7.0'", code)).toBe("true");
    expect(await truth("n <> 'seven'", code)).toBe("unknown");
  });

  test("dates are compared as ISO text, in the notations that casts accept, too", async () => {
    const day: Table = { d: ["date", ["2024-03-01"]], t: ["datetime", ["2024-03-01T12:00:00"]] };
    expect(await truth("d = '2024/03/01'", day)).toBe("true");
    expect(await truth("d > '2024-02-29'", day)).toBe("true");
    expect(await truth("t = '2024-03-01 12:00:00'", day)).toBe("true");
    expect(await truth("t between '2024-03-01' and '2024-03-02'", day)).toBe("true");
  });

  test("booleans, json and bytes are compared", async () => {
    const table: Table = {
      b: ["boolean", [true]],
      j: ["json", ['"text"']],
      n: ["json", ["12"]],
      z: ["json", ["null"]],
      x: ["binary", [Uint8Array.of(1)]],
      inf: ["double", [Number.NaN]],
    };
    expect(await truth("b", table)).toBe("true");
    expect(await truth("b = true and b = 1 and b = 'TRUE'", table)).toBe("true");
    expect(await truth("b = 'x'", table)).toBe("unknown");
    expect(await truth("j = 'text' and n > 11 and z is null", table)).toBe("true");
    expect(await truth("x = 'AQ=='", table)).toBe("unknown");
    expect(await truth("x = x", table)).toBe("true");
    expect(await truth("inf = 1", table)).toBe("unknown");
    expect(await truth("inf", table)).toBe("unknown");
  });
});

describe("like", () => {
  test.each([
    ["a_c", "abc", true],
    ["a_c", "ac", false],
    ["_", "\u{1F600}", true],
    ["%\u{1F600}", "x\u{1F600}", true],
    ["%", "", true],
    ["", "", true],
    ["", "a", false],
    ["100\\%", "100%", true],
    ["100\\%", "1000", false],
    ["%b%a", "abba", true],
    ["%ab", "aab", true],
    ["%a%%b_", "xaxxbx", true],
    ["ABC", "abc", false],
    ["a.c", "abc", false],
  ])("like: %j against %j is %s", async (pattern, text, expected) => {
    expect(await holds(`x like '${pattern}'`, { x: ["text", [text]] })).toBe(expected);
  });

  test("escape sets another character; ilike ignores case in any script", async () => {
    expect(await holds("x like '5!%' escape '!'", { x: ["text", ["5%"]] })).toBe(true);
    expect(await holds("x ilike 'STRASSE Ж%'", { x: ["text", ["strasse жук"]] })).toBe(true);
    expect(await holds("x ilike 'οδός'", { x: ["text", ["ΟΔΌΣ"]] })).toBe(true);
    expect(await holds("x ilike 'ma_E'", { x: ["text", ["Maße"]] })).toBe(true);
    expect(await holds("x like '1_'", { x: ["int32", [12]] })).toBe(true);
  });

  test("a malicious pattern takes at most the product of pattern and text length", async () => {
    const text = "a".repeat(20_000);
    const started = performance.now();
    expect(await holds(`x like '${"%a".repeat(500)}b'`, { x: ["text", [text]] })).toBe(false);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("names", () => {
  test("names can have any script, quotes, spaces, and special characters", async () => {
    const table: Table = {
      größe: ["int32", [1]],
      "a b": ["int32", [2]],
      'q"q': ["int32", [3]],
      "addr:no": ["int32", [4]],
    };
    expect(await holds('größe = 1 and "a b" = 2 and "q""q" = 3 and addr:no = 4', table)).toBe(true);
    const batch = batchOf([{ type: "Point", coordinates: [1, 2] }, null, { type: "LineString", coordinates: [] }]);
    expect(await kept("$type = 'Point'", batch)).toEqual([0]);
    expect(await kept("$type is null", batch)).toEqual([1]);
    expect(await kept("$type like '%String'", batch)).toEqual([2]);
    expect(await kept("$id is null", batch)).toEqual([0, 1, 2]);
  });

  test("fieldsOf lists names once each", () => {
    expect(
      referencedFields(`b = 1 and not (a in (c, 2) or "a b" is null) or b like 'x' and $id = 1 and 'd' < e`),
    ).toEqual(["b", "a", "c", "a b", "e"]);
  });
});

describe("error positions", () => {
  test.each([
    ["", 1],
    ["a = ", 5],
    ["a = 'x", 5],
    ['größe = "x', 9],
    ["a = 1 b", 7],
    ["(a = 1", 7],
    ["a in ()", 7],
    ["a like b", 8],
    ["a like 'x\\'", 8],
    ["a = 1 = 2", 7],
    ["a and 5", 7],
    ["'x'", 1],
    ["a not 5", 7],
    ["a is 5", 6],
    ["\u{1F600}", 1],
    ["a = ; drop table t", 5],
    ["$area > 5", 1],
    ["5a = 1", 2],
    ["and = 1", 1],
    ["a = constructor(1)", 16],
    ["(a = 1) = true", 9],
    ["(".repeat(10_000), 201],
  ])("an error in %j points at column %i", async (expression, column) => {
    const error: unknown = await holds(expression).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GeoferryError);
    expect(error).toMatchObject({ code: "expression-invalid", details: { column } });
  });

  test("a long chain of conditions is not deep nesting", async () => {
    expect(await holds(Array.from({ length: 20_000 }, () => "x = 1").join(" and "))).toBe(true);
  });
});

describe("the same answers as SQLite", () => {
  const text = fc.constantFrom("", "a", "A", "ab", "b%", "a_b", "ä", "é", "zz", "\uFF5E", "\u{1F600}", "it's");
  const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -1.25, 1e10, 2 ** 53, 1e300));
  const quote = (value: string) => `'${value.replaceAll("'", "''")}'`;
  const numeric = fc.oneof(fc.constantFrom("i", "r", "null"), number.map(String));
  const textual = fc.oneof(fc.constantFrom("s", '"t u"', "null"), text.map(quote));
  const operator = fc.constantFrom("=", "<>", "!=", "==", "<", "<=", ">", ">=");
  const not = fc.constantFrom("", "not ");
  const pattern = fc
    .array(fc.constantFrom("%", "_", "a", "A", "b", "!%", "!_", "!!", "ä", "\u{1F600}"))
    .map((p) => p.join(""));

  const leaf = (values: fc.Arbitrary<string>) =>
    fc.oneof(
      fc.tuple(values, operator, values).map((t) => t.join(" ")),
      fc
        .tuple(values, not, fc.array(values, { minLength: 1, maxLength: 4 }))
        .map(([v, n, l]) => `${v} ${n}in (${l.join(", ")})`),
      fc.tuple(values, not, values, values).map(([v, n, a, b]) => `${v} ${n}between ${a} and ${b}`),
      fc.tuple(values, not).map(([v, n]) => `${v} is ${n}null`),
    );
  const { condition } = fc.letrec<{ condition: string }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 4 },
      leaf(numeric),
      leaf(textual),
      fc.tuple(fc.constantFrom("s", '"t u"'), not, pattern).map(([v, n, p]) => `${v} ${n}like '${p}' escape '!'`),
      fc.constantFrom("true", "false", "i", "r"),
      fc.tuple(tie("condition"), fc.constantFrom("and", "or"), tie("condition")).map((t) => t.join(" ")),
      tie("condition").map((c) => `not ${c}`),
      tie("condition").map((c) => `(${c})`),
    ),
  }));
  const row = fc.tuple(fc.option(fc.integer({ min: -3, max: 3 })), fc.option(number), fc.option(text), fc.option(text));

  test("generated rows and conditions give the same answers as SQLite", async () => {
    const rows = fc.sample(row, { seed: 7, numRuns: 60 });
    const conditions = fc.sample(condition, { seed: 11, numRuns: 3000 });
    const oracle = spawnSync("python3", [fileURLToPath(new URL("oracle.py", import.meta.url))], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      input: JSON.stringify({
        columns: [
          ["i", "integer"],
          ["r", "real"],
          ["s", "text"],
          ["t u", "text"],
        ],
        rows,
        conditions,
      }),
    });
    expect(oracle.stderr).toBe("");
    const expected = oracle.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as number[]);
    const batch = tableBatch({
      i: ["int32", rows.map((r) => r[0])],
      r: ["double", rows.map((r) => r[1])],
      s: ["text", rows.map((r) => r[2])],
      "t u": ["text", rows.map((r) => r[3])],
    });
    expect(expected).toHaveLength(conditions.length);
    // Guards against an oracle or a generator that says nothing.
    expect(new Set(expected.map((found) => found.length)).size).toBeGreaterThan(30);
    for (const [at, expression] of conditions.entries()) {
      expect(await kept(expression, batch), expression).toEqual(expected[at]);
    }
  });
});

describe("a date, time or datetime is compared with the same", () => {
  const table: Table = {
    d: ["date", ["2020-06-15"]],
    t: ["time", ["12:30:00"]],
    s: ["datetime", ["2020-06-15T12:30:00Z"]],
    text: ["text", ["2020-06-15"]],
  };

  test.each([
    "d > '2020'",
    "d > '2020-06'",
    "d = '2020/06/15'",
    "d in ('2020-06-15')",
    "'2020-01-01' < d",
    "t >= '12'",
    "t < '12:30:01'",
    "s > '2020-06-15'",
    "s > '2020-06-15 12'",
    "s <> '2021-01-01T00:00:00Z'",
    "d is not null",
    "d like '2020%'",
    "text <> '31.12.2020'",
  ])("%s holds", async (expression) => {
    expect(await holds(expression, table)).toBe(true);
  });

  test.each([
    ["d > '31.12.2020'", "the field d, which is a date, with 31.12.2020; write it as in '2020-12-31'"],
    ["d > 2020", "the field d, which is a date, with 2020; write it as in '2020-12-31'"],
    ["'2020-6-1' < d", "the field d, which is a date, with 2020-6-1"],
    ["d in ('2020-06-15', 'soon')", "the field d, which is a date, with soon"],
    ["t = '12h'", "the field t, which is a time, with 12h; write it as in '12:30:00'"],
    ["s > 'yesterday'", "the field s, which is a datetime, with yesterday; write it as in '2020-12-31T12:30:00'"],
  ])("%s is an error, since no value could meet it", async (expression, message) => {
    await expect(holds(expression, table)).rejects.toThrow(message);
  });
});
