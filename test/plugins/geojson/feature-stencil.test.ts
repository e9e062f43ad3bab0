import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { Stencils } from "../../../plugins/geojson/feature-stencil.js";
import { Scratch } from "../../support/recording.js";
import { read } from "./reading.js";

const scratch = new Scratch();
afterAll(() => scratch.remove());
afterEach(() => vi.restoreAllMocks());

const settings = [
  { skipErrors: false, bySplits: false },
  { skipErrors: true, bySplits: false },
  { skipErrors: true, bySplits: true, splitSize: 1500 },
] as const;

/** All that a reading says: what it gave, what it complained of, or how it failed. */
async function said(text: string | Uint8Array, how: (typeof settings)[number], file?: string) {
  try {
    const { features, context } = await read(scratch, text, { ...how, ...(file ? { file } : {}) });
    const { losses, notices, rejects, gaps, records } = context;
    return { features: JSON.stringify(features), losses, notices, rejects, gaps, records };
  } catch (error) {
    return { error: String(error), ...(error as { details?: unknown }) };
  }
}

/** Reads with stencils and without, says how many features fitted one, and finds no difference. */
async function compared(text: string | Uint8Array, file?: string): Promise<number> {
  let fitted = 0;
  for (const how of settings) {
    const own = vi.spyOn(Stencils.prototype, "read");
    const fast = await said(text, how, file);
    fitted += own.mock.results.filter(({ value }) => value === true).length;
    own.mockRestore();
    const none = vi.spyOn(Stencils.prototype, "read").mockReturnValue(false);
    const slow = await said(text, how, file);
    none.mockRestore();
    expect(fast).toEqual(slow);
  }
  return fitted;
}

const collectionOf = (features: readonly string[]) =>
  `{"type":"FeatureCollection","features":[\n${features.join(",\n")}\n]}`;

