/** What a fit loses without a report is found: the batch that it got is held against those that it returns. */
import { describe, expect, test } from "vitest";
import shapefile from "../../../plugins/shapefile/index.js";
import type { Batch, Feature } from "../../../src/model/index.js";
import { Summarizer } from "../../../src/model/layer-summary.js";
import { packFeatures } from "../../../src/model/pack-features.js";
import { FitLosses, findFitFaults } from "../../../src/pipeline/proof/fit-faults.js";
import { fitBatch } from "../../../src/stages/fit-batch.js";
import { type FitPlan, planFit } from "../../../src/stages/fit-plan.js";

const silent = {
  layer: "",
  keepsBadGeometries: false,
  reportLoss() {},
  reportNotice() {},
  reject() {},
  countOperation() {},
};

const features: Feature[] = [
  {
    type: "Feature",
    geometry: { type: "Point", coordinates: [7, 46, 5] },
    properties: { name: "a", big: 1.5, flag: true },
  },
  {
    type: "Feature",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    },
    properties: { name: "b", big: 2 },
  },
  { type: "Feature", geometry: { type: "Point", coordinates: [8, 47] }, properties: { name: null, big: null } },
];

/** The batch fitted to a Shapefile, which splits points and polygons. */
function fitted(): { plan: FitPlan; batch: Batch; parts: (readonly [number, Batch])[]; losses: FitLosses } {
  const batch = packFeatures(features, 1);
  const summarizer = new Summarizer(false);
  summarizer.add(batch);
  const plan = planFit(summarizer.summary(), shapefile.writer!.capabilities({ encoding: "UTF-8" }), "Shapefile");
  const losses = new FitLosses(silent);
  return { plan, batch, parts: [...fitBatch(plan, batch, losses)], losses };
}

test("a correct fit into one part or several has no faults", () => {
  const { plan, batch, parts, losses } = fitted();
  expect(parts).toHaveLength(2);
  expect(findFitFaults(plan, batch, parts, losses).size).toBe(0);
});

describe("a fit without a report of", () => {
  test.each<[string, (batch: Batch) => Batch, object]>([
    [
      "another value",
      (batch) => batch.with({ columns: [...batch.columns.slice(1), batch.columns[0]!] }),
      { row: 0, field: "name", before: "a" },
    ],
    [
      "a lost field",
      (batch) => batch.with({ fields: batch.fields.slice(1), columns: batch.columns.slice(1) }),
      { field: "name", after: "null" },
    ],
    [
      "a lost feature",
      (batch) => batch.take(Uint32Array.of(0)),
      { field: null, before: "3 features", after: "2 features and 0 rejects" },
    ],
    [
      "another position",
      (batch) => batch.with({ geometry: { ...batch.geometry, xy: batch.geometry.xy.map((value) => value + 1) } }),
      { row: 0, field: null, after: "another geometry" },
    ],
  ])("%s", (_, damage, fault) => {
    const { plan, batch, parts, losses } = fitted();
    const damaged = parts.map(([part, each], n): readonly [number, Batch] => [part, n === 0 ? damage(each) : each]);
    expect([...findFitFaults(plan, batch, damaged, losses).values()].flat()[0]).toMatchObject(fault);
  });
});
