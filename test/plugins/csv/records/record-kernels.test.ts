/** Tables of large blocks, which kernels survey and read, beside the same tables in blocks that are too small for them. */
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { minMarkedBytes } from "../../../../plugins/shared/table/records/record-scanner.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { readFile } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Draw = (below: number) => number;

/** Numbers from 0 to a limit, by a linear congruential generator. */
function drawer(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const digits = (draw: Draw, most: number) => Array.from({ length: 1 + draw(most) }, () => draw(10)).join("");
const two = (value: number) => String(value).padStart(2, "0");
const date = (draw: Draw) => `${1900 + draw(200)}-${two(1 + draw(12))}-${two(1 + draw(28))}`;
const time = (draw: Draw) => `${two(draw(24))}:${two(draw(60))}:${two(draw(60))}`;
const sign = (draw: Draw) => (draw(2) === 0 ? "-" : "");
const pick = (draw: Draw, list: readonly string[]) => list[draw(list.length)]!;

const usual: readonly ((draw: Draw) => string)[] = [
  (draw) => String(draw(2000) - 1000),
  (draw) => sign(draw) + String(draw(2 ** 31)),
  (draw) => sign(draw) + String(1 + draw(9)) + digits(draw, 14),
  (draw) => `${sign(draw)}${draw(1000)}.${digits(draw, 18)}`,
  (draw) => `${1 + draw(9)}.${two(draw(100))}5`,
  date,
  time,
  (draw) => `${date(draw)}T${time(draw)}${pick(draw, ["", "Z", "+01:00", ".25Z"])}`,
  (draw) => pick(draw, ["true", "false"]),
  (draw) => pick(draw, ["residential", "Zürich", "two words", "x"]) + draw(50),
  (draw) =>
    pick(draw, ["Straße, ", 'said "no" ', "two\nlines ", "two\r\nlines ", '"', "a\rb", "東京, "]) + digits(draw, 40),
];
const odd: readonly string[] = [
  ...[
    "007",
    "-0",
    "0",
    "+5",
    ".5",
    "5.",
    "1e3",
    "-1.5E-7",
    "123456789012345678",
    "0.1234567890123456",
    "1234567.12345678",
  ],
  ...["2147483648", "-2147483648", "9007199254740993", "99999999999999999999", "NaN", "-inf", "1,5", "1.234", "12:30"],
  ...[
    "2024-02-30",
    "2023-02-29",
    "2024/02/29",
    "2024-02-29 10:00",
    "1.2.2024",
    "0000-01-01",
    "TRUE",
    "yes",
    " 5",
    "5 ",
    " ",
  ],
  ...['"quoted"', '"a, b"', '"two\nlines"', '"a ""quote"""', '""', 'in"side', "x".repeat(300), "NULL", "東京"],
  ...['"stray" text', ' "padded" ', '"12"', '" 12"', '"2024-02-29"', '"true"', '"1,5"', '""""', '"a""b', 'end"', '" "'],
  `"${'long, ""text""\n'.repeat(20)}"`,
];

/** Which values are between quotes: those that need it, texts, or all. */
const quotings: readonly ((value: string, kind: number) => string)[] = [
  (value) => (/[",\n\r]/.test(value) ? quote(value) : value),
  (value, kind) => (kind >= 9 ? quote(value) : value),
  quote,
];

function quote(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

const position = (draw: Draw) => `${sign(draw)}${draw(180)}.${digits(draw, 9)} ${draw(90)}.${digits(draw, 17)}`;
const list = <T>(draw: Draw, most: number, item: (draw: Draw) => T) =>
  Array.from({ length: 1 + draw(most) }, () => item(draw));
const line = (draw: Draw) => `(${list(draw, 40, position).join(pick(draw, [",", ", "]))})`;
function ring(draw: Draw): string {
  const positions = list(draw, 20, position);
  return `(${[...positions, positions[0]].join(",")})`;
}
const rings = (draw: Draw) => `(${list(draw, 3, ring).join(",")})`;

/** Geometries of three families; a table has those of one, or all. */
const geometries: readonly ((draw: Draw) => string)[] = [
  (draw) => `POINT${pick(draw, [" ", ""])}(${position(draw)})`,
  (draw) => `LINESTRING (${list(draw, 40, position).join(", ")})`,
  (draw) => `MULTILINESTRING (${list(draw, 4, line).join(",")})`,
  (draw) => `POLYGON ${rings(draw)}`,
  (draw) => `MULTIPOLYGON (${list(draw, 3, rings).join(", ")})`,
];
const oddGeometries: readonly string[] = [
  ...[
    "LINESTRING EMPTY",
    "linestring (1 2, 3 4)",
    "LINESTRING Z (1 2 3, 4 5 6)",
    "LINESTRING (1 2 3, 4 5 6)",
    "NULL",
    " ",
  ],
  ...[
    "POLYGON ((0 0, 1 0, 1 1))",
    "POLYGON ((0 0))",
    "POLYGON (EMPTY, (0 0, 1 1, 0 1, 0 0))",
    "POLYGON ((0 0, 1 1, 2 2, -0 0))",
  ],
  ...[
    "LINESTRING (1 2, 3",
    "LINESTRING (1 2, 3 4))",
    "LINESTRING (1 2,, 3 4)",
    "LINESTRING (1 2, 3 4) x",
    "LINESTRING",
    "?",
  ],
  ...[
    "SRID=4326;LINESTRING (1 2, 3 4)",
    " LINESTRING (1 2, 3 4)",
    "LINESTRING  ( 1  2 , 3 4 ) ",
    "LINESTRING\n(1 2, 3 4)",
  ],
  ...[
    "LINESTRING (1e2 2, 3 4)",
    "LINESTRING (0.12345678901234567 1, 2 3)",
    "LINESTRING (nan 1, 2 3)",
    "LINESTRING (1 2)",
  ],
  ...[
    "POINT (1 2, 3 4)",
    "POINT (1 2 3)",
    "POINT EMPTY",
    "MULTIPOINT (1 2, 3 4)",
    "MULTIPOINT ((1 2), (3 4))",
    "POINT (01 2)",
  ],
  ...[
    "GEOMETRYCOLLECTION (POINT (1 2))",
    "CIRCULARSTRING (0 0, 1 1, 2 0)",
    "MULTIPOLYGON (((0 0, 1 1, 0 1, 0 0)), EMPTY)",
  ],
  ...['{"type":"Point","coordinates":[1,2]}', "0101000000000000000000F03F0000000000000040", 'LINESTRING (1 2, "3" 4)'],
];

interface Shape {
  readonly seed: number;
  readonly columns: readonly number[];
  /** One of so many cells is odd, and one is empty; 0 for none. */
  readonly oddOf: number;
  readonly emptyOf: number;
  /** Points in two columns, or WKT of one of `geometries`, or of all. */
  readonly geometry: "none" | "points" | number | "all";
  /** The index of one of `quotings`, for names and values that are not odd. */
  readonly quoting: number;
  /** Whether missing values are two quotes. */
  readonly quotesEmpty: boolean;
  readonly lineEnd: string;
  readonly skipErrors: boolean;
}

function createTable({ seed, columns, oddOf, emptyOf, geometry, quoting, quotesEmpty, lineEnd }: Shape): string {
  const draw = drawer(seed);
  const quoted = quotings[quoting]!;
  const happens = (of: number) => of > 0 && draw(of) === 0;
  const cell = (kind: number) => {
    if (happens(emptyOf)) return quotesEmpty ? '""' : "";
    return happens(oddOf) ? odd[draw(odd.length)]! : quoted(usual[kind]!(draw), kind);
  };
  const names = columns.map((_, c) => quoted(`f${c}`, usual.length));
  const geometryNames = geometry === "points" ? ["lon", "lat"] : geometry === "none" ? [] : ["wkt"];
  const lines = [[...geometryNames, ...names].join(",")];
  for (let size = 0; size < 1.5 * minMarkedBytes; size += lines.at(-1)!.length + 1) {
    const cells = columns.map(cell);
    if (geometry === "points") {
      const place = [`${draw(180)}.${digits(draw, 7)}`, `-${draw(90)}.${digits(draw, 7)}`].map((text) =>
        quoted(text, 3),
      );
      cells.unshift(...(happens(10 * oddOf) ? ["", pick(draw, ["", "5", "n/a"])] : place));
    } else if (geometry !== "none") {
      const usualGeometry = geometries[geometry === "all" ? draw(geometries.length) : geometry]!;
      const text = happens(emptyOf) ? "" : happens(oddOf) ? pick(draw, oddGeometries) : usualGeometry(draw);
      cells.unshift(/[",\n]/.test(text) ? quote(text) : quoted(text, usual.length));
    }
    if (happens(10 * oddOf)) cells.push(pick(draw, ["", "more"]));
    if (happens(10 * oddOf)) cells.pop();
    lines.push(cells.join(","));
    if (happens(50 * oddOf)) lines.push("");
  }
  return lines.join(lineEnd) + lineEnd;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  seed: fc.nat(2 ** 32 - 1),
  columns: fc.array(fc.nat(usual.length - 1), { minLength: 1, maxLength: 9 }),
  oddOf: fc.constantFrom(0, 3, 100, 10_000),
  emptyOf: fc.constantFrom(0, 2, 50),
  geometry: fc.constantFrom<Shape["geometry"][]>("none", "points", ...geometries.keys(), "all"),
  quoting: fc.nat(quotings.length - 1),
  quotesEmpty: fc.boolean(),
  lineEnd: fc.constantFrom("\n", "\r\n"),
  skipErrors: fc.boolean(),
});

/** What is read, or the error. */
async function readAll(path: string, length: number, options: Readonly<Record<string, string>>, skipErrors: boolean) {
  try {
    const { features, fields, layer, recording } = await readFile(path, options, { length, skipErrors });
    const { losses, notices, rejects } = recording;
    const summary = await layer.summary?.({ unchangedExtent: null, isLimited: false, needsExtent: false });
    return { features, fields, count: layer.featureCount, summary, losses, notices, rejects };
  } catch (error) {
    return String(error);
  }
}

const optionSets: readonly Readonly<Record<string, string>>[] = [
  {},
  { "keep-geometry-columns": "yes" },
  { types: "text" },
];

test.each(optionSets)(
  "a table has the features, fields and findings that it has without kernels, with options %o",
  async (options) => {
    const path = scratch.path("table.csv");
    await fc.assert(
      fc.asyncProperty(shape, async (given) => {
        writeFileSync(path, createTable(given));
        const expected = await readAll(path, minMarkedBytes - 1, options, given.skipErrors);
        expect(await readAll(path, 2 ** 21, options, given.skipErrors)).toEqual(expected);
      }),
      { numRuns: 9, endOnFailure: true },
    );
  },
  120_000,
);

test.each([
  ["a value without quotes", '"7"', "7"],
  ["two quotes", "", '""'],
  ["a longer text", '"""b"""', '"longer, ""b"""'],
])("%s far behind other cells is found", async (_, usualCell, lateCell) => {
  const path = scratch.path("late.csv");
  const rows = Array.from({ length: 60_000 }, (_, n) => `"${n % 100}",${n === 50_000 ? lateCell : usualCell}`);
  writeFileSync(path, `"f0","f1"\n${rows.join("\n")}\n`);
  const expected = await readAll(path, minMarkedBytes - 1, {}, false);
  expect(await readAll(path, 2 ** 21, {}, false)).toEqual(expected);
});
