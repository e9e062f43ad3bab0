import { describe, expect, test } from "vitest";
import type { PlanAction } from "../../../src/sync/plan/plan.js";
import { type FeatureInput, planScenario, pointFeature } from "../diff-scenario.js";

const none = {
  create: 0,
  update: 0,
  delete: 0,
  same: 0,
  unmanaged: 0,
  protected: 0,
  onlyOnMap: 0,
  geometryLost: 0,
};

const source = [
  pointFeature(1, 1, { ref: "a", name: "same" }),
  pointFeature(2.5, 2, { ref: "b", name: "new" }),
  pointFeature(4, 4, { ref: "d" }),
];
const map = [
  pointFeature(1, 1, { name: "same", ref: "a" }, "id-a"),
  pointFeature(2, 2, { ref: "b", name: "old", extra: 1 }, "id-b"),
  pointFeature(3, 3, { ref: "c" }, "id-c"),
];

const creates = [
  { action: "create", key: "d", feature: { geometry: { coordinates: [4, 4] }, properties: { ref: "d" } } },
];
const updates = [
  {
    action: "update",
    id: "id-b",
    key: "b",
    page: 1,
    changed: ["geometry", "properties.name"],
    before: { id: "id-b", geometry: { coordinates: [2, 2] }, properties: { ref: "b", name: "old", extra: 1 } },
    feature: { geometry: { coordinates: [2.5, 2] }, properties: { ref: "b", name: "new", extra: 1 } },
  },
];
const same = { action: "keep", why: "same", id: "id-a", key: "a" };

describe("modes", () => {
  test("full mode creates, updates, deletes and keeps, in this order", async () => {
    const { plan: made, actions } = await planScenario({ source, map });
    expect(made.counts).toEqual({ ...none, create: 1, update: 1, delete: 1, same: 1 });
    const gone = { action: "delete", id: "id-c", key: "c", before: { id: "id-c", properties: { ref: "c" } } };
    expect(actions).toMatchObject([...creates, ...updates, gone, same]);
  });

  test("incremental mode deletes nothing", async () => {
    const { plan: made, actions } = await planScenario({ source, map, mode: "incremental" });
    expect(made.counts).toEqual({ ...none, create: 1, update: 1, same: 1, onlyOnMap: 1 });
    const stays = { action: "keep", why: "only-on-map", id: "id-c", key: "c" };
    expect(actions).toMatchObject([...creates, ...updates, same, stays]);
  });

  test("append mode creates everything without matching", async () => {
    const { plan: made, actions } = await planScenario({ source, map, mode: "append", key: null });
    expect(made.counts).toEqual({ ...none, create: 3 });
    expect(actions.map((one) => (one.action === "create" ? one.feature.properties.ref : null))).toEqual([
      "a",
      "b",
      "d",
    ]);
    expect(actions.every((one) => one.action === "create" && one.key === null && one.agreement === null)).toBe(true);
  });

  test("delete mode deletes the listed features and changes nothing else", async () => {
    const { plan: made, actions } = await planScenario({ source, map, mode: "delete" });
    expect(made.counts).toEqual({ ...none, delete: 2, onlyOnMap: 1 });
    expect(actions).toMatchObject([
      { action: "delete", id: "id-a" },
      { action: "delete", id: "id-b" },
      { action: "keep", why: "only-on-map", id: "id-c" },
    ]);
  });

  test("features without a key stay, unless their deletion is requested", async () => {
    const keyless = [...map, pointFeature(9, 9, { name: "drawn by hand" }, "id-x")];
    const kept = await planScenario({ source, map: keyless });
    expect(kept.plan.counts).toMatchObject({ delete: 1, unmanaged: 1 });
    expect(kept.actions.at(-1)).toMatchObject({
      action: "keep",
      why: "unmanaged",
      id: "id-x",
      key: null,
      feature: { geometry: { coordinates: [9, 9] }, properties: { name: "drawn by hand" } },
    });
    const gone = await planScenario({ source, map: keyless, request: { unmanaged: "delete" } });
    expect(gone.plan.counts).toMatchObject({ delete: 2, unmanaged: 0 });
  });

  test("the match of a rejected feature stays", async () => {
    const { plan: made, actions } = await planScenario({ source, map, rejected: ["c"] });
    expect(made.counts).toEqual({ ...none, create: 1, update: 1, same: 1, protected: 1 });
    expect(actions.at(-1)).toEqual({ action: "keep", why: "protected", id: "id-c", key: "c" });
  });
});

