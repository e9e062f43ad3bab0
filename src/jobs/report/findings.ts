/** Losses, notices and skipped ranges of a step: reported, stored, and compared with those of the previous run. */
import type { Extent } from "../../model/geometry.js";
import type { Loss, SkippedRange } from "../../model/report.js";
import { describeSkippedRange } from "../../pipeline/report.js";

/** One kind of loss, notice or skipped range of an output, over all its layers. */
export interface Finding {
  readonly code: string;
  readonly field?: string;
  /** Number of fields, if there are too many to list. */
  readonly fields?: number;
  readonly count: number;
  readonly example: string;
}

export interface FindingLists {
  readonly losses: readonly Finding[];
  readonly notices: readonly Finding[];
  /** Corrupt ranges of the sources that were skipped: one entry with their number. */
  readonly skippedRanges: readonly Finding[];
}

/** The feature counts that are compared between runs. */
export interface ComparedCounts {
  readonly read?: number;
  readonly written?: number;
  readonly rejected?: number;
  readonly withoutGeometry?: number;
}

/** The findings stored for an output: reported while it is unchanged, and compared when it is written again. */
export interface Findings extends FindingLists {
  readonly counts: ComparedCounts;
  /** The fields of the source, at most `maxComparedFields`, if they are known. */
  readonly fields?: readonly ComparedField[];
  /** The area of the features, where the coordinate system is known. */
  readonly extent?: ComparedExtent;
  /** Ids of the formats that the sources were read as. */
  readonly formats?: readonly string[];
  /** The file with the rejected features. */
  readonly rejects?: string;
}

export interface ComparedExtent {
  readonly crs: string;
  readonly box: Extent;
}

/**
 * A change for the worse since the previous run: a new kind of loss or notice, more of a known one, fewer features, or a
 * field of the source that is missing (`code` "missing") or has another type (`code` "type"), features elsewhere (extent
 * "moved") or far beyond (extent "grown"), or a source of another format.
 */
export interface Regression {
  readonly what: keyof ComparedCounts | "extent" | "field" | "format" | "loss" | "notice" | "skippedRange";
  readonly code?: string;
  readonly field?: string;
  /** Null if the previous run had none of this kind. */
  readonly before: number | null;
  readonly now: number;
  readonly example?: string;
}

/** Fields beyond this number are not compared between runs, which limits what is stored of each output. */
const maxComparedFields = 1000;

/** A field of a source: its type, or if the source does not declare types, what its values are. */
export interface ComparedField {
  readonly name: string;
  readonly type: string;
}

export const comparedFields = (fields: readonly ComparedField[]): readonly ComparedField[] =>
  fields.slice(0, maxComparedFields).map(({ name, type }) => ({ name, type }));

export const emptyFindings: FindingLists = { losses: [], notices: [], skippedRanges: [] };

/** Beyond this number, kinds are merged by code: a table may have thousands of columns. */
const maxFindingKinds = 100;

/** Merges findings with the same code and field. */
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
  skippedRanges: readonly SkippedRange[],
): FindingLists => ({
  losses: groupFindings(losses),
  notices: groupFindings(notices),
  skippedRanges:
    skippedRanges.length === 0
      ? []
      : [{ code: "skipped-range", count: skippedRanges.length, example: describeSkippedRange(skippedRanges[0]!) }],
});

/** Merges the findings of several outputs. */
export const mergeFindingLists = (all: readonly FindingLists[]): FindingLists => ({
  losses: groupFindings(all.flatMap(({ losses }) => losses)),
  notices: groupFindings(all.flatMap(({ notices }) => notices)),
  skippedRanges: groupFindings(all.flatMap(({ skippedRanges }) => skippedRanges)),
});

/** Whether a count has become worse. */
const worseIf: Readonly<Record<keyof ComparedCounts, (before: number, now: number) => boolean>> = {
  read: (before, now) => now < before,
  written: (before, now) => now < before,
  rejected: (before, now) => now > before,
  withoutGeometry: (before, now) => now > before,
};

const listed = [
  ["skippedRange", "skippedRanges"],
  ["loss", "losses"],
  ["notice", "notices"],
] as const;

function findFieldRegressions(before: readonly ComparedField[], now: readonly ComparedField[]): Regression[] {
  const types = new Map(now.map(({ name, type }) => [name, type]));
  const isCut = now.length >= maxComparedFields;
  return before.flatMap(({ name: field, type }): Regression[] => {
    const later = types.get(field);
    if (later === type || (later === undefined && isCut)) return [];
    if (later === undefined) return [{ what: "field", code: "missing", field, before: 1, now: 0 }];
    return [{ what: "field", code: "type", field, before: null, now: 1, example: `was ${type}, is ${later}` }];
  });
}

const diagonalOf = ([minX, minY, maxX, maxY]: Extent): number => Math.hypot(maxX - minX, maxY - minY);

/** A source whose features lie so much farther apart than before probably has wrong coordinates. */
const suspectGrowth = 3;

const rounded = ({ box }: ComparedExtent): string => box.map((value) => Number(value.toPrecision(6))).join(", ");

/** Exchanged coordinates and wrong units put all features or some of them elsewhere. */
function findExtentRegressions(before: ComparedExtent, now: ComparedExtent): Regression[] {
  if (before.crs !== now.crs) return [];
  const [minX, minY, maxX, maxY] = before.box;
  const isApart = now.box[0] > maxX || now.box[2] < minX || now.box[1] > maxY || now.box[3] < minY;
  const isGrown = diagonalOf(before.box) > 0 && diagonalOf(now.box) > suspectGrowth * diagonalOf(before.box);
  if (!isApart && !isGrown) return [];
  const example = `from ${rounded(before)} to ${rounded(now)} (${now.crs})`;
  return [{ what: "extent", code: isApart ? "moved" : "grown", before: null, now: 1, example }];
}

function findFormatRegressions(before: readonly string[], now: readonly string[]): Regression[] {
  if (before.join() === now.join()) return [];
  return [{ what: "format", before: null, now: 1, example: `from ${before.join(", ")} to ${now.join(", ")}` }];
}

/** Regressions in this order: counts, formats, extents, fields, new kinds, more of known kinds. */
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
    ...(before.formats && now.formats ? findFormatRegressions(before.formats, now.formats) : []),
    ...(before.extent && now.extent ? findExtentRegressions(before.extent, now.extent) : []),
    ...(before.fields && now.fields ? findFieldRegressions(before.fields, now.fields) : []),
    ...kinds.filter(({ before }) => before === null),
    ...kinds.filter(({ before }) => before !== null),
  ];
}

/** Merges the regressions of several outputs. */
export function mergeRegressions(all: readonly (readonly Regression[])[]): Regression[] {
  const regressions = new Map<string, Regression>();
  for (const change of all.flat()) {
    const key = JSON.stringify([change.what, change.code, change.field, change.before === null]);
    const known = regressions.get(key);
    const before = change.before === null ? null : change.before + (known?.before ?? 0);
    regressions.set(key, known ? { ...known, before, now: known.now + change.now } : change);
  }
  return [...regressions.values()];
}
