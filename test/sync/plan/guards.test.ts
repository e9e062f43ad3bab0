import { expect, test } from "vitest";
import { checkGuards, findTrippedGuards } from "../../../src/sync/plan/guards.js";
import type { PlanCounts, PlanHeader } from "../../../src/sync/plan/plan.js";
import type { Guards, Limit } from "../../../src/sync/request.js";
import { request } from "../diff-scenario.js";

const counts: PlanCounts = {
  create: 0,
  update: 0,
  delete: 0,
  same: 100,
  unmanaged: 0,
  protected: 0,
  onlyOnMap: 0,
  geometryLost: 0,
};

interface Case {
  readonly counts?: Partial<PlanCounts>;
  readonly guards?: Partial<Guards>;
  readonly source?: Partial<PlanHeader["source"]>;
  readonly mode?: PlanHeader["mode"];
  readonly unmanaged?: "refuse" | "keep" | "delete";
}

function planOf(given: Case): { header: PlanHeader; counts: PlanCounts } {
  const { scope, precision, replaceProperties, updateWith, settleTime, singleRead, guards } = request;
  const header: PlanHeader = {
    type: "plan",
    version: 2,
    service: "https://maps.example.org",
    map: "m",
    mode: given.mode ?? "full",
    key: { by: "property", name: "ref" },
    settings: {
      scope,
      precision,
      replaceProperties,
      updateWith,
      settleTime,
      singleRead,
      unmanaged: given.unmanaged ?? "refuse",
      guards: { ...guards, ...given.guards },
    },
    source: {
      inputs: ["places.csv"],
      fingerprint: "",
      features: 100,
      complete: true,
      rejected: 0,
      unidentified: 0,
      gaps: 0,
      files: [],
      ...given.source,
    },
    snapshot: { etag: null, fingerprint: "", features: 100 },
    put: false,
  };
  return { header, counts: { ...counts, ...given.counts } };
}

const reasons = (given: Case): string[] => findTrippedGuards(planOf(given)).map(({ reason }) => reason);

const of = (text: string): Limit =>
  text.endsWith("%")
    ? { text, count: Number.POSITIVE_INFINITY, share: Number(text.slice(0, -1)) / 100 }
    : { text, count: Number(text), share: 1 };

test.each<[string, Case, string | null]>([
  ["a tenth of the map", { counts: { delete: 10, same: 90 } }, null],
  [
    "more than a tenth",
    { counts: { delete: 11, same: 89 } },
    "11 of 100 features (11 %) would be deleted, more than the default limit of 10 %; --max-delete 11 allows it",
  ],
  ["all of ten features", { counts: { delete: 10, same: 0 } }, null],
  [
    "two of eleven features",
    { counts: { delete: 2, same: 9 } },
    "2 of 11 features (18.2 %) would be deleted, more than the default limit of 10 %; --max-delete 2 allows it",
  ],
  ["as many as are allowed", { counts: { delete: 40, same: 60 }, guards: { maxDelete: of("40") } }, null],
  [
    "more than are allowed",
    { counts: { delete: 40, same: 60 }, guards: { maxDelete: of("39") } },
    "40 of 100 features (40 %) would be deleted, more than --max-delete 39; --max-delete 40 allows it",
  ],
  ["as large a share as is allowed", { counts: { delete: 40, same: 60 }, guards: { maxDelete: of("40%") } }, null],
  // 0.29 × 100 is 28.999999999999996.
  ["exactly the share that is allowed", { counts: { delete: 29, same: 71 }, guards: { maxDelete: of("29%") } }, null],
  [
    "a larger share than is allowed, of a small map too",
    { counts: { delete: 1, same: 3 }, guards: { maxDelete: of("20%") } },
    "1 of 4 features (25 %) would be deleted, more than --max-delete 20%; --max-delete 1 allows it",
  ],
  ["any number of updates", { counts: { update: 100, same: 0 } }, null],
  [
    "more updates than are allowed",
    { counts: { update: 1500, same: 500 }, guards: { maxUpdate: of("50%") } },
    "1,500 of 2,000 features (75 %) would be changed, more than --max-update 50%; --max-update 1500 allows it",
  ],
  [
    "a geometry that goes",
    { counts: { update: 1, geometryLost: 1 } },
    "1 feature would lose its geometry; --allow-null-geometry allows it",
  ],
  ["geometries that may go", { counts: { geometryLost: 2 }, guards: { allowNullGeometry: true } }, null],
  [
    "an empty source",
    { source: { features: 0 }, mode: "incremental" },
    "the source has no features, but the map has 100; --allow-empty allows it",
  ],
  ["an empty source of an empty map", { source: { features: 0 }, counts: { same: 0 } }, null],
  ["a source that may be empty", { source: { features: 0 }, guards: { allowEmpty: true } }, null],
  [
    "a source with a gap",
    { source: { complete: false, gaps: 1 } },
    "1 part of the source could not be read, and a full sync would delete unread features from the map; use --mode incremental, which deletes nothing",
  ],
  ["a source with a gap that only adds", { source: { complete: false, gaps: 1 }, mode: "incremental" }, null],
  [
    "a source that was read in part",
    { source: { complete: false } },
    "the source was not read to its end (--limit), and a full sync would delete unread features from the map; use --mode incremental, which deletes nothing",
  ],
  ["rejects with keys", { source: { complete: false, rejected: 3 }, counts: { delete: 1 } }, null],
  [
    "rejects without keys",
    { source: { complete: false, rejected: 3, unidentified: 2 }, counts: { delete: 1 } },
    "2 features of the source were rejected without a key and may match the 1 feature that would be deleted; correct the source, or use --mode incremental, which deletes nothing",
  ],
  [
    "features without a key",
    { counts: { unmanaged: 2 } },
    'of the map have no property "ref", so they cannot be matched with the source; --keep-unmanaged keeps them, --delete-unmanaged deletes them',
  ],
  ["features without a key that are kept", { counts: { unmanaged: 2 }, unmanaged: "keep" }, null],
  ["features without a key, incrementally", { counts: { unmanaged: 2 }, mode: "incremental" }, null],
])("guard: %s", (_, given, expected) => {
  const [reason = null, ...others] = reasons(given);
  expect(others).toEqual([]);
  if (expected === null) expect(reason).toBeNull();
  else expect(reason).toContain(expected);
});

test("the check reports all tripped guards at once", () => {
  const plan = planOf({ counts: { delete: 30, same: 70, unmanaged: 1 } });
  expect(() => checkGuards(plan)).toThrow(
    expect.objectContaining({
      code: "guard-sync",
      kind: "guard",
      message: [
        "map m of https://maps.example.org: nothing was sent:",
        '  - 1 feature of the map has no property "ref", so it cannot be matched with the source; --keep-unmanaged keeps it, --delete-unmanaged deletes it',
        "  - 30 of 101 features (29.7 %) would be deleted, more than the default limit of 10 %; --max-delete 30 allows it",
      ].join("\n"),
    }),
  );
});

test("a plan within the default limits passes", () => {
  expect(() => checkGuards(planOf({ counts: { create: 500, update: 100, delete: 1 } }))).not.toThrow();
});
