import { expect, test } from "vitest";
import { dateFromDays, daysFromDate, daysInMonth, isCalendarDate } from "../../src/model/calendar.js";

/** The same by ECMAScript's calendar, which is the proleptic Gregorian one (ECMA-262, 21.4.1). */
function dateBySystem(days: number) {
  const date = new Date(days * 86_400_000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

test("days since 1970 and dates are converted like ECMAScript does, from the year -4 to 10000", () => {
  const date = { year: 0, month: 0, day: 0 };
  // Every eleventh day meets every day of every month, and those around leap days are added.
  const days = Array.from({ length: 332_000 }, (_, n) => -721_000 + 11 * n);
  for (const year of [0, 1600, 1900, 2000, 2024, 2100]) {
    const march = new Date(0).setUTCFullYear(year, 2, 1) / 86_400_000;
    days.push(march - 2, march - 1, march);
  }
  const wrong = days.filter((day) => {
    dateFromDays(day, date);
    const { year, month, day: ofMonth } = dateBySystem(day);
    const isSame = date.year === year && date.month === month && date.day === ofMonth;
    return !isSame || daysFromDate(year, month, ofMonth) !== day;
  });
  expect(wrong).toEqual([]);
});

test.each([
  [2023, 2, 28],
  [2024, 2, 29],
  [1900, 2, 28],
  [2000, 2, 29],
  [2023, 4, 30],
  [2023, 12, 31],
  [2023, 0, 0],
  [2023, 13, 0],
])("the month %i-%i has %i days", (year, month, days) => {
  expect(daysInMonth(year, month)).toBe(days);
  expect(isCalendarDate(year, month, days)).toBe(days > 0);
  expect(isCalendarDate(year, month, days + 1)).toBe(false);
});
