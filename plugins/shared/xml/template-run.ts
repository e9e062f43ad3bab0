import { dataViewOf } from "../text/data-view.js";
import { exclamation, lessThan } from "./bytes.js";

/** A position in a record where the text differs from record to record. */
export interface TemplateSlot<Action> {
  readonly action: Action;
  /** The byte that ends the text: `<`, the quote of an attribute value, or the bracket that ends a CDATA section. */
  readonly end: number;
  /** The action checks every byte of the text itself. */
  readonly isChecked: boolean;
  readonly runs: TemplateRun<Action>[];
  /** The run that followed in the last record. */
  last: TemplateRun<Action> | undefined;
}

/** Bytes between two slots that are the same in many records. */
export interface TemplateRun<Action> {
  readonly bytes: Uint8Array;
  /** The bytes in groups of eight, without the last group. */
  readonly words: Float64Array;
  /** The last eight bytes, which may overlap the last of `words`; 0 for a run of less than eight bytes. */
  readonly lastWord: number;
  /** The first four and the last four bytes; 0 for a run of less than four bytes. */
  readonly firstFour: number;
  readonly lastFour: number;
  /** The actions of the tags in the run. */
  readonly actions: readonly Action[];
  /** The slot after the run; null at the end of the record. */
  readonly next: TemplateSlot<Action> | null;
}

/**
 * Whether the bytes of the run stand at `at`. Eight bytes are compared as one double: equal doubles have equal bits here,
 * because no eight bytes of XML text are zero, and NaN equals nothing.
 */
export function matchesRun<Action>(run: TemplateRun<Action>, view: DataView, bytes: Uint8Array, at: number): boolean {
  const { words, bytes: expected } = run;
  const after = at + expected.length;
  if (expected.length >= 8) {
    for (let w = 0; w < words.length; w++) if (view.getFloat64(at + 8 * w, true) !== words[w]!) return false;
    if (view.getFloat64(after - 8, true) !== run.lastWord) return false;
  } else if (expected.length >= 4) {
    if (view.getInt32(at, true) !== run.firstFour || view.getInt32(after - 4, true) !== run.lastFour) return false;
  } else for (let i = 0; i < expected.length; i++) if (expected[i] !== bytes[at + i]) return false;
  // Before a CDATA section, only a run that includes the opening of the section matches.
  return bytes[after] !== lessThan || bytes[after + 1] !== exclamation || run.next === null;
}

/** Splits the bytes of a run into the numbers that `matchesRun` compares. */
export function toComparisonWords(
  bytes: Uint8Array,
): Pick<TemplateRun<unknown>, "words" | "lastWord" | "firstFour" | "lastFour"> {
  const { length } = bytes;
  const view = dataViewOf(bytes);
  return {
    words: Float64Array.from({ length: Math.max(0, length - 1) >> 3 }, (_, w) => view.getFloat64(8 * w, true)),
    lastWord: length >= 8 ? view.getFloat64(length - 8, true) : 0,
    firstFour: length >= 4 ? view.getInt32(0, true) : 0,
    lastFour: length >= 4 ? view.getInt32(length - 4, true) : 0,
  };
}
