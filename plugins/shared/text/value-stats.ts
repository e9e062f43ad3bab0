/** What the texts of a field are, as a scan of a file finds out, to infer the type of the field. */
import type { ReadContext } from "../../../src/plugin/format.js";
import { findNumberLikeName } from "./number-like-names.js";
import { classifyValue, ValueForm } from "./value-forms.js";

export interface ValueStats {
  /** The `ValueForm` flags of all values. */
  forms: number;
  /** The first texts that are numbers. */
  readonly numbers: string[];
  /** Whether a feature has the field more than once. */
  repeated: boolean;
  /** The number of the last feature with the field. */
  seen: number;
}

export const emptyStats = (): ValueStats => ({ forms: 0, numbers: [], repeated: false, seen: 0 });

/** The number of texts of a field that are searched for names that look like numbers. */
const maxNumberSamples = 100;
/** The maximum number of fields that a notice names. */
const maxListedFields = 5;
const numberForms = ValueForm.int32 | ValueForm.int53 | ValueForm.int64 | ValueForm.double | ValueForm.beyond;

/** Adds a value, which may be empty, of the feature with this number, from 1. */
export function addValue(stats: ValueStats, feature: number, bytes: Buffer, from: number, to: number): void {
  // One value that is a text makes the field a text.
  if (to > from && (stats.forms & ValueForm.text) === 0) {
    const form = classifyValue(bytes, from, to);
    stats.forms |= form;
    if (stats.numbers.length < maxNumberSamples && (form & numberForms) !== 0)
      stats.numbers.push(bytes.toString("latin1", from, to));
  }
  if (stats.seen === feature) stats.repeated = true;
  stats.seen = feature;
}

/** Unites the fields of several kinds of features, by their names. */
export function uniteStats<T extends ValueStats>(kinds: readonly ReadonlyMap<string, T>[]): Map<string, T> {
  const united = new Map<string, T>();
  for (const fields of kinds) {
    for (const [name, stats] of fields) {
      const known = united.get(name);
      if (!known) united.set(name, { ...stats, numbers: [...stats.numbers] });
      else {
        known.forms |= stats.forms;
        known.numbers.push(...stats.numbers);
        known.repeated ||= stats.repeated;
      }
    }
  }
  return united;
}

/**
 * Reports fields of numbers that may be names: as numbers, different ones become equal.
 * @param isNumber whether the type of a field is inferred, and a type for numbers
 */
export function reportNumberLikeNames<T extends ValueStats>(
  fields: ReadonlyMap<string, T>,
  isNumber: (name: string, stats: T) => boolean,
  context: Pick<ReadContext, "reportNotice">,
): void {
  const examples: string[] = [];
  for (const [name, stats] of fields) {
    const example = isNumber(name, stats) ? findNumberLikeName(stats.numbers) : null;
    if (example !== null) examples.push(`"${name}": ${example}`);
  }
  if (examples.length === 0) return;
  const listed = examples.slice(0, maxListedFields).join(", ");
  const rest = examples.length > maxListedFields ? ` and ${examples.length - maxListedFields} more` : "";
  const advice = "if these are no numbers, --in types=text reads them as text";
  context.reportNotice("number-ambiguous", undefined, `${listed}${rest}; ${advice}`);
}
