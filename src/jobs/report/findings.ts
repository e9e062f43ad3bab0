/** What a conversion or a synchronization found besides the features it carried: reported, kept, and compared with the last time. */
import type { Loss, SkippedRange } from "../../model/report.js";
import { describeSkippedRange } from "../../pipeline/report.js";

/** One kind of loss, note or gap of an output, over all its layers. */
export interface Finding {
  readonly code: string;
  readonly field?: string;
  /** Fields of this kind, where they are too many to be listed one by one. */
  readonly fields?: number;
  readonly count: number;
  readonly example: string;
}

/** The lists of findings that a report has. */
export interface FindingLists {
  readonly losses: readonly Finding[];
  readonly notices: readonly Finding[];
  /** Stretches of the sources that were given up: one entry with their number. */
  readonly gaps: readonly Finding[];
}

/** Features by what became of them, as far as two runs can be compared by it. */
export interface ComparedCounts {
  readonly read?: number;
  readonly written?: number;
  readonly rejected?: number;
  readonly withoutGeometry?: number;
}

/** What is kept of an output, to be reported while it is unchanged and compared when it is written again. */
export interface Findings extends FindingLists {
  readonly counts: ComparedCounts;
  /** The file with the rejected features. */
  readonly rejects?: string;
}

/** Something that is worse than the last time: a new kind of loss or note, more of a known one, or fewer features. */
export interface Regression {
  readonly what: keyof ComparedCounts | "loss" | "notice" | "gap";
  readonly code?: string;
  readonly field?: string;
  /** Null where the last time had none of this kind. */
  readonly before: number | null;
  readonly now: number;
  readonly example?: string;
}

export const emptyFindings: FindingLists = { losses: [], notices: [], gaps: [] };

/** More kinds than that are merged by their codes: a table may have thousands of columns. */
const maxFindingKinds = 100;

/** The kinds in a list, by code and field, with their counts added up. */
export function groupFindings(list: readonly (Finding | Loss)[]): Finding[] {
  const kinds = mergeFindings(list, ({ code, field }) => JSON.stringify([code, field]));
  if (kinds.length <= maxFindingKinds) return kinds;
  return mergeFindings(
    kinds.map(({ field, fields, ...kind }) => ({ ...kind, fields: fields ?? (field === undefined ? 0 : 1) })),
    ({ code }) => code,
  );
}

function mergeFindings(list: readonly (Finding | Loss)[], keyOf: (finding: Finding) => string): Finding[] {
  const kinds = new Map<string, Finding>();
  for (const { code, field, count, example, ...rest } of list) {
    const { fields } = rest as Pick<Finding, "fields">;
    const one: Finding = {
      code,
      ...(field === undefined ? {} : { field }),
      ...(fields === undefined ? {} : { fields }),
      count,
      example,
    };
    const key = keyOf(one);
    const known = kinds.get(key);
    kinds.set(key, known ? addFinding(known, one) : one);
  }
  return [...kinds.values()];
}

function addFinding(known: Finding, { count, fields = 0 }: Finding): Finding {
  const all = (known.fields ?? 0) + fields;
  return { ...known, count: known.count + count, ...(all > 0 ? { fields: all } : {}) };
}

export const toFindingLists = (
  losses: readonly Loss[],
  notices: readonly Loss[],
  gaps: readonly SkippedRange[],
): FindingLists => ({
  losses: groupFindings(losses),
  notices: groupFindings(notices),
  gaps: gaps.length === 0 ? [] : [{ code: "gap", count: gaps.length, example: describeSkippedRange(gaps[0]!) }],
});

/** The findings of several outputs as those of one step. */
export const mergeFindingLists = (all: readonly FindingLists[]): FindingLists => ({
  losses: groupFindings(all.flatMap(({ losses }) => losses)),
  notices: groupFindings(all.flatMap(({ notices }) => notices)),
  gaps: groupFindings(all.flatMap(({ gaps }) => gaps)),
});

/** Which of two counts is the worse one. */
const worseIf: Readonly<Record<keyof ComparedCounts, (before: number, now: number) => boolean>> = {
  read: (before, now) => now < before,
  written: (before, now) => now < before,
  rejected: (before, now) => now > before,
  withoutGeometry: (before, now) => now > before,
};

const listed = [
  ["gap", "gaps"],
  ["loss", "losses"],
  ["notice", "notices"],
] as const;

/** What is worse now: first the counts, then new kinds, then more of known ones. */
export function findRegressions(before: Findings | null, now: Findings): Regression[] {
  if (before === null) return [];
  const counts = (Object.keys(worseIf) as (keyof ComparedCounts)[]).flatMap((what): Regression[] => {
    const [earlier, later] = [before.counts[what] ?? 0, now.counts[what] ?? 0];
    return worseIf[what](earlier, later) ? [{ what, before: earlier, now: later }] : [];
  });
  const kinds = listed.flatMap(([what, name]) =>
    now[name].flatMap(({ code, field, count, example }): Regression[] => {
      const known = before[name].find((kind) => kind.code === code && kind.field === field);
      if (known && count <= known.count) return [];
      const kind = { what, code, ...(field === undefined ? {} : { field }) };
      return [{ ...kind, before: known?.count ?? null, now: count, example }];
    }),
  );
  return [
    ...counts,
    ...kinds.filter(({ before }) => before === null),
    ...kinds.filter(({ before }) => before !== null),
  ];
}

/** The changes of several outputs as those of one step. */
export function mergeRegressions(all: readonly (readonly Regression[])[]): Regression[] {
  const changes = new Map<string, Regression>();
  for (const change of all.flat()) {
    const key = JSON.stringify([change.what, change.code, change.field, change.before === null]);
    const known = changes.get(key);
    const before = change.before === null ? null : change.before + (known?.before ?? 0);
    changes.set(key, known ? { ...known, before, now: known.now + change.now } : change);
  }
  return [...changes.values()];
}
