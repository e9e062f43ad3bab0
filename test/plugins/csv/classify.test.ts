import { describe, expect, test } from "vitest";
import { parseAngle, parseAngles } from "../../../plugins/csv/angles.js";
import { classify, Sort, typeOf } from "../../../plugins/csv/classify.js";
import { canonicalTemporal, temporalAt } from "../../../plugins/csv/temporal.js";

const sortOf = (text: string, decimal = ".") => {
  const bytes = Buffer.from(`9${text}9`);
  return classify(bytes, 1, bytes.length - 1, decimal.charCodeAt(0));
};

describe("a cell", () => {
  test.each([
    ["", Sort.blank],
    ["   ", Sort.blank],
    ["0", Sort.int32],
    ["-17", Sort.int32],
    [" 5 ", Sort.int32],
    ["2147483647", Sort.int32],
    ["2147483648", Sort.int64],
    ["-2147483648", Sort.int32],
    ["-2147483649", Sort.int64],
    ["9007199254740991", Sort.int64],
    ["9007199254740993", Sort.int64 | Sort.wide],
    ["9223372036854775807", Sort.int64 | Sort.wide],
    ["9223372036854775808", Sort.text],
    ["-9223372036854775808", Sort.int64 | Sort.wide],
    ["-9223372036854775809", Sort.text],
    ["12345678901234567890", Sort.text],
    ["007", Sort.text],
    ["-07", Sort.text],
    ["00.5", Sort.text],
    ["+5", Sort.text],
    ["+49301234567", Sort.text],
    ["-0", Sort.double],
    ["0.5", Sort.double],
    [".5", Sort.double],
    ["-.5", Sort.double],
    ["5.", Sort.double],
    ["1.50", Sort.double],
    ["1e5", Sort.double],
    ["1E-5", Sort.double],
    ["1.5e+300", Sort.double],
    ["1e400", Sort.text],
    ["1e-400", Sort.text],
    ["1e", Sort.text],
    ["1.2.3", Sort.text],
    ["1,5", Sort.text],
    ["1 000", Sort.text],
    ["12abc", Sort.text],
    [".", Sort.text],
    ["-", Sort.text],
    ["true", Sort.boolean],
    ["FALSE", Sort.boolean],
    ["True", Sort.boolean],
    ["yes", Sort.text],
    ["t", Sort.text],
    ["NaN", Sort.nonFinite],
    ["-inf", Sort.nonFinite],
    ["Infinity", Sort.nonFinite],
    ["2020-02-29", Sort.date],
    ["2019-02-29", Sort.text],
    ["2020/12/31", Sort.date],
    ["2020-12/31", Sort.text],
    ["2020-13-01", Sort.text],
    ["31.12.2020", Sort.text],
    ["12:30:00", Sort.time],
    ["12:30", Sort.text],
    ["24:00:00", Sort.text],
    ["12:30:00.25", Sort.time],
    ["2020-01-02T03:04:05Z", Sort.datetime],
    ["2020-01-02 03:04", Sort.datetime],
    ["2020/01/02 03:04:05+02", Sort.datetime],
    ["2020-01-02T03:04:05.123+0530", Sort.datetime],
    ["2020-01-02T03:04:05+25:00", Sort.text],
    ["2020-01-02x", Sort.text],
  ])("%j", (text, sort) => expect(sortOf(text)).toBe(sort));

  test("with a decimal comma", () => {
    expect(sortOf("1,5", ",")).toBe(Sort.double);
    expect(sortOf("-1,5e3", ",")).toBe(Sort.double);
    expect(sortOf("1.5", ",")).toBe(Sort.text);
    expect(sortOf("1.234,5", ",")).toBe(Sort.text);
    expect(sortOf("5", ",")).toBe(Sort.int32);
  });
});

describe("a column", () => {
  test.each([
    [0, "text"],
    [Sort.int32, "int32"],
    [Sort.int32 | Sort.int64 | Sort.wide, "int64"],
    [Sort.int32 | Sort.double, "double"],
    [Sort.int64 | Sort.double, "double"],
    // A double would round it, so nothing but text holds both.
    [Sort.int64 | Sort.wide | Sort.double, "text"],
    [Sort.double | Sort.nonFinite, "double"],
    [Sort.int32 | Sort.nonFinite, "double"],
    [Sort.nonFinite, "text"],
    [Sort.boolean, "boolean"],
    [Sort.boolean | Sort.int32, "text"],
    [Sort.date, "date"],
    [Sort.date | Sort.datetime, "text"],
    [Sort.datetime, "datetime"],
    [Sort.time, "time"],
    [Sort.int32 | Sort.text, "text"],
  ])("of sorts %d is %s", (sorts, type) => expect(typeOf(sorts)).toBe(type));
});

