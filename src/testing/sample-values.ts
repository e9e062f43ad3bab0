import type { Value } from "../model/column.js";
import type { FieldType } from "../model/field.js";

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Values of each type that formats and programs stumble over, the plainest first. */
export const edgeValues: Readonly<Record<FieldType, readonly Value[]>> = {
  boolean: [true, false],
  int32: [1, 0, -1, 42, 2147483647, -2147483648],
  int64: [1n, 0n, -1n, 9007199254740991n, 9007199254740993n, 9223372036854775807n, -9223372036854775808n],
  double: [0.5, 0, -1.5, 0.1, 1 / 3, 123456.789, 1e21, -1.7976931348623157e308, 5e-324],
  text: [
    "plain",
    "",
    "007",
    "1e5",
    "true",
    "null",
    "NaN",
    "2020-01-01",
    "  blanks around  ",
    'a "quoted" word',
    "it's",
    "comma, semicolon; tab\tand | bar",
    "two\nlines",
    "two\r\nlines",
    "back\\slash",
    "<b>&amp;</b> & ]]>",
    "=1+1",
    "# no comment",
    "Straße, café, Łódź",
    "Αθήνα",
    "Москва",
    "東京都",
    "القاهرة",
    "e\u0301 (decomposed)",
    "😀 beyond the basic plane",
  ],
  date: ["2024-02-29", "1970-01-01", "1583-10-15", "9999-12-31", "0001-01-01"],
  time: ["10:11:12", "00:00:00", "23:59:59", "12:30:00.25"],
  datetime: [
    "2024-02-29T23:59:59",
    "1970-01-01T00:00:00Z",
    "2021-06-30T12:00:00+05:45",
    "1999-12-31T23:59:59.999Z",
    "1900-01-01T06:00:00-03:00",
  ],
  binary: [bytes(1, 2, 3), bytes(0), bytes(0xff, 0xfe, 0, 0x80, 0x0a), bytes()],
  json: ['{"a":1,"b":[true,null,"x"]}', "[]", "[1,2.5,-3]", '{"nested":{"deep":{"é":"😀"}}}', "{}"],
};

/** Texts longer than a kind of record that has a limit takes. */
export const longTexts: readonly string[] = [
  "x".repeat(254),
  "ä".repeat(127),
  "é".repeat(128),
  "0123456789".repeat(7000),
];

/** Numbers that text formats and many others have no way to say. */
export const nonFinite: readonly number[] = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** Names that need quoting, clash when cut or in lower case, or mean something to JavaScript. */
export const edgeFieldNames: readonly string[] = [
  "name",
  "Name",
  "two words",
  'a "quoted" name',
  "comma,semicolon;",
  "dots.and/slashes",
  "Straße",
  "Население",
  "人口",
  "a_long_name_that_no_table_of_the_1980s_could_hold_1",
  "a_long_name_that_no_table_of_the_1980s_could_hold_2",
  "constructor",
  "__proto__",
];
