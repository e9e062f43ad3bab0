/** Updates the baseline after a plan was applied, and compares again with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Workspace } from "../../../src/compare/workspace.js";
import { Spool } from "../../../src/io/input/spool.js";
import type { OpenPlan, SyncKey } from "../../../src/sync/plan/plan.js";
import { MapState, type StoredBaseline } from "../../../src/sync/state/map-state.js";
import { updateBaseline } from "../../../src/sync/state/update-baseline.js";
import {
  computeFingerprint,
  type FeatureInput,
  fillSide,
  planScenarioInMemory,
  pointFeature,
} from "../diff-scenario.js";

let folder: string;
let state: MapState;
let compared: StoredBaseline;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-agree-"));
  state = (await MapState.open(folder)).state;
  compared = state.openBaseline("x");
});
afterEach(() => {
  state[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const byRef: SyncKey = { by: "property", name: "ref" };
const byId: SyncKey = { by: "id" };

/** @returns whether the map is exactly as planned */
async function agree(plan: OpenPlan, after: readonly FeatureInput[], key: SyncKey): Promise<boolean> {
  await using spool = new Spool();
  using workspace = await Workspace.create(spool);
  fillSide(workspace, workspace.map, after, key, 7);
  const snapshot = {
    features: after.length,
    etag: null,
    fingerprint: computeFingerprint(workspace.map),
    decimals: 7,
    extent: null,
    fields: new Map(),
    kinds: [],
  };
  return (await updateBaseline(plan, { workspace, snapshot }, compared)).isAsPlanned;
}

const source = [pointFeature(10.1234567, 50, { ref: "a", n: 1 }), pointFeature(11.7654321, 51, { ref: "b", n: 2 })];
const writes = ({ counts }: OpenPlan): number => counts.create + counts.update + counts.delete;

test("values rounded by the service count as unchanged from the first run on", async () => {
  const after = [
    pointFeature(10.12346, 50, { ref: "a", n: "1" }, "id-a"),
    pointFeature(11.76543, 51, { ref: "b", n: " 2" }, "id-b"),
  ];
  expect(await agree(await planScenarioInMemory({ source, map: [] }), after, byRef)).toBe(true);
  expect((await planScenarioInMemory({ source, map: after, state: compared })).counts.same).toBe(2);
  const moved = [pointFeature(10.1234567, 50.1, { ref: "a", n: 1 }), source[1]!];
  expect((await planScenarioInMemory({ source: moved, map: after, state: compared })).counts).toMatchObject({
    update: 1,
    same: 1,
  });
  const changed = [{ ...after[0]!, properties: { ref: "a", n: 3 } }, after[1]!];
  expect((await planScenarioInMemory({ source, map: changed, state: compared })).counts).toMatchObject({
    update: 1,
    same: 1,
  });
});

test("a value that differs from what was sent is sent once more, since another client may have changed it", async () => {
  const after = [
    pointFeature(10.1234567, 50, { ref: "a", n: "ONE" }, "id-a"),
    pointFeature(11.7654321, 51, { ref: "b", n: 2 }, "id-b"),
  ];
  expect(await agree(await planScenarioInMemory({ source, map: [] }), after, byRef)).toBe(false);
  const second = await planScenarioInMemory({ source, map: after, state: compared });
  expect(second.counts).toMatchObject({ update: 1, same: 1 });
  const stubborn = [{ ...after[0]!, properties: { ref: "a", n: "One" } }, after[1]!];
  await agree(second, stubborn, byRef);
  const third = await planScenarioInMemory({ source, map: stubborn, state: compared });
  expect(third.counts).toMatchObject({ update: 1, same: 1 });
  await agree(third, after, byRef);
  await agree(await planScenarioInMemory({ source, map: stubborn, state: compared }), after, byRef);
  expect(writes(await planScenarioInMemory({ source, map: after, state: compared }))).toBe(0);
});

test("changes that were not applied have no entry", async () => {
  const before = [pointFeature(10, 50, { ref: "a", n: 1 }, "id-a")];
  const plan = await planScenarioInMemory({ source, map: before });
  expect(await agree(plan, before, byRef)).toBe(false);
  expect((await planScenarioInMemory({ source, map: before, state: compared })).counts).toMatchObject({
    create: 1,
    update: 1,
  });
});

test("with ids, features without one find their assigned ids, even when rounded", async () => {
  const twins = [
    pointFeature(10.1234567, 50, { n: 1 }),
    pointFeature(10.1234567, 50, { n: 1 }),
    pointFeature(12, 52, { n: 3 }, "id-old"),
  ];
  const before = [pointFeature(10.12346, 50, { n: 1 }, "id-other"), pointFeature(12, 52, { n: 3 }, "id-old")];
  const first = await planScenarioInMemory({ source: twins, map: before, key: byId, mode: "incremental" });
  expect(first.counts).toMatchObject({ create: 2, same: 1, onlyOnMap: 1 });
  const after = [...before, pointFeature(10.12346, 50, { n: 1 }, "id-1"), pointFeature(10.12346, 50, { n: 1 }, "id-2")];
  await agree(first, after, byId);
  const second = await planScenarioInMemory({
    source: twins,
    map: after,
    key: byId,
    mode: "incremental",
    state: compared,
  });
  expect(second.counts).toMatchObject({ create: 0, update: 0, same: 3, onlyOnMap: 1 });
});

describe("with --replace-properties", () => {
  const replacing = { replaceProperties: true };

  test("properties that earlier runs without it left on the map are removed", async () => {
    const map = [
      pointFeature(10.1234567, 50, { ref: "a", n: 0, ext: 1 }, "id-a"),
      pointFeature(11.7654321, 51, { ref: "b", n: 2, ext: 1 }, "id-b"),
    ];
    const first = await planScenarioInMemory({ source, map, state: compared });
    expect(first.counts).toMatchObject({ update: 1, same: 1 });
    const after = [{ ...map[0]!, properties: { ref: "a", n: 1, ext: 1 } }, map[1]!];
    expect(await agree(first, after, byRef)).toBe(true);
    expect((await planScenarioInMemory({ source, map: after, state: compared })).counts.same).toBe(2);
    const plan = await planScenarioInMemory({ source, map: after, state: compared, request: replacing });
    expect(plan.counts).toMatchObject({ update: 2, same: 0 });
  });

  test("values rounded by the service count as unchanged after a run without it", async () => {
    const after = [
      pointFeature(10.12346, 50, { ref: "a", n: "1" }, "id-a"),
      pointFeature(11.76543, 51, { ref: "b", n: " 2" }, "id-b"),
    ];
    await agree(await planScenarioInMemory({ source, map: [], state: compared }), after, byRef);
    const plan = await planScenarioInMemory({ source, map: after, state: compared, request: replacing });
    expect(plan.counts.same).toBe(2);
  });
});
