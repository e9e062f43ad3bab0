/**
 * Generated scenarios of synchronizations with faults between source and map, and the properties of the map during and
 * after them (derived from the rules of full and incremental synchronization, not from the code).
 */
import fc from "fast-check";
import { canonicalFeature } from "../../../src/canonical/canonical-feature.js";
import type { WireFeature } from "../../../src/remote/wire.js";
import type { SyncRequest } from "../../../src/sync/request.js";
import type { ProxyFault } from "../servers/fault-proxy.js";
import * as faults from "../servers/proxy-faults.js";
import { createPlace, type Place } from "./sync-fixture.js";

/** Behaviors of the service behind the proxy. */
export const serviceBehaviors: Readonly<Record<string, readonly ProxyFault[]>> = {
  ours: [],
  "no more than the interface": [
    faults.withoutHeaders("etag", "link", "if-match", "if-none-match", "idempotency-key", "idempotency-replayed"),
    faults.shuffledSuccess,
  ],
  "six decimals": [faults.roundedTo(6)],
  "PATCH replaces": [faults.replacingPatch],
  "PATCH merges deeply": [faults.deepPatch],
};

/** Another writer changes a feature of its own, or one of the source, around the nth request of a kind. */
export interface ConcurrentWrite {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  readonly nth: number;
  readonly when: "before" | "after";
  readonly what: "add" | "change" | "remove";
}

export interface Scenario {
  readonly mode: "incremental" | "full";
  readonly manner: string;
  /** Features on the map at the start. */
  readonly held: readonly Place[];
  readonly source: readonly Place[];
  /** Features of another job with the same keys; the synchronization then has a scope. */
  readonly twins: readonly Place[];
  readonly scope: SyncRequest["scope"];
  readonly seed: number;
  /** Share of requests with faults. */
  readonly share: number;
  /** Number of runs with faults, before one without. */
  readonly disturbed: number;
  readonly concurrency: number;
  readonly intrusion: ConcurrentWrite | null;
}

type FeatureChange = "same" | "changed" | "gone" | "new";

const featureChange = fc.oneof(
  { weight: 6, arbitrary: fc.constant<FeatureChange>("same") },
  { weight: 2, arbitrary: fc.constant<FeatureChange>("changed") },
  { weight: 2, arbitrary: fc.constant<FeatureChange>("gone") },
  { weight: 3, arbitrary: fc.constant<FeatureChange>("new") },
);

/** Feature n in version v; 0 is the initial version of the map. */
export function placeVersion(n: number, v: number): Place {
  const nested = v === 0 ? { deep: { a: n, b: { c: 1 } } } : { deep: { a: n, b: { d: v } } };
  const shape = [n % 3 === 0 ? nested : {}, n % 5 === 0 ? { gone: v === 0 ? "soon" : null } : {}];
  const made = createPlace(`k${n}`, { v, title: `Place ${n}`, ...shape[0], ...shape[1] });
  // Some changes affect the geometry only.
  return v > 0 && n % 4 === 0 ? { ...createPlace(`k${n}`, placeVersion(n, 0).properties, [8 + v, 47]) } : made;
}

const concurrentWrite: fc.Arbitrary<ConcurrentWrite> = fc.record({
  method: fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT"),
  nth: fc.integer({ min: 1, max: 3 }),
  when: fc.constantFrom("before", "after"),
  what: fc.constantFrom("add", "change", "remove"),
});

/** Mostly small; some need several pages and several writes. */
const scenarioSize = fc.oneof({ weight: 14, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(60) });

