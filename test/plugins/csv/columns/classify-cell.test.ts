import { describe, expect, test } from "vitest";
import { CellTypeFlag, classifyCell, inferFieldType } from "../../../../plugins/shared/table/columns/classify-cell.js";
import { classifyTemporal, toCanonicalTemporal } from "../../../../plugins/shared/table/columns/temporal.js";
import { parseAngle, parseAngles } from "../../../../plugins/shared/table/geometry/angles.js";

const sortOf = (text: string, decimal = ".") => {
  const bytes = Buffer.from(`9${text}9`);
  return classifyCell(bytes, 1, bytes.length - 1, decimal.charCodeAt(0));
};

describe("a cell", () => {
  test.each([
    ["", CellTypeFlag.blank],
    ["   ", CellTypeFlag.blank],
    ["0", CellTypeFlag.int32],
    ["-17", CellTypeFlag.int32],
    [" 5 ", CellTypeFlag.int32],
    ["2147483647", CellTypeFlag.int32],
    ["2147483648", CellTypeFlag.int64],
    ["-2147483648", CellTypeFlag.int32],
    ["-2147483649", CellTypeFlag.int64],
    ["9007199254740991", CellTypeFlag.int64],
    ["9007199254740993", CellTypeFlag.int64 | CellTypeFlag.wide],
    ["9223372036854775807", CellTypeFlag.int64 | CellTypeFlag.wide],
    ["9223372036854775808", CellTypeFlag.text],
    ["-9223372036854775808", CellTypeFlag.int64 | CellTypeFlag.wide],
    ["-9223372036854775809", CellTypeFlag.text],
    ["12345678901234567890", CellTypeFlag.text],
    ["007", CellTypeFlag.text],
    ["-07", CellTypeFlag.text],
    ["00.5", CellTypeFlag.text],
    ["+5", CellTypeFlag.text],
    ["+49301234567", CellTypeFlag.text],
    ["-0", CellTypeFlag.double],
    ["0.5", CellTypeFlag.double],
    [".5", CellTypeFlag.double],
    ["-.5", CellTypeFlag.double],
    ["5.", CellTypeFlag.double],
    ["1.50", CellTypeFlag.double],
    ["1e5", CellTypeFlag.double],
    ["1E-5", CellTypeFlag.double],
    ["1.5e+300", CellTypeFlag.double],
    ["1e400", CellTypeFlag.text],
    ["1e-400", CellTypeFlag.text],
    ["1e", CellTypeFlag.text],
    ["1.2.3", CellTypeFlag.text],
    ["1,5", CellTypeFlag.text],
    ["1 000", CellTypeFlag.text],
    ["12abc", CellTypeFlag.text],
    [".", CellTypeFlag.text],
    ["-", CellTypeFlag.text],
    ["true", CellTypeFlag.boolean],
    ["FALSE", CellTypeFlag.boolean],
    ["True", CellTypeFlag.boolean],
    ["yes", CellTypeFlag.text],
    ["t", CellTypeFlag.text],
    ["NaN", CellTypeFlag.nonFinite],
    ["-inf", CellTypeFlag.nonFinite],
    ["Infinity", CellTypeFlag.nonFinite],
    ["2020-02-29", CellTypeFlag.date],
    ["2019-02-29", CellTypeFlag.text],
    ["2020/12/31", CellTypeFlag.date],
    ["2020-12/31", CellTypeFlag.text],
    ["2020-13-01", CellTypeFlag.text],
    ["31.12.2020", CellTypeFlag.text],
    ["12:30:00", CellTypeFlag.time],
    ["12:30", CellTypeFlag.text],
    ["24:00:00", CellTypeFlag.text],
    ["12:30:00.25", CellTypeFlag.time],
    ["2020-01-02T03:04:05Z", CellTypeFlag.datetime],
    ["2020-01-02 03:04", CellTypeFlag.datetime],
    ["2020/01/02 03:04:05+02", CellTypeFlag.datetime],
    ["2020-01-02T03:04:05.123+0530", CellTypeFlag.datetime],
    ["2020-01-02T03:04:05+25:00", CellTypeFlag.text],
    ["2020-01-02x", CellTypeFlag.text],
  ])("the cell %j is classified", (text, sort) => expect(sortOf(text)).toBe(sort));

  test("a cell with a decimal comma is classified", () => {
    expect(sortOf("1,5", ",")).toBe(CellTypeFlag.double);
    expect(sortOf("-1,5e3", ",")).toBe(CellTypeFlag.double);
    expect(sortOf("1.5", ",")).toBe(CellTypeFlag.text);
    expect(sortOf("1.234,5", ",")).toBe(CellTypeFlag.text);
    expect(sortOf("5", ",")).toBe(CellTypeFlag.int32);
  });
});

describe("a column", () => {
  test.each([
    [0, "text"],
    [CellTypeFlag.int32, "int32"],
    [CellTypeFlag.int32 | CellTypeFlag.int64 | CellTypeFlag.wide, "int64"],
    [CellTypeFlag.int32 | CellTypeFlag.double, "double"],
    [CellTypeFlag.int64 | CellTypeFlag.double, "double"],
    // A double would round it, so nothing but text holds both.
    [CellTypeFlag.int64 | CellTypeFlag.wide | CellTypeFlag.double, "text"],
    [CellTypeFlag.double | CellTypeFlag.nonFinite, "double"],
    [CellTypeFlag.int32 | CellTypeFlag.nonFinite, "double"],
    [CellTypeFlag.nonFinite, "text"],
    [CellTypeFlag.boolean, "boolean"],
    [CellTypeFlag.boolean | CellTypeFlag.int32, "text"],
    [CellTypeFlag.date, "date"],
    [CellTypeFlag.date | CellTypeFlag.datetime, "text"],
    [CellTypeFlag.datetime, "datetime"],
    [CellTypeFlag.time, "time"],
    [CellTypeFlag.int32 | CellTypeFlag.text, "text"],
  ])("a column of the cell types %d has the type %s", (sorts, type) => expect(inferFieldType(sorts)).toBe(type));
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
  expect(classifyTemporal(bytes, 0, bytes.length)).toBeGreaterThan(0);
  expect(toCanonicalTemporal(bytes, 0, bytes.length)).toBe(canonical);
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
  ])("coordinates in degrees, minutes and seconds: %s", (text, degrees, axis) => {
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
  ])("two coordinates in degrees, minutes and seconds: %s", (text, degrees) => {
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
  ])("%j is not a coordinate in degrees, minutes and seconds", (text) => expect(parseAngle(text, null)).toBeNull());
});