test.each([
  ["2020/01/02", "2020-01-02"],
  ["2020-01-02", "2020-01-02"],
  ["10:20:30.5", "10:20:30.5"],
  ["2020-01-02 03:04", "2020-01-02T03:04:00"],
  ["2020/01/02 03:04:05+02", "2020-01-02T03:04:05+02:00"],
  ["2020-01-02t03:04:05.10z", "2020-01-02T03:04:05.10Z"],
  ["2020-01-02T03:04:05-0330", "2020-01-02T03:04:05-03:30"],
])("%s is %s in ISO 8601", (text, canonical) => {
  const bytes = Buffer.from(text);
  expect(temporalAt(bytes, 0, bytes.length)).toBeGreaterThan(0);
  expect(canonicalTemporal(bytes, 0, bytes.length)).toBe(canonical);
});

describe("degrees, minutes and seconds", () => {
  test.each([
    ["23°N", 23, "lat"],
    ["26°W", -26, "lon"],
    ["40° 11′", 40 + 11 / 60, null],
    ["40° 11' 15\"", 40 + 11 / 60 + 15 / 3600, null],
    ["37°36'37.8\"N", 37 + 36 / 60 + 37.8 / 3600, "lat"],
    ["N 40 26.767", 40 + 26.767 / 60, "lat"],
    ["40:26:46 S", -(40 + 26 / 60 + 46 / 3600), "lat"],
    ["79d58'56\"W", -(79 + 58 / 60 + 56 / 3600), "lon"],
    ["40d26m46sN", 40 + 26 / 60 + 46 / 3600, "lat"],
    ["40d26m46.5sS", -(40 + 26 / 60 + 46.5 / 3600), "lat"],
    ["79d 58m 56s W", -(79 + 58 / 60 + 56 / 3600), "lon"],
    ["W79d58m56s", -(79 + 58 / 60 + 56 / 3600), "lon"],
    ["40d26m46S", -(40 + 26 / 60 + 46 / 3600), "lat"],
    ["-12°30'", -12.5, null],
    ["12.5 e", 12.5, "lon"],
  ])("%s", (text, degrees, axis) => {
    const angle = parseAngle(text, null);
    expect(angle?.degrees).toBeCloseTo(degrees, 12);
    expect(angle?.axis).toBe(axis);
  });

  test.each([
    ["40d26m46sN 79d58m56sW", [40 + 26 / 60 + 46 / 3600, -(79 + 58 / 60 + 56 / 3600)]],
    ["N40d26m46s W79d58m56s", [40 + 26 / 60 + 46 / 3600, -(79 + 58 / 60 + 56 / 3600)]],
    ["79°58′W40°26′N", [-(79 + 58 / 60), 40 + 26 / 60]],
    ["40 26 46 S 79 58 56 E", [-(40 + 26 / 60 + 46 / 3600), 79 + 58 / 60 + 56 / 3600]],
    ["40° 11′, 16° 22′ E", [40 + 11 / 60, 16 + 22 / 60]],
    ["40° N79°", null],
    ["40°N 41°N", null],
    ["40d26m46s 79d58m56s", null],
  ])("two of them: %s", (text, degrees) => {
    const angles = parseAngles(text, null);
    if (degrees === null) expect(angles).toBeNull();
    else for (const i of [0, 1]) expect(angles![i]!.degrees).toBeCloseTo(degrees[i]!, 12);
  });

  test.each([
    "12",
    "12 30",
    "",
    "N",
    "1°61'N",
    "91°N",
    "12 m N",
    "1.5°30'N",
    "-5°S",
    "N5°S",
    "1e5N",
    "foo",
    "361°",
    "40d26m46s",
    "40d26m61sN",
  ])("%j is none", (text) => expect(parseAngle(text, null)).toBeNull());
});