export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    mode: fc.constantFrom<Scenario["mode"]>("incremental", "full"),
    manner: fc.constantFrom(...Object.keys(serviceBehaviors)),
    fates: fc.array(featureChange, { minLength: 1, maxLength: 40 }),
    size: scenarioSize,
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    share: fc.constantFrom(0.05, 0.2, 0.5),
    disturbed: fc.integer({ min: 1, max: 3 }),
    concurrency: fc.constantFrom(1, 4),
    intrusion: fc.option(concurrentWrite, { nil: null, freq: 4 }),
    isShared: fc.constantFrom(false, false, true),
  })
  .map(({ fates, size, isShared, ...rest }) => {
    const many = fates.flatMap((one) => Array<FeatureChange>(size).fill(one));
    const pick = (wanted: readonly FeatureChange[], v: number) =>
      many.flatMap((one, n) =>
        wanted.includes(one) ? [isShared ? assignJob("ours", placeVersion(n, v)) : placeVersion(n, v)] : [],
      );
    return {
      ...rest,
      // With shared keys, another writer would change both features.
      intrusion: isShared ? null : rest.intrusion,
      twins: isShared ? many.map((_, n) => assignJob("theirs", placeVersion(n, 0))) : [],
      scope: isShared ? { property: "job", value: "ours" } : null,
      held: pick(["same", "changed", "gone"], 0),
      source: [...pick(["same"], 0), ...pick(["changed", "new"], 1)],
    };
  })
  // Empty sources, and sources with few matches, are stopped by guards, which have separate tests.
  .filter(
    ({ held, source }) => source.length > 0 && countMatches(held, source) >= Math.min(held.length, source.length) / 2,
  );

const assignJob = (job: "ours" | "theirs", { properties, ...rest }: Place): Place => ({
  ...rest,
  properties: { ...properties, job },
});

/** Whether a feature belongs to another job. */
export const isOtherJobFeature = ({ properties }: Pick<Place, "properties">): boolean => properties.job === "theirs";

const refOf = ({ properties }: Pick<Place, "properties">): unknown => properties.ref;

function countMatches(held: readonly Place[], source: readonly Place[]): number {
  const keys = new Set(held.map(refOf));
  return source.filter((one) => keys.has(refOf(one))).length;
}

/** Violated properties; empty if all hold. */
export type Violations = readonly string[];

/** Properties that hold at any time. @param removed keys that another writer removed */
export function findViolationsDuring(
  { mode, held, source }: Scenario,
  map: readonly WireFeature[],
  removed: ReadonlySet<unknown>,
): Violations {
  const there = countByKey(map);
  const lost = held.map(refOf).filter((key) => !there.has(key) && !removed.has(key));
  const wanted = new Set(source.map(refOf));
  const missing = [...wanted].filter((key) => !there.has(key) && !removed.has(key));
  return [
    ...[...there].flatMap(([key, count]) => (count > 1 ? [`${key} is there ${count} times`] : [])),
    ...lost.filter((key) => mode === "incremental" || wanted.has(key)).map((key) => `${key} is lost`),
    ...(lost.length > 0 && missing.length > 0 ? [`${lost} deleted before ${missing} created`] : []),
  ];
}

/** Properties that hold after a run without faults. @param ids ids of features by key, as at the start */
export function findViolationsAfter(
  scenario: Scenario,
  map: readonly WireFeature[],
  ids: ReadonlyMap<unknown, string>,
  others: ReadonlySet<unknown>,
): Violations {
  const { mode, held, source } = scenario;
  const found = new Map(map.map((feature) => [refOf(feature), feature]));
  const wanted = new Set(source.map(refOf));
  const decimals = scenario.manner === "six decimals" ? 6 : 7;
  const text = ({ geometry, properties }: Place | WireFeature) =>
    canonicalFeature({ geometry, properties }, { degrees: decimals, metres: 3 });
  const complaints: string[] = [...findViolationsDuring(scenario, map, others)];
  for (const one of source) {
    const key = refOf(one);
    const feature = found.get(key);
    if (!feature) complaints.push(`${key} is missing`);
    else if (text({ ...feature, properties: { ...feature.properties, touched: null } }) !== text(one))
      complaints.push(`${key} is ${text(feature)}, not ${text(one)}`);
    const id = ids.get(key);
    if (feature && id !== undefined && feature.id !== id && !others.has(key)) complaints.push(`${key} has another id`);
  }
  const mayStay = new Set([...wanted, ...(mode === "incremental" ? [...held.map(refOf), ...others] : [])]);
  for (const key of found.keys()) if (!mayStay.has(key)) complaints.push(`${key} is still there`);
  return complaints;
}

function countByKey(map: readonly WireFeature[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const feature of map) counts.set(refOf(feature), (counts.get(refOf(feature)) ?? 0) + 1);
  return counts;
}
