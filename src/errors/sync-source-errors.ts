/** What stops a synchronisation at its source, before anything is sent: part of the registry in src/errors.ts. */
import { formatCount, groupDigits } from "../format-count.js";
import { type DuplicateKeyField, dedupeCommand } from "./dedupe-command.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

/** What an attribute lacks to identify features; counts of features. */
export interface KeyCandidate {
  readonly name: string;
  readonly duplicates: number;
  readonly nulls: number;
  readonly empties: number;
  readonly unsafe: number;
  readonly others: number;
  readonly temporal: boolean;
}

const listExamples = (examples: readonly string[], all: number): string =>
  `${examples.join("; ")}${all > examples.length ? "; …" : ""}`;

/** "ref (2 features repeat a value, 1 feature has none)" */
function describeAttribute({ name, duplicates, nulls, empties, unsafe, others, temporal }: KeyCandidate): string {
  const have = (count: number) => `${formatCount(count, "feature")} ${count === 1 ? "has" : "have"}`;
  const lacks = [
    duplicates > 0
      ? `${formatCount(duplicates, "feature")} ${duplicates === 1 ? "repeats" : "repeat"} the value of another`
      : "",
    nulls > 0 ? `${have(nulls)} none` : "",
    empties > 0 ? `${have(empties)} empty text` : "",
    unsafe > 0 ? `${have(unsafe)} an integer beyond 2^53` : "",
    others > 0 ? `${have(others)} a boolean, a fraction or a nested value` : "",
    temporal ? "its values are dates or times" : "",
  ].filter((words) => words !== "");
  return `"${name}" (${lacks.join(", ")})`;
}

type KeyDetails = { readonly source: string; readonly field: string };
type MapIdDetails = { readonly map: string };

/** What is wrong with the part of the source that is meant. */
const scopeErrors = {
  "scope-field-missing": defineError<{
    source: string;
    property: string;
    value: string;
    features: number;
    fields: readonly string[];
  }>(
    "input",
    (e) =>
      `${e.source}: no feature has a property "${e.property}", so that none of the ${formatCount(e.features, "feature")} is in the scope ${e.property}=${e.value}; there ${e.fields.length === 1 ? "is" : "are"} ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}; give the features that are meant "${e.property}" with the value ${e.value}, or correct --scope; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

/** What is wrong with the property that identifies features. */
const keyErrors = {
  "key-undecided": defineError<{ source: string; attributes: readonly KeyCandidate[]; hasIds: boolean }>(
    "input",
    (e) => {
      const best =
        e.attributes.length > 0
          ? `; the best are ${e.attributes.map(describeAttribute).join("; ")}`
          : "; its features have no attributes";
      return `${e.source}: no attribute identifies every feature${best}; repair one, or name it with --remote-field and say with --on-duplicate first or last and --on-missing-key reject what becomes of the others${e.hasIds ? "; or know features by the ids of the service, which the source has, with --match id" : ""}`;
    },
  ),
  "key-is-id": defineError<KeyDetails & MapIdDetails>(
    "guard",
    (e) =>
      `${e.source}: "${e.field}" has the ids that the service gave the features of map ${e.map}, and is no property there: as a key it would match nothing and create everything again; --match id knows features by their ids; nothing was sent`,
  ),
  "key-field-missing": defineError<KeyDetails & { fields: readonly string[] }>(
    "input",
    (e) =>
      `${e.source}: has no field "${e.field}", which has identified the features of this map so far; it has ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}; name another with --remote-field`,
  ),
  "key-invalid": defineError<KeyDetails & { features: number; examples: readonly string[] }>(
    "input",
    (e) =>
      `${e.source}: "${e.field}" cannot identify ${formatCount(e.features, "feature")}: ${listExamples(e.examples, e.features)}; a key is text that is not empty, or an integer up to 2^53; --on-missing-key reject leaves such features out, --cast ${e.field}=text makes texts of larger integers`,
  ),
  "duplicate-key": defineError<KeyDetails & { features: number; examples: readonly string[]; keys: number }>(
    "input",
    (e) =>
      `${e.source}: "${e.field}" is the same for several features (${formatCount(e.features, "feature")} in all): ${listExamples(e.examples, e.keys)}; --on-duplicate first or last takes one of each`,
  ),
  /** `twins`: features with the same key say the same otherwise, too. */
  "duplicate-key-on-map": defineError<
    DuplicateKeyField & { keys: number; twins: boolean; examples: readonly string[] }
  >(
    "conflict",
    (e) =>
      `map ${e.map}: several features have the same "${e.field}": ${listExamples(e.examples, e.keys)}; ${dedupeCommand(e)} shows which are the same, and deletes all but one of each; or choose another with --remote-field`,
  ),
  "field-not-on-map": defineError<MapIdDetails & { field: string; fields: readonly string[] }>(
    "input",
    (e) =>
      `map ${e.map}: no feature has a property "${e.field}"; there ${e.fields.length === 1 ? "is" : "are"} ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}`,
  ),
  "key-case-mismatch": defineError<MapIdDetails & KeyDetails & { keys: number; examples: readonly string[] }>(
    "guard",
    (e) =>
      `stopped: ${e.keys === 1 ? "one value" : `${groupDigits(e.keys)} values`} of "${e.field}" would match map ${e.map} only without regard to case, blanks or the form of accents: ${listExamples(e.examples, e.keys)}; write them alike in ${e.source} and on the map, or choose another key with --remote-field; nothing was sent`,
  ),
  "key-matches-nothing": defineError<
    MapIdDetails & KeyDetails & { matches: number; features: number; held: number; examples: readonly string[] }
  >(
    "guard",
    (e) =>
      `stopped: ${e.field} identifies ${formatCount(e.held, "feature")} of map ${e.map} and ${formatCount(e.features, "feature")} of ${e.source}, and ${e.matches === 0 ? "none" : `only ${groupDigits(e.matches)}`} of them match (${e.examples.join("; ")}): it is the wrong key or the wrong map; name another with --remote-field; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

type CoordinateOrderDetails = { readonly source: string; readonly extent: string; readonly repair: string };

/** What is wrong with the order of coordinates. */
const orderErrors = {
  "axis-order-swapped": defineError<CoordinateOrderDetails & { rejected: number }>(
    "input",
    (e) =>
      `${e.source}: latitude stands before longitude: there are latitudes beyond ±90° (${e.extent}), and all positions are on the globe once exchanged; ${e.repair}; nothing was sent${e.rejected > 0 ? `. If instead just ${e.rejected === 1 ? "that one feature is" : `those ${formatCount(e.rejected, "feature")} are`} wrong, correct ${e.rejected === 1 ? "it" : "them"} in the source` : ""}`,
  ),
  "axis-order-suspected": defineError<CoordinateOrderDetails & { reason: string }>(
    "input",
    (e) =>
      `${e.source}: latitude seems to stand before longitude (${e.extent}): ${e.reason}; ${e.repair}, and without --strict it is sent as it is; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

export const syncSourceErrors = { ...scopeErrors, ...keyErrors, ...orderErrors } as const satisfies Record<
  string,
  ErrorDefinition<never>
>;
