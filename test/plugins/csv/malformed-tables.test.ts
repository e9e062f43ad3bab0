/** Coordinates as they stand in tables that people made by hand. */
import { afterAll, expect, test } from "vitest";
import { TemporaryFolder } from "../../support/read-layers.js";
import { geometries, readText } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

test.each([
  ["a minus sign of typography", "lat;lon\n\u221222,9;\u221243,2\n", point(-43.2, -22.9)],
  ["metres behind numbers", "Ostwert;Nordwert\n565000 m;5935000 m\n", point(565000, 5935000)],
  ["the east of Swedish", "Lat;Long\n55° 36' N;13° 30' Ö\n", point(13.5, 55.6)],
  ["the east of Danish", "bredde;længde\n55° 36' N;Ø 12° 30'\n", point(12.5, 55.6)],
  ["degrees in columns that could be lengths", "Breite;Länge\n48° 30';16° 15'\n", point(16.25, 48.5)],
  ["a column of both with a German name", 'Koordinaten\n"48.5, 16.25"\n', point(16.25, 48.5)],
])("a malformed table: %s", async (_, table, expected) =>
  expect(geometries(await readText(scratch, table))).toEqual([expected]),
);

test("columns with coordinate names and unreadable values get a notice", async () => {
  const { recording } = await readText(scratch, "lat;lon\nnorth of it;east of it\n");
  expect(recording.notices).toMatchObject([{ code: "coordinates-left-out", example: /"east of it" is none/ }]);
});
