/** Errors in the source of a synchronization, before anything is sent: part of the registry in src/errors.ts. */
import { formatCount, groupDigits } from "../format-count.js";
import { type DuplicateKeyField, formatDedupeCommand } from "./dedupe-command.js";
import { defineError, type ErrorDefinition } from "./define-error.js";

/** Why an attribute does not identify every feature; counts of features. */
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
    nulls > 0 ? `${have(nulls)} no value` : "",
    empties > 0 ? `${have(empties)} an empty text` : "",
    unsafe > 0 ? `${have(unsafe)} an integer beyond 2^53, which --cast ${name}=text converts to text` : "",
    others > 0 ? `${have(others)} a boolean, a fraction or a nested value` : "",
    temporal ? "its values are dates or times" : "",
  ].filter((words) => words !== "");
  return `"${name}" (${lacks.join(", ")})`;
}

type KeyDetails = { readonly source: string; readonly field: string };
type MapIdDetails = { readonly map: string };

/** Errors of `--scope`. */
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
      `${e.source}: no feature has a property "${e.property}", so none of the ${formatCount(e.features, "feature")} is in the scope ${e.property}=${e.value}; available properties: ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}; set "${e.property}" to ${e.value} on the features to sync, or correct --scope; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

/** Errors of the key property. */
const keyErrors = {
  "key-undecided": defineError<{ source: string; attributes: readonly KeyCandidate[]; hasIds: boolean }>(
    "input",
    (e) => {
      const best =
        e.attributes.length > 0
          ? `; the closest are ${e.attributes.map(describeAttribute).join("; ")}`
          : "; its features have no attributes";
      return `${e.source}: no attribute identifies every feature${best}; fix one, or choose it with --remote-field and handle the other features with --on-duplicate first or last and --on-missing-key reject${e.hasIds ? "; or match features by the ids of the service, which the source contains, with --match id" : ""}`;
    },
  ),
  "key-is-id": defineError<KeyDetails & MapIdDetails>(
    "guard",
    (e) =>
      `${e.source}: "${e.field}" contains the ids that the service assigned to the features of map ${e.map}, but the map has no such property: as a key it would match no feature and create all of them again; use --match id to match features by their ids; nothing was sent`,
  ),
  "key-field-missing": defineError<KeyDetails & { fields: readonly string[] }>(
    "input",
    (e) =>
      `${e.source}: the source has no field "${e.field}", which identified the features of this map in earlier runs; available fields: ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}; choose one with --remote-field`,
  ),
  "key-invalid": defineError<KeyDetails & { features: number; examples: readonly string[] }>(
    "input",
    (e) =>
      `${e.source}: "${e.field}" cannot identify ${formatCount(e.features, "feature")}: ${listExamples(e.examples, e.features)}; a key must be a non-empty text or an integer up to 2^53; --on-missing-key reject omits such features, --cast ${e.field}=text converts larger integers to text`,
  ),
  "duplicate-key": defineError<KeyDetails & { features: number; examples: readonly string[]; keys: number }>(
    "input",
    (e) =>
      `${e.source}: several features have the same "${e.field}" (${formatCount(e.features, "feature")} in total): ${listExamples(e.examples, e.keys)}; --on-duplicate first or last keeps one of each`,
  ),
  /** `twins`: whether features with the same key also have the same content. */
  "duplicate-key-on-map": defineError<
    DuplicateKeyField & { keys: number; twins: boolean; examples: readonly string[] }
  >(
    "conflict",
    (e) =>
      `map ${e.map}: several features have the same "${e.field}": ${listExamples(e.examples, e.keys)}; ${formatDedupeCommand(e)} shows the duplicates and deletes all but one of each; or choose another key with --remote-field`,
  ),
  "field-not-on-map": defineError<MapIdDetails & { field: string; fields: readonly string[] }>(
    "input",
    (e) =>
      `map ${e.map}: no feature has a property "${e.field}"; available properties: ${e.fields.map((name) => `"${name}"`).join(", ") || "none"}`,
  ),
  "key-case-mismatch": defineError<MapIdDetails & KeyDetails & { keys: number; examples: readonly string[] }>(
    "guard",
    (e) =>
      `stopped: ${e.keys === 1 ? "one value" : `${groupDigits(e.keys)} values`} of "${e.field}" would match map ${e.map} only if case, whitespace or the encoding of accents were ignored: ${listExamples(e.examples, e.keys)}; make the values identical in ${e.source} and on the map, or choose another key with --remote-field; nothing was sent`,
  ),
  "key-matches-nothing": defineError<
    MapIdDetails & KeyDetails & { matches: number; features: number; held: number; examples: readonly string[] }
  >(
    "guard",
    (e) =>
      `stopped: ${e.field} identifies ${formatCount(e.held, "feature")} of map ${e.map} and ${formatCount(e.features, "feature")} of ${e.source}, and ${e.matches === 0 ? "none" : `only ${groupDigits(e.matches)}`} of them match (${e.examples.join("; ")}): the key or the map is probably wrong; choose another key with --remote-field or another map; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

type CoordinateOrderDetails = { readonly source: string; readonly extent: string; readonly repair: string };

/** Errors of the coordinate order. */
const orderErrors = {
  "axis-order-swapped": defineError<CoordinateOrderDetails & { rejected: number }>(
    "input",
    (e) =>
      `${e.source}: latitude precedes longitude: there are latitudes beyond ±90° (${e.extent}), and all positions are valid after swapping; ${e.repair}; nothing was sent${e.rejected > 0 ? `. If instead only ${e.rejected === 1 ? "that one feature is" : `those ${formatCount(e.rejected, "feature")} are`} wrong, correct ${e.rejected === 1 ? "it" : "them"} in the source` : ""}`,
  ),
  /** `note`: what a conversion found; else what a push found. */
  "axis-order-suspected": defineError<(CoordinateOrderDetails & { reason: string }) | { source: string; note: string }>(
    "input",
    (e) =>
      "note" in e
        ? `--strict: ${e.source}: ${e.note}; without --strict the coordinates are written unchanged; nothing was written`
        : `${e.source}: latitude seems to precede longitude (${e.extent}): ${e.reason}; ${e.repair}; without --strict the coordinates are sent unchanged; nothing was sent`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;

export const syncSourceErrors = { ...scopeErrors, ...keyErrors, ...orderErrors } as const satisfies Record<
  string,
  ErrorDefinition<never>
>;
