/** The letter O in degrees: the east in German, Dutch and Scandinavian, the west in the Romance languages. */
import { afterAll, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { geometries, type Read, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });
const read = (content: string, options: Readonly<Record<string, string>> = {}) => readText(scratch, content, options);
const reasons = ({ recording }: Read) => recording.rejects.map(({ code, reason }) => `${code}: ${reason}`);

test.each([
  ["a German name of the column", "Name;Koordinaten\na;53° N, 9° O\n", [point(9, 53)]],
  ["the same without a comma", "Name;Koordinaten\na;53°12'N 9°30'O\n", [point(9.5, 53.2)]],
  ["a German name of an axis", "Breite;Länge\n53°12'N;9°30'O\n", [point(9.5, 53.2)]],
  ["a Dutch name of an axis", "breedtegraad;lengtegraad\n53°12'N;9°30'O\n", [point(9.5, 53.2)]],
  ["a Spanish name of an axis", "latitud;longitud\n40°30'N;3°30'O\n", [point(-3.5, 40.5)]],
  ["a French name of the column", "nom;coordonnées\na;48°30' N, 4°30' O\n", [point(-4.5, 48.5)]],
  ["a W beside it", "lat;lon\n53°12'N;9°30'O\n53°12'N;1°30'W\n", [point(9.5, 53.2), point(-1.5, 53.2)]],
  ["an E beside it", "lat;lon\n40°30'N;3°30'O\n40°30'N;1°30'E\n", [point(-3.5, 40.5), point(1.5, 40.5)]],
  ["an L beside it", "lat;lon\n40°30'N;3°30'O\n40°30'N;1°30'L\n", [point(-3.5, 40.5), point(1.5, 40.5)]],
])("the letter O of a coordinate is unambiguous by %s", async (_, content, expected) => {
  const result = await read(content);
  expect(geometries(result)).toEqual(expected);
  expect(result.recording.rejects).toEqual([]);
});

test.each([
  ["columns of longitude and latitude", "latitude,longitude\n53°12'N,9°30'O\n"],
  ["one column of both", "coords\n53°12'N 9°30'O\n"],
  ["letters that contradict each other", "lat,lon\n1°N,2°O\n1°N,2°E\n1°N,2°W\n"],
])("where the letter O is ambiguous, in %s, the reject names the option", async (_, content) => {
  expect(reasons(await read(content))).toEqual([
    expect.stringMatching(/^coordinate-invalid: .*--in letter-o=east or --in letter-o=west/),
  ]);
});

test("an option sets the meaning of the letter O", async () => {
  const table = "latitude,longitude\n53°12'N,9°30'O\n";
  expect(geometries(await read(table, { "letter-o": "east" }))).toEqual([point(9.5, 53.2)]);
  expect(geometries(await read(table, { "letter-o": "west" }))).toEqual([point(-9.5, 53.2)]);
});

test("a column with some invalid pairs keeps the geometries of the others", async () => {
  const result = await read("Name;Koordinaten\na;53.2, 9.5\nb;unbekannt\nc;53.3, 9.6\n");
  expect(geometries(result)).toEqual([point(9.5, 53.2), point(9.6, 53.3)]);
  expect(reasons(result)).toEqual([expect.stringMatching(/^coordinate-invalid: "unbekannt" in Koordinaten/)]);
});
