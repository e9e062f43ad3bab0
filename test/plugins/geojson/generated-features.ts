import fc from "fast-check";

/** The text of a collection of features that are written already. */
export const collectionOf = (features: readonly string[]) =>
  `{"type":"FeatureCollection","features":[\n${features.join(",\n")}\n]}`;

/** How most features of a file are written. */
type Style = (properties: string, type: string, coordinates: string, id: string) => string;
export const outputStyles: readonly Style[] = [
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
  (p, t, c) => `{"properties":${p},"geometry":{"type":"${t}","coordinates":${c}}}`,
];
/**
 * Features as a program writes them, all in one style but for a few.
 * @param weight how much there is of what programs should not write, beside 150 of what they do
 */
function written(weight: number): fc.Arbitrary<string[]> {
  const seldom = <T>(usual: fc.Arbitrary<T>, odd: readonly T[]) =>
    fc.oneof({ weight: 150, arbitrary: usual }, { weight, arbitrary: fc.constantFrom(...odd) });
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
          { weight: 1, arbitrary: fc.constantFrom(...outputStyles) },
        ),
        properties: fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: properties }),
        geometry,
        id: fc.oneof(number, text, fc.constantFrom("null", "[]")),
        damage: fc.oneof(
          { weight: 150, arbitrary: fc.constant(null) },
          {
            weight: 2 * weight,
            arbitrary: fc.tuple(fc.nat(150), fc.constantFrom("", " ", '"', "{", "}", "]", ",", ":", "0")),
          },
        ),
      })
      .map(({ style: write, properties: of, geometry: [type, coordinates], id, damage }) => {
        const whole = write(of, type, coordinates, id);
        return damage ? whole.slice(0, damage[0]) + damage[1] + whole.slice(damage[0] + 1) : whole;
      });
  return fc
    .constantFrom(...outputStyles.slice(0, 4))
    .chain((style) => fc.array(feature(style), { minLength: 8, maxLength: 30 }));
}

export const features = written(1);
export const validFeatures = written(0);
