/**
 * For arbitrary sides, applying the plan to a model of the map gives what the mode promises, and a second plan is
 * empty.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlanAction } from "../../../src/sync/plan/plan.js";
import { type FeatureInput, planScenario, withIds } from "../diff-scenario.js";

const value = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom("", "x", "é", "\u2028"),
  fc.constantFrom({ a: 1 }, { a: 1, b: null }, [1, [2]]),
);
const position = fc.tuple(fc.integer({ min: -1799, max: 1799 }), fc.integer({ min: -899, max: 899 }));
const geometry = fc.option(
  fc.oneof(
    position.map(([x, y]) => ({ type: "Point" as const, coordinates: [x / 10, y / 10] })),
    fc.array(position, { minLength: 2, maxLength: 3 }).map((positions) => ({
      type: "LineString" as const,
      coordinates: positions.map(([x, y]) => [x / 10, y / 10]),
    })),
  ),
  { nil: null, freq: 5 },
);
const own = fc.dictionary(fc.constantFrom("name", "size", "tags", "__proto__", "constructor"), value);
const feature = fc.record({ geometry, properties: own });

/** Features with unique keys, and some without. */
const side = (keyless: number) =>
  fc
    .tuple(
      fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean(), feature), { selector: ([key]) => key }),
      fc.array(feature, { maxLength: keyless }),
    )
    .map(([keyed, others]): FeatureInput[] => [
      ...keyed.map(([key, asText, one]) => ({
        geometry: one.geometry,
        properties: Object.fromEntries([...Object.entries(one.properties), ["ref", asText ? `${key}` : key]]),
      })),
      ...others,
    ]);

const settings = fc.record({
  mode: fc.constantFrom("full" as const, "incremental" as const, "delete" as const),
  unmanaged: fc.constantFrom("keep" as const, "delete" as const),
  replaceProperties: fc.boolean(),
});

const refOf = ({ properties }: FeatureInput): string | null =>
  properties.ref === undefined || properties.ref === null ? null : String(properties.ref);

function carriedOut(map: readonly FeatureInput[], actions: readonly PlanAction[]): FeatureInput[] {
  const features = new Map(map.map((one) => [one.id!, one]));
  for (const action of actions) {
    if (action.action === "delete") expect(features.delete(action.id)).toBe(true);
    else if (action.action === "update") {
      expect(features.has(action.id)).toBe(true);
      features.set(action.id, { ...action.feature, id: action.id });
    } else if (action.action === "create") {
      const [created] = withIds([{ geometry: action.feature.geometry, properties: action.feature.properties }]);
      features.set(created!.id!, created!);
    } else expect(features.has(action.id)).toBe(true);
  }
  return [...features.values()];
}

const plain = ({ geometry, properties }: FeatureInput) => ({
  geometry,
  properties: Object.fromEntries(
    Object.entries(properties)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, name === "ref" ? String(one) : one])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  ),
});
const sorted = (features: readonly FeatureInput[]) => features.map((one) => JSON.stringify(plain(one))).sort();

interface Settings {
  readonly mode: "full" | "incremental" | "delete";
  readonly unmanaged: "keep" | "delete";
  readonly replaceProperties: boolean;
}

/** The promises of SYNC, in a simple model. */
function promised(
  source: readonly FeatureInput[],
  map: readonly FeatureInput[],
  { mode, unmanaged, replaceProperties }: Settings,
): FeatureInput[] {
  const before = new Map(map.map((one) => [refOf(one), one]));
  const wanted = new Map(source.map((one) => [refOf(one), one]));
  const stays = map.filter((one) => {
    const key = refOf(one);
    if (key === null) return mode !== "full" || unmanaged === "keep";
    return mode === "delete" ? !wanted.has(key) : mode === "incremental" && !wanted.has(key);
  });
  if (mode === "delete") return stays;
  const written = source.map((one) => {
    const held = before.get(refOf(one))?.properties ?? {};
    const properties = replaceProperties
      ? one.properties
      : Object.fromEntries([...Object.entries(held), ...Object.entries(one.properties)]);
    return { geometry: one.geometry, properties };
  });
  return [...stays, ...written];
}

test("a plan does what its mode promises, and a second plan is empty", async () => {
  await fc.assert(
    fc.asyncProperty(side(0), side(3), settings, async (source, loose, chosen) => {
      const map = withIds(loose);
      const { mode, ...request } = chosen;
      const { actions } = await planScenario({ source, map, mode, request });
      const result = carriedOut(map, actions);
      expect(sorted(result)).toEqual(sorted(promised(source, map, chosen)));
      const again = await planScenario({ source, map: result, mode, request });
      expect(again.actions.filter(({ action }) => action !== "keep")).toEqual([]);
    }),
    { numRuns: 150, seed: 20_261_122 },
  );
}, 120_000);