describe("merged values", () => {
  const updateOf = async (now: FeatureInput, before: FeatureInput, replaceProperties = false) => {
    const { actions } = await planScenario({
      source: [now],
      map: [{ ...before, id: "id" }],
      request: { replaceProperties },
    });
    const [action] = actions as [Extract<PlanAction, { action: "update" }>];
    return action.action === "update" ? { changed: action.changed, properties: action.feature.properties } : action;
  };

  test("source values replace the map's values", async () => {
    expect(
      await updateOf(pointFeature(1, 1, { ref: "a", size: 2 }), pointFeature(1, 1, { ref: "a", size: 1, note: "own" })),
    ).toEqual({
      changed: ["properties.size"],
      properties: { ref: "a", size: 2, note: "own" },
    });
  });

  test("merging removes properties that only the map has, on request", async () => {
    expect(
      await updateOf(pointFeature(1, 1, { ref: "a" }), pointFeature(1, 1, { ref: "a", note: "own", gone: null }), true),
    ).toEqual({
      changed: ["properties.note"],
      properties: { ref: "a" },
    });
  });

  test("merging removes values that are null in the source", async () => {
    expect(
      await updateOf(pointFeature(1, 1, { ref: "a", note: null }), pointFeature(1, 1, { ref: "a", note: "x" })),
    ).toEqual({
      changed: ["properties.note"],
      properties: { ref: "a", note: null },
    });
  });

  test("merging replaces nested values entirely", async () => {
    expect(
      await updateOf(
        pointFeature(1, 1, { ref: "a", tags: { b: 2 } }),
        pointFeature(1, 1, { ref: "a", tags: { a: 1, b: 2 } }),
      ),
    ).toEqual({
      changed: ["properties.tags"],
      properties: { ref: "a", tags: { b: 2 } },
    });
  });

  test("merging supports arbitrary property names", async () => {
    const now = pointFeature(1, 1, JSON.parse('{"ref":"a","__proto__":"new","constructor":2}'));
    const before = pointFeature(1, 1, JSON.parse('{"ref":"a","__proto__":"old"}'));
    const found = (await updateOf(now, before)) as { changed: string[]; properties: object };
    expect(found.changed).toEqual(["properties.__proto__", "properties.constructor"]);
    expect(JSON.stringify(found.properties)).toBe('{"ref":"a","__proto__":"new","constructor":2}');
  });

  test.each([
    ["null for absent", pointFeature(1, 1, { ref: "a", note: null }), pointFeature(1, 1, { ref: "a" })],
    [
      "the order of names",
      pointFeature(1, 1, { ref: "a", b: { c: 1, d: 2 } }),
      pointFeature(1, 1, { b: { d: 2, c: 1 }, ref: "a" }),
    ],
    ["negative zero", pointFeature(-0, 1, { ref: "a", n: -0 }), pointFeature(0, 1, { ref: "a", n: 0 })],
    ["decimals beyond the precision", pointFeature(1.00000004, 1, { ref: "a" }), pointFeature(1, 1, { ref: "a" })],
    ["what only the map has", pointFeature(1, 1, { ref: "a" }), pointFeature(1, 1, { ref: "a", note: "own" })],
    ["the type of the key", pointFeature(1, 1, { ref: "7" }), pointFeature(1, 1, { ref: 7 })],
  ])("merging ignores a difference in %s", async (_, now, before) => {
    expect(await updateOf(now, before)).toMatchObject({ action: "keep", why: "same" });
  });

  test("merging keeps the key type of the map", async () => {
    const { actions } = await planScenario({
      source: [pointFeature(2, 2, { ref: "7" })],
      map: [pointFeature(1, 1, { ref: 7 }, "id")],
    });
    expect(actions[0]).toMatchObject({ key: 7, changed: ["geometry"], feature: { properties: { ref: 7 } } });
  });

  test("merging counts removed geometries", async () => {
    const now = { geometry: null, properties: { ref: "a" } };
    const { plan: made } = await planScenario({ source: [now], map: [pointFeature(1, 1, { ref: "a" })] });
    expect(made.counts).toEqual({ ...none, update: 1, geometryLost: 1 });
  });
});

