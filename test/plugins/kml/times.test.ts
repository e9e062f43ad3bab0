import { expect, test } from "vitest";
import { isKmlTime, parseTimespan } from "../../../plugins/kml/times.js";

test.each([
  "2020",
  "2020-12",
  "2020-01-15",
  "2020-02-29",
  "0004-02-29",
  "2020-01-19T10:00:00",
  "2020-01-19T10:00:00.5Z",
  "2020-12-31T23:59:59+14:00",
])("%s is a time of KML (XML Schema: gYear, gYearMonth, date, dateTime)", (text) => expect(isKmlTime(text)).toBe(true));

test.each([
  "",
  "0000",
  "20",
  "2020-13",
  "2021-02-29",
  "2020-01-15Z",
  "10:00:00",
  "2020-01-19T10:00:00+14:30",
  "2020-01-19T10:00:00-15:00",
  "soon",
])("%s is not a time of KML", (text) => expect(isKmlTime(text)).toBe(false));

test("a time span has a begin, an end, or both, and nothing else", () => {
  expect(parseTimespan('{"begin":"2020","end":"2021-01-15"}')).toEqual({ begin: "2020", end: "2021-01-15" });
  expect(parseTimespan('{"end":"2021"}')).toEqual({ end: "2021" });
  for (const json of ["{}", "[]", "null", '"2020"', '{"begin":"soon"}', '{"begin":"2020","why":"x"}']) {
    expect(parseTimespan(json)).toBeNull();
  }
});
