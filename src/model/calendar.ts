/** The proleptic Gregorian calendar, with astronomical years: the year 0 precedes the year 1. */

/** A day of the calendar; months and days of the month count from 1. */
export interface CalendarDate {
  year: number;
  month: number;
  day: number;
}

const daysByMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** Number of days of a month; 0 for a month that does not exist. */
export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (daysByMonth[month - 1] ?? 0);

export const isCalendarDate = (year: number, month: number, day: number): boolean =>
  day >= 1 && day <= daysInMonth(year, month);

/** Days from 0000-03-01 to 1970-01-01. */
const daysBefore1970 = 719_468;
/** Days of 400 years, after which the calendar repeats. */
const daysPerEra = 146_097;

/**
 * Days from 1970-01-01 to a valid date.
 * @see https://howardhinnant.github.io/date_algorithms.html#days_from_civil
 */
export function daysFromDate(year: number, month: number, day: number): number {
  // Years begin in March, so that the leap day is the last one.
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * daysPerEra + dayOfEra - daysBefore1970;
}

/**
 * Writes the date of a day since 1970-01-01 into an object, so that none has to be created for each value.
 * @see https://howardhinnant.github.io/date_algorithms.html#civil_from_days
 */
export function dateFromDays(days: number, into: CalendarDate): void {
  const shifted = days + daysBefore1970;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  into.month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  into.year = yearOfEra + era * 400 + (into.month <= 2 ? 1 : 0);
  into.day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
}