describe("a map with fewer decimals", () => {
  /** Rounds to six decimals; the source has seven. */
  const exact = Array.from({ length: 8 }, (_, i) => pointFeature(10 + i / 7, 50 + i / 9, { ref: `r${i}` }));
  const rounded = (decimals: number) =>
    exact.map(({ geometry, properties }) => {
      const [x, y] = (geometry as { coordinates: number[] }).coordinates;
      return pointFeature(Number(x!.toFixed(decimals)), Number(y!.toFixed(decimals)), properties);
    });

  test.each([6, 5, 4])("a map with fewer decimals is compared at %d decimals", async (decimals) => {
    const { plan: made, actions } = await planScenario({ source: exact, map: rounded(decimals) });
    expect(made.counts).toEqual({ ...none, same: 8 });
    expect(actions.filter((one) => one.action === "keep" && one.agreement)).toHaveLength(7);
  });

  test("a map with fewer decimals detects features that moved farther than the rounding", async () => {
    const [first, ...others] = exact;
    const moved = pointFeature(10.00001, 50, first!.properties);
    const { plan: made } = await planScenario({ source: [moved, ...others], map: rounded(6) });
    expect(made.counts).toEqual({ ...none, update: 1, same: 7 });
  });

  test("round numbers do not count as rounding by the service", async () => {
    const { plan: made } = await planScenario({
      source: [pointFeature(10.4, 50.2, { ref: "a" })],
      map: [pointFeature(10, 50, { ref: "a" })],
    });
    expect(made.counts).toEqual({ ...none, update: 1 });
  });

  test("a map with fewer decimals is compared exactly if most features are unrounded", async () => {
    const still = Array.from({ length: 8 }, (_, i) => pointFeature(i + 0.1234, i, { ref: `s${i}` }));
    const { plan: made } = await planScenario({
      source: [...still, pointFeature(8.12341, 8, { ref: "moved" })],
      map: [...still, pointFeature(8.1234, 8, { ref: "moved" })],
    });
    expect(made.counts).toEqual({ ...none, update: 1, same: 8 });
  });
});

describe("matching by id", () => {
  const byId = { by: "id" } as const;

  test("matches by id without a property", async () => {
    const { actions } = await planScenario({
      source: [
        pointFeature(5, 5, { n: 1 }, "id-a"),
        pointFeature(6, 6, { n: 2 }, "id-z"),
        pointFeature(7, 7, { n: 3 }),
      ],
      map: [pointFeature(1, 1, { n: 1 }, "id-a"), pointFeature(2, 2, {}, "id-b")],
      key: byId,
    });
    expect(actions).toMatchObject([
      { action: "create", key: "id-z", feature: { properties: { n: 2 } } },
      { action: "create", key: null, feature: { properties: { n: 3 } } },
      { action: "update", id: "id-a", key: "id-a", feature: { id: "id-a" } },
      { action: "delete", id: "id-b" },
    ]);
    const names = actions.flatMap((one) => (one.action === "create" ? [one.agreement!.name] : []));
    expect(names[0]).toBe("id-z");
    expect(names[1]).toMatch(/^content:[0-9a-f]{32}:1$/);
  });

  test("matching by id finds features with assigned ids by their content names", async () => {
    const given: Record<string, string> = { "id-z": "id-1" };
    const first = [pointFeature(6, 6, { n: 2 }, "id-z"), pointFeature(7, 7, { n: 3 }), pointFeature(7, 7, { n: 3 })];
    const { actions } = await planScenario({ source: first, map: [], key: byId });
    actions.forEach((one, i) => {
      if (one.action === "create") given[one.agreement!.name] = `id-${i + 1}`;
    });
    const state = {
      isEmpty: false,
      getDigests: () => null,
      isKnownResult: () => false,
      getAssignedId: (name: string) => given[name] ?? null,
    };
    const map = first.map((one, i) => ({ ...one, id: `id-${i + 1}` }));
    const again = await planScenario({ source: first, map, key: byId, state });
    expect(again.plan.counts).toEqual({ ...none, same: 3 });
  });
});

describe("one PUT", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => pointFeature(i / 100, 0, { ref: i }));
  const isPut = async (scene: Parameters<typeof planScenario>[0]) => (await planScenario(scene)).plan.header.put;

  test("a complete set is sent in one PUT that repeats unchanged features", async () => {
    const { plan: made, actions } = await planScenario({ source, map });
    expect(made.header.put).toBe(true);
    expect(actions.at(-1)).toMatchObject({ why: "same", feature: { properties: { ref: "a", name: "same" } } });
  });

  test.each<[string, Parameters<typeof planScenario>[0], boolean]>([
    ["1000 features", { source: many(1000), map: [] }, true],
    ["1001 features", { source: many(1001), map: [] }, false],
    ["nothing to do", { source: [source[0]!], map: [map[0]!] }, false],
    ["a source that was not read whole", { source, map, facts: { complete: false } }, false],
    ["an empty source", { source: [], map }, false],
    ["a scope", { source, map, request: { scope: { property: "ref", value: "a" } } }, false],
    ["incremental", { source, map, mode: "incremental" }, false],
    [
      "features without a key that stay",
      { source, map: [...map, pointFeature(9, 9, {})], request: { unmanaged: "keep" } },
      false,
    ],
    [
      "features without a key that go",
      { source, map: [...map, pointFeature(9, 9, {})], request: { unmanaged: "delete" } },
      true,
    ],
    [
      "9 MiB",
      {
        source: many(9).map((one) => ({ ...one, properties: { ...one.properties, text: "x".repeat(2 ** 20) } })),
        map: [],
      },
      false,
    ],
  ])("the diff decides on one PUT with %s", async (_, scene, expected) => {
    expect(await isPut(scene)).toBe(expected);
  });
});
