import { expect, test } from "vitest";
import { examplesOf, planRecords, planText } from "../../../src/cli/output/plan-table.js";
import { collectRows } from "../../../src/cli/plan-page/collect-rows.js";
import type { OpenPlan } from "../../../src/sync/plan/plan.js";
import { type DiffScenario, planScenarioInMemory, pointFeature } from "../diff-scenario.js";

const text = async (scene: DiffScenario): Promise<string> => {
  const opened = await planScenarioInMemory(scene);
  return planText(opened, await examplesOf(opened));
};

const added = Array.from({ length: 1200 }, (_, i) => pointFeature(0, i / 100, { ref: `n${i}` }));
const line = (longitude: number) => ({
  geometry: {
    type: "LineString" as const,
    coordinates: [
      [0, 0],
      [longitude, 1],
    ],
  },
  properties: { ref: "l" },
});

test("the table shows counts, three examples of each class, and old and new values", async () => {
  const scene: DiffScenario = {
    source: [...added, pointFeature(2.5, 2, { ref: "b", name: 'Café "new"', note: null, n: 1 }), line(2)],
    map: [
      pointFeature(2, -2, { ref: "b", name: "old\u001b[31m", note: "x" }, "id-b"),
      { ...line(1), id: "id-l" },
      pointFeature(3, 3, { ref: "c" }, "id-c"),
      pointFeature(9, 9, {}, "id-x"),
    ],
  };
  expect(await text(scene)).toBe(`full, matched by property "ref":
  create      1,200  only in the source
      + n0
      + n1
      + n2
      … 1,197 more
  update          2  changed
      ~ b: geometry Point at 2° S, 2° E → Point at 2° N, 2.5° E, name "old\\u001b[31m" → "Café \\"new\\"", note "x" → nothing, n nothing → 1
      ~ l: geometry Line → Line, other coordinates
  delete          1  to be deleted from the map
      - c
  unmanaged       1  on the map without a key, kept
      · id-x
  guard: 1 feature of the map has no property "ref", so it cannot be matched with the source; --keep-unmanaged keeps it, --delete-unmanaged deletes it
`);
});

test("the table reports the effect of one PUT", async () => {
  const scene: DiffScenario = {
    source: [pointFeature(1, 1, { ref: "a" }), pointFeature(2, 2, { ref: "b" })],
    map: [pointFeature(1, 1, { ref: "a" }), pointFeature(3, 3, { ref: "c" })],
  };
  expect(await text(scene)).toContain(
    "A single PUT request replaces all features: it sends 2 features and deletes 1 feature.\n",
  );
});

test("the table of an empty plan shows its counts", async () => {
  const same = [pointFeature(1, 1, { ref: "a" })];
  expect(await text({ source: same, map: same })).toBe(`full, matched by property "ref":
  create      0  only in the source
  update      0  changed
  delete      0  to be deleted from the map
  same        1  equal
`);
});

test("records contain the same data for programs", async () => {
  const opened = await planScenarioInMemory({
    source: [pointFeature(1, 1, { ref: "a", n: 2 })],
    map: [pointFeature(1, 1, { ref: "a", n: 1 }, "id-a"), pointFeature(9, 9, {}, "id-x")],
  });
  expect(planRecords(opened, await examplesOf(opened))).toMatchObject([
    {
      type: "plan",
      mode: "full",
      key: { by: "property", name: "ref" },
      put: false,
      counts: { update: 1, unmanaged: 1 },
    },
    { type: "example", class: "update", key: "a", id: "id-a", changes: [{ name: "n", before: "1", after: "2" }] },
    { type: "example", class: "unmanaged", key: null, id: "id-x" },
    { type: "guard", guard: "unmanaged" },
  ]);
});

test("the table and the page show long integers of the map with all digits", async () => {
  const opened = await planScenarioInMemory({
    source: [pointFeature(2, 2, { ref: "b", n: null })],
    map: [pointFeature(2, 2, { ref: "b", n: 1 }, "id-b")],
  });
  const exact: OpenPlan = {
    ...opened,
    async *actions(kinds) {
      for await (const action of opened.actions(kinds)) {
        if (action.action !== "update") continue;
        const properties = { ref: "b", n: [9007199254740993n] };
        yield { ...action, before: { ...action.before, properties } };
      }
    },
  };
  expect(planText(exact, await examplesOf(exact))).toContain("~ b: n [9007199254740993] → nothing");
  const { rows } = await collectRows(exact);
  expect(rows.map(({ before }) => before?.properties)).toEqual([{ ref: "b", n: ["9007199254740993"] }]);
});
