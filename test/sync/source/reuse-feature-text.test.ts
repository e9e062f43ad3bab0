/** Decides which spooled lines a plan reuses verbatim. */
import { expect, test } from "vitest";
import { reuseFeatureText } from "../../../src/sync/source/reuse-feature-text.js";

const line = (properties: string, id = "") =>
  `{"type":"Feature"${id},"properties":{${properties}},"geometry":{"type":"Point","coordinates":[1,2]}}`;
const ref = (value: string | number) => ({ property: "ref", value });

test.each<[string, string, ReturnType<typeof ref> | null]>([
  ["the key is a text", '"ref":"a","n":1.0', ref("a")],
  ["the key is a number", '"n":null,"ref":7', ref(7)],
  ["nothing is matched", '"n":1', null],
  ["there are no properties", "", null],
  ["a text looks like members", '"ref":"a","t":"},\\"geometry\\":null,\\"properties\\":"', ref("a")],
])("the source reader reuses a line if %s", (_, properties, key) => {
  expect(reuseFeatureText(line(properties), key)).toBe(line(properties));
});

test("the source reader removes the id", () => {
  for (const id of [',"id":12', ',"id":"b"', ',"id":",\\"properties\\":{"'])
    expect(reuseFeatureText(line('"ref":"a"', id), ref("a"))).toBe(line('"ref":"a"'));
});

test.each<[string, string, ReturnType<typeof ref> | null]>([
  ["the key is of another type", '"ref":7', ref("7")],
  ["the key is another one", '"ref":70', ref(7)],
  ["the key is written in another way", '"ref":7.0', ref(7)],
  ["the key is missing", '"n":1', ref("a")],
  ["another name ends like the key", '"x\\"ref":7,"ref":70', ref(7)],
  ["a value is nested", '"ref":"a","o":{"x":1,"x":2}', ref("a")],
  ["a value is a list", '"l":[1.50]', null],
])("the source reader serializes the feature again if %s", (_, properties, key) => {
  expect(reuseFeatureText(line(properties), key)).toBeNull();
});

test("the source reader serializes lines of other writers again", () => {
  expect(reuseFeatureText('{"type":"Feature","geometry":null,"properties":{"ref":"a"}}', ref("a"))).toBeNull();
});
