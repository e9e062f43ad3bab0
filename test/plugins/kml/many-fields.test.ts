/** Features with a few of very many fields each. */
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import kml from "../../../plugins/kml/index.js";
import { readFile } from "../../../src/testing/index.js";
import { kmlDocument, placemarkXml, read, scratch } from "./read-kml.js";

afterAll(() => scratch.remove());

const data = (name: string, value: string): string => `<Data name="${name}"><value>${value}</value></Data>`;
const extended = (inner: string): string => placemarkXml(`<ExtendedData>${inner}</ExtendedData>`);

test("batches are limited by the number of values, not of fields in the layer", async () => {
  const path = scratch.path("distinct.kml");
  writeFileSync(path, kmlDocument(Array.from({ length: 1200 }, (_, i) => extended(data(`f${i}`, `v${i}`))).join("")));
  const [layer] = await readFile(kml, path, { options: {} });
  expect(layer!.batches.map(({ length }) => length)).toEqual([1000, 200]);
  const features = layer!.batches.flatMap((batch) => [...batch.features()]);
  expect(features.map(({ properties }) => properties)).toEqual(
    Array.from({ length: 1200 }, (_, i) => ({ [`f${i}`]: `v${i}` })),
  );
});

test("fields are absent in features without them, and null where a Schema declares them", async () => {
  const schema = '<Schema id="s"><SimpleField name="a" type="int"/><SimpleField name="b" type="string"/></Schema>';
  const declared = '<SchemaData schemaUrl="#s"><SimpleData name="a">7</SimpleData></SchemaData>';
  const { features } = await read(
    kmlDocument(schema + extended(data("c", "x")) + extended(declared) + extended(data("d", "y"))),
  );
  expect(features.map(({ properties }) => properties)).toEqual([{ c: "x" }, { a: 7, b: null }, { d: "y" }]);
});
