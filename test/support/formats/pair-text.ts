/** Describes what a conversion between two formats keeps and loses. */
import assert from "node:assert/strict";
import type { Loss } from "../../../src/model/index.js";
import type { PairReport } from "./pair-report.js";

type LossText = string | ((losses: readonly Loss[]) => string);

const joinWithAnd = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
const fieldsOf = (losses: readonly Loss[]): string => joinWithAnd(losses.map(({ field }) => `\`${field}\``));

/** "json and binary, which become text" */
function typesChanged(losses: readonly Loss[]): string {
  const byTarget = new Map<string, Set<string>>();
  for (const { example } of losses) {
    const [, from, to] = /^(\w+) became (\w+)$/.exec(example) ?? [];
    assert.ok(from !== undefined && to !== undefined, `type-changed says: ${example}`);
    byTarget.set(to, (byTarget.get(to) ?? new Set()).add(from));
  }
  return [...byTarget]
    .map(([to, from]) => `the ${from.size === 1 ? "type" : "types"} ${joinWithAnd([...from])} (become ${to})`)
    .join("; ");
}

const lossWords: Readonly<Record<string, LossText>> = {
  "type-changed": typesChanged,
  "field-renamed": (losses) => `the whole name of ${fieldsOf(losses)}`,
  "int64-as-text": "whole numbers beyond 2⁵³ as numbers (become text)",
  "date-as-text": "dates before 1900-03-01 as dates (become text)",
  "time-zone-dropped": "time zones (the clock time stays)",
  "zone-assumed": "that times have no zone (become UTC)",
  "m-dropped": "measures",
  "z-dropped": "heights",
  "z-missing": "which positions have no height (become 0)",
  "multipoint-split": "what belongs to one MultiPoint (becomes a waypoint for each position)",
  "geometry-type-changed": "the kinds of some collections",
  "zone-dropped": "offsets from UTC (the instant stays)",
  "text-cut": "text beyond 254 bytes",
  "text-empty": "the difference between empty text and null",
};

const noticeWords: Readonly<Record<string, LossText>> = {
  "id-as-field": (notices) => `the ids are in the field ${fieldsOf(notices)}`,
  "layer-split": "a file for each kind of geometry",
  "integer-wide": "whole numbers of more than 18 digits are exact here only",
  "field-added": (notices) => `adds the ${notices.length === 1 ? "field" : "fields"} ${fieldsOf(notices)}`,
};

function describeCodes(words: Readonly<Record<string, LossText>>, list: readonly Loss[]): string[] {
  const codes = [...new Set(list.map(({ code }) => code))];
  return codes.map((code) => {
    const own = words[code];
    assert.ok(own !== undefined, `${code} has no words for the page on pairs: ${JSON.stringify(list)}`);
    const what = typeof own === "string" ? own : own(list.filter((loss) => loss.code === code));
    return `${what} (\`${code}\`)`;
  });
}

const describeKept = (what: string, { all: before, kept }: PairReport["types"]): string[] => {
  if (kept.length === 0) return [];
  return [kept.length === before.length ? `all ${what}` : `${what} ${joinWithAnd(kept)}`];
};

/** What is kept, what is represented differently, and what is lost. */
export function pairCells(report: PairReport): [keeps: string, changes: string, loses: string] {
  const { types, kinds, rest, rejectedKinds, losses, notices, retyped } = report;
  const reported = new Set(losses.filter(({ code }) => code === "type-changed").map(({ example }) => example));
  const silent = [...retyped].filter(
    ([from, to]) => !reported.has(`${from} became ${to}`) && !isReported(from, losses),
  );
  const asText = silent.length === 0 ? [] : [silent.map(([from, to]) => `${from} as ${to}`).join(", ")];
  const rejected =
    rejectedKinds.length === 0 ? [] : [`features with ${joinWithAnd(rejectedKinds)} (\`geometry-unsupported\`)`];
  return [
    [...describeKept("field types", types), ...describeKept("geometries", kinds), ...rest.kept].join("; "),
    [...asText, ...describeCodes(noticeWords, notices)].join("; "),
    [...describeCodes(lossWords, losses), ...rejected].join("; "),
  ];
}

const isReported = (type: string, losses: readonly Loss[]): boolean =>
  losses.some(({ code }) => code === `${type}-as-text`);

/** What a format keeps of the layer when it is written directly. */
export const describeFormatAbilities = ({ types, kinds, rest }: PairReport): string =>
  [`the field types ${joinWithAnd(types.all)}`, `${joinWithAnd(kinds.all)}`, ...rest.all].join("; ");
