import { mkdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { elementFields } from "../../../plugins/kml/element-fields.js";
import kml from "../../../plugins/kml/index.js";
import type { FieldType, Value } from "../../../src/model/index.js";
import { assertOnlyReportedChanges, readFile, TemporaryFolder, writeFile } from "../../../src/testing/index.js";
import { batchOf, type GeneratedLayer, generatedLayer } from "../../support/formats/generated-layers.js";
import { canValidate, validateDocument } from "../../support/schemas.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const schema = "ogckml22.xsd";
const isTestable = canValidate(schema);

/** Values that elements can hold, and similar ones that they cannot. */
const values: Readonly<Record<FieldType, readonly Value[]>> = {
  boolean: [true, false],
  int32: [0, 1, 3, -5, 361],
  int64: [0n, 1n, 2n ** 60n],
  double: [0, 1, 0.5, 0.2, 51 / 255, 1.5, -0.1, 400, Number.NaN],
  text: [
    "a",
    "",
    " a ",
    "#ff0000",
    "#FF00aa",
    "#f00",
    "red",
    "absolute",
    "clampToGround",
    "relativeToSeaFloor",
    "A/B",
    "A//B",
    "/",
    "#style",
    "https://example.org/a.kml#b",
    "2020",
    "2020-02",
    "2020-02-30",
    "2020-01-01T00:00:00Z",
    "<b>x</b>",
    "icon.png",
    "\u0001",
    "x\u0001",
    "groundoverlay",
  ],
  date: ["2020-01-01"],
  time: ["10:00:00"],
  datetime: ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+02:00"],
  binary: [Uint8Array.of(1, 2)],
  json: [
    "{}",
    "[]",
    '{"begin":"2001","end":"2002-01-01"}',
    '{"begin":"2001"}',
    '{"begin":"soon"}',
    "[0.5,1]",
    '["fraction","pixels"]',
    '{"times":["2020-01-01T00:00:00Z",null]}',
    '{"times":["2020","2021","2022"]}',
    '{"times":[["2020","2021"]]}',
    '"text"',
    "null",
  ],
};

const field = fc.constantFrom(...Object.keys(elementFields)).chain((name) => {
  const usual: readonly FieldType[] = elementFields[name as keyof typeof elementFields];
  const type = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...usual) },
    fc.constantFrom(...(Object.keys(values) as FieldType[])),
  );
  // A color is written with an opacity; a notice reports it where the feature has none.
  const gaps = name.endsWith("-opacity") ? [] : [null, undefined];
  return type.chain((chosen) =>
    fc.record({
      name: fc.constant(name),
      type: fc.constant(chosen),
      values: fc.array(fc.constantFrom<Value | undefined>(...values[chosen], ...gaps), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
  );
});
const fields = fc.uniqueArray(field, { minLength: 1, maxLength: 12, selector: ({ name }) => name });
const layers: fc.Arbitrary<GeneratedLayer> = fc
  .tuple(generatedLayer, fields)
  .map(([layer, of]) => ({ ...layer, fields: of }));

let count = 0;

test("fields with names of elements are restored for all values, or reported", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(layers, async (layer) => {
      const folder = scratch.path(`p${count++}`);
      mkdirSync(folder);
      const batch = batchOf(layer);
      const options = { precision: "15", zPrecision: "15" };
      const [file] = await writeFile(kml, folder, batch, { options });
      if (isTestable) {
        const plain = readFileSync(file!.path, "utf8");
        if (!plain.includes("<gx:")) expect(validateDocument(plain, schema)).toBe("");
      }
      const [read] = await readFile(kml, file!.path);
      expect(read!.rejects).toEqual([]);
      const names = new Set(layer.fields.map(({ name }) => name));
      // Notices report fields that a style or mode adds; they are ignored here.
      const batches = read!.batches.map((each) => {
        const kept = each.fields.map(({ name }, f) => (names.has(name) ? f : -1)).filter((f) => f >= 0);
        const columns = kept.map((f) => each.columns[f]!);
        return each.with({ fields: kept.map((f) => each.fields[f]!), columns });
      });
      assertOnlyReportedChanges(file!.losses, file!.input, batches, {
        tolerance: 1e-9,
        singleIsMulti: false,
        absentIsNull: true,
        ids: true,
        keepsTypes: Object.keys(values) as FieldType[],
      });
    }),
    { numRuns: Number(process.env.ROUND_TRIPS ?? 60), seed: Number(process.env.ROUND_TRIPS_SEED ?? 1) },
  );
});
