/** Points that a kernel reads many at a time, beside the same features in blocks that are too small for it. */
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { GeoJsonDataset } from "../../../../plugins/geojson/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import type { Feature } from "../../../../src/model/index.js";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const usual = [
  "1",
  "-12",
  "0.5",
  "-7.25e3",
  '"text"',
  '"Zürich 8"',
  "true",
  "false",
  "null",
  '""',
  "123456789012345678",
];
const odd = [
  '"a \\"quote\\""',
  '"\\u00e9"',
  "[1, 2]",
  '{"a": 1}',
  "-0",
  "-0.0",
  "NaN",
  "1e400",
  '"tab\there"',
  "99999999999999999999",
];
const positions = ["[1,2]", "[-71.0612345,42.36]", "[ 8.5 , 47.25 ]", "[0,-0]", "[100.5,-0.125]"];
const oddPositions = [
  "[1,2,3]",
  "[8.123456789012345,47.1]",
  "[1e1,2]",
  "[]",
  "[1]",
  '["1",2]',
  "[1,2 ]",
  "[\n1,2]",
  "null",
  "[1,NaN]",
];

const feature = fc.record({
  values: fc.array(
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) }),
    {
      minLength: 4,
      maxLength: 4,
    },
  ),
  position: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...positions) },
    { weight: 1, arbitrary: fc.constantFrom(...oddPositions) },
  ),
  /** Mostly the text that others have. */
  style: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 7 }) }),
});

type Given = typeof feature extends fc.Arbitrary<infer T> ? T : never;

function write({ values: [a, b, c, d], position, style }: Given): string {
  const properties = `"a":${a},"b": ${b},"c":${c}`;
  const geometry = `{"type":"Point","coordinates":${position}}`;
  switch (style) {
    case 1:
      return `{"type":"Feature","id":${a === "null" ? 1 : 2},"properties":{${properties}},"geometry":${geometry}}`;
    case 2:
      return `{"type":"Feature","properties":{${properties},"d":${d}},"geometry":${geometry}}`;
    case 3:
      return `{"type":"Feature","properties":{"b":${b},"a":${a}},"geometry":${geometry}}`;
    case 4:
      return `{"type":"Feature","geometry":${geometry},"properties":{${properties}}}`;
    case 5:
      return `{"type":"Feature","properties":{${properties}},"geometry":{"type":"MultiPoint","coordinates":[${position}]}}`;
    case 6:
      return `{"type":"Feature","properties":{"a":${a},"a":${b}},"geometry":null}`;
    case 7:
      return `{"type":"Feature","bbox":[1,2,1,2],"properties":null,"geometry":${geometry}}`;
    default:
      return `{"type":"Feature","properties":{${properties}},"geometry":${geometry}}`;
  }
}

async function readAll(path: string, splitSize: number) {
  const context = new RecordingContext(true);
  const features: Feature[] = [];
  await using dataset = await GeoJsonDataset.open(FileSource.at(path), { fid: undefined }, context, splitSize);
  for await (const batch of dataset.layers[0]!.batches()) {
    if (Array.isArray(batch)) throw new Error("no batch");
    features.push(...batch.features());
  }
  const { losses, notices, rejects, records } = context;
  return { features, losses, notices, rejects, records };
}

test("a file has the features and findings that it has without the kernel", async () => {
  const path = scratch.path("points.geojson");
  await fc.assert(
    fc.asyncProperty(
      fc.array(feature, { minLength: 40, maxLength: 400 }),
      fc.constantFrom(",", ",\n", " ,\n  "),
      async (given, separator) => {
        const once = given.map(write);
        const size = once.join(separator).length + separator.length;
        const texts = Array.from({ length: Math.ceil(700_000 / size) }, () => once).flat();
        writeFileSync(path, `{"type":"FeatureCollection","features":[\n${texts.join(separator)}\n]}`);
        const expected = await readAll(path, 1 << 17);
        expect(expected.records).toBe(texts.length);
        expect(await readAll(path, 1 << 21)).toEqual(expected);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);
