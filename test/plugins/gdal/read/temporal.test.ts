/** Dates of OGR, in the form of gdal-async and as text. */
import { expect, test } from "vitest";
import { partsToIso, textToIso } from "../../../../plugins/gdal/read/temporal.js";

test.each([
  [2024, 2, 29, "2024-02-29"],
  [2023, 2, 29, null],
  [2023, 6, 31, null],
  [2023, 0, 1, null],
])("%i, %i, %i is %s", (year, month, day, iso) => {
  expect(partsToIso("date", { year, month, day })).toBe(iso);
  expect(textToIso("date", `${year}/${month}/${day}`)).toBe(iso);
  const moment = iso && `${iso}T10:00:00`;
  expect(partsToIso("datetime", { year, month, day, hour: 10 })).toBe(moment);
  expect(textToIso("datetime", `${year}/${month}/${day} 10:00:00`)).toBe(moment);
});
