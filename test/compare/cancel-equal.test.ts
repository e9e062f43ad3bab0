import { mkdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { cancelEqual, type RowSet } from "../../src/canonical/cancel-equal.js";
import { RowEncoder } from "../../src/canonical/canonical-row.js";
import { countKeys } from "../../src/compare/match/key-stats.js";
import { encodeChunk } from "../../src/compare/spool/comparison-format.js";
import { SpooledLayer } from "../../src/compare/spool/spooled-side.js";
import { packFeatures } from "../../src/model/pack-features.js";
import { createRandom } from "../support/random.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { exactRules } from "./rules.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let folders = 0;

function spool(values: readonly (number | null)[]): SpooledLayer {
  const folder = scratch.path(String(folders++));
  mkdirSync(folder);
  const layer = new SpooledLayer(folder, "layer", null, null, "geojson");
  const encoder = new RowEncoder(exactRules);
  for (let from = 0; from < values.length; from += 7) {
    const features = values
      .slice(from, from + 7)
      .map((value) => ({ type: "Feature" as const, geometry: null, properties: { value } }));
    layer.add(encodeChunk(packFeatures(features, from + 1), encoder));
  }
  return layer;
}

const listed = (rows: RowSet, count: number) =>
  Array.from({ length: count }, (_, row) => row).filter((row) => rows.has(row));

test("features that occur more often on one side remain there, the first ones being pairs", () => {
  using old = spool([1, 2, 2, 3, 3, 3]);
  using recent = spool([3, 2, 2, 2, 4]);
  const { equal, old: removed, new: added } = cancelEqual(old, recent);
  expect(equal).toBe(3);
  expect(listed(removed, 6)).toEqual([0, 4, 5]);
  expect(listed(added, 5)).toEqual([3, 4]);
});

test.each([1, 3, 50, 1000])("parts of %s rows give the same result as sets of the values", (partRows) => {
  const random = createRandom(partRows);
  const draw = () => Array.from({ length: 500 }, () => Math.floor(random() * 400));
  const [a, b] = [draw(), draw()];
  using old = spool(a);
  using recent = spool(b);
  const found = cancelEqual(old, recent, partRows);
  const count = (list: readonly number[], value: number) => list.filter((one) => one === value).length;
  const values = [...new Set([...a, ...b])];
  const equal = values.reduce((sum, value) => sum + Math.min(count(a, value), count(b, value)), 0);
  expect(found.equal).toBe(equal);
  expect([found.old.size, found.new.size]).toEqual([a.length - equal, b.length - equal]);
  const left = listed(found.old, a.length).map((row) => a[row]!);
  for (const value of values) expect(count(left, value)).toBe(Math.max(0, count(a, value) - count(b, value)));
});

test.each([2, 1000])("missing and duplicate keys are counted in parts of %s rows", (partRows) => {
  using layer = spool([5, 6, null, 5, 7, 5, null, 6]);
  const { missing, duplicates, example } = countKeys(layer, { by: "field", name: "value" }, partRows);
  expect([missing, duplicates]).toEqual([2, 3]);
  expect(["5", "6"]).toContain(example);
});