/** Mostly the usual, now and then what programs should not write. */
const seldom = <T>(usual: fc.Arbitrary<T>, odd: readonly T[]) =>
  fc.oneof({ weight: 150, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const soundNumber = fc.oneof(
  fc.integer({ min: -100, max: 100 }).map(String),
  fc.double({ min: -180, max: 180, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom("0", "-0", "1e2", "12345678901234567890", "0.5", "-7.25"),
);
const number = seldom(soundNumber, ["1.", "01", "NaN", "-Infinity", "1e999"]);
const soundText = fc.oneof(
  fc.string({ maxLength: 6 }).map((value) => JSON.stringify(value)),
  fc.constantFrom('"é"', '"\\u00e9\\n"', '"\\ud800"', '"a\tb"', '"}"'),
);
const text = seldom(soundText, ['"x', '"\\x"', "x"]);
const value = seldom(fc.oneof(number, text, fc.constantFrom("null", "true", '{"a":[1,{}]}', "[NaN]")), [
  "nul",
  "",
  "{",
]);
const position = seldom(
  fc.tuple(number, number).map((pair) => `[${pair.join(",")}]`),
  ["[1, 2]", "[1,2,3]", "[1,2,3,4]", "[ 1 ,2 ]", "[1]", "[]", '["1",2]', "1"],
);
const geometry: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  { weight: 9, arbitrary: position.map((at) => ["Point", at] as const) },
  { weight: 2, arbitrary: fc.array(position, { maxLength: 3 }).map((of) => ["LineString", `[${of}]`] as const) },
  { weight: 2, arbitrary: fc.array(position, { maxLength: 4 }).map((of) => ["Polygon", `[[${of}]]`] as const) },
  { weight: 1, arbitrary: fc.constantFrom(["Circle", "[1,2]"] as const, ["GeometryCollection", "[]"] as const) },
);

/** How most features of a file are written. */
type Style = (properties: string, type: string, coordinates: string, id: string) => string;
const styles: readonly Style[] = [
  (p, t, c) => `{"type":"Feature","properties":${p},"geometry":{"type":"${t}","coordinates":${c}}}`,
  (p, t, c, i) =>
    `{ "type": "Feature", "id": ${i}, "geometry": { "type": "${t}", "coordinates": ${c} }, "properties": ${p} }`,
  (p, t, c, i) => `{"geometry":{"coordinates":${c},"type":"${t}"},"properties":${p},"type":"Feature","id":${i}}`,
  (p, t, c) =>
    `{"type":"Feature","bbox":[1,2,${c.length},4],"properties":\n${p},"geometry":{"type":"${t}","coordinates":${c}}}`,
  (p, t, c) => `{"type":"Feature","crs":1,"properties":${p},"geometry":{"type":"${t}","coordinates":${c}}}`,
  (p) => `{"type":"Feature","properties":${p},"geometry":null}`,
  (_, t, c) => `{"type":"${t}","coordinates":${c}}`,
  (p, t, c) => `{"type":"Feature","properties":${p},"properties":${p},"geometry":{"type":"${t}","coordinates":${c}}}`,
  (p, t, c) => `{"properties":${p},"geometry":{"type":"${t}","coordinates":${c},"type":"${t}"}}`,
  (p, t, c) => `{"type":"Feature","properties":${p},"geometry":{"type":"${t}","coordinates":${c},"properties":{}}}`,
];
const properties = fc
  .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"c"', '"\\u0061"', '"name"', '"id"'), value), { maxLength: 4 })
  .map((pairs) => `{${pairs.map((pair) => pair.join(":")).join(",")}}`);
const usual = fc.tuple(text, number).map(([name, count]) => `{"name":${name},"count":${count}}`);

/** A feature of a style, seldom of another, seldom with a character changed. */
const feature = (style: Style) =>
  fc
    .record({
      style: fc.oneof(
        { weight: 6, arbitrary: fc.constant(style) },
        { weight: 1, arbitrary: fc.constantFrom(...styles) },
      ),
      properties: fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: properties }),
      geometry,
      id: fc.oneof(number, text, fc.constantFrom("null", "[]")),
      damage: fc.option(fc.tuple(fc.nat(150), fc.constantFrom("", " ", '"', "{", "}", "]", ",", ":", "0")), {
        freq: 12,
      }),
    })
    .map(({ style: write, properties: of, geometry: [type, coordinates], id, damage }) => {
      const whole = write(of, type, coordinates, id);
      return damage ? whole.slice(0, damage[0]) + damage[1] + whole.slice(damage[0] + 1) : whole;
    });
const features = fc
  .constantFrom(...styles.slice(0, 4))
  .chain((style) => fc.array(feature(style), { minLength: 8, maxLength: 30 }));

describe("features that fit a stencil", () => {
  test("are read as the parser reads them", async () => {
    let fitted = 0;
    await fc.assert(
      fc.asyncProperty(features, async (list) => {
        fitted += await compared(collectionOf(list));
        fitted += await compared(list.map((one) => one.replaceAll("\n", " ")).join("\n"), "places.geojsonl");
      }),
      { numRuns: 150 },
    );
    expect(fitted).toBeGreaterThan(1000);
  });

  test("are read the same wherever the file ends", async () => {
    const alike = Array.from({ length: 3 }, (_, i) =>
      styles[1]!(`{"name":"n${i}","count":${i}}`, "Point", `[${i},5]`, "7"),
    );
    const whole = collectionOf(alike);
    for (let end = whole.indexOf("features"); end < whole.length; end += 3) await compared(whole.slice(0, end));
  });

  test("may hold bytes that are not UTF-8", async () => {
    const alike = Array.from({ length: 5 }, (_, i) => styles[0]!(`{"name":"n${i}ÿ"}`, "Point", `[${i},5]`, ""));
    expect(await compared(Buffer.from(collectionOf(alike), "latin1"))).toBeGreaterThan(0);
  });

  test.each(styles.slice(0, 3).map((style, i) => [i, style] as const))(
    "are nearly all of a file of style %i",
    async (_, style) => {
      const alike = Array.from({ length: 500 }, (_, i) =>
        style(`{"name":"n${i}","count":${i}}`, "Point", `[${i % 9},5]`, `${i}`),
      );
      expect(await compared(collectionOf(alike))).toBeGreaterThan(1000);
    },
  );
});
