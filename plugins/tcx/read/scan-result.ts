import type { SkippedRange } from "../../../src/model/index.js";
import type { ElementField } from "../../shared/xml/batch-columns.js";
import type { XmlPosition } from "../../shared/xml/reader.js";
import type { ParserState } from "./tcx-parser.js";

/** A range of the file that begins and ends between laps, activities or courses. */
export interface TcxSplit {
  readonly [key: string]: unknown;
  readonly bytes: number;
  readonly start: XmlPosition;
  readonly state: ParserState;
  readonly to: number;
  /** The number of features of each kind. */
  readonly counts: readonly number[];
}

/** Names of fields and their texts. */
export type ParentValues = readonly (readonly [field: string, text: string])[];

/** The result of reading the whole file once. Plain data, which is sent to worker threads. */
export interface TcxScanResult {
  readonly splits: readonly TcxSplit[];
  readonly counts: readonly number[];
  /** The fields of each kind of feature, and of all kinds. */
  readonly fields: { readonly byKind: readonly (readonly ElementField[])[]; readonly all: readonly ElementField[] };
  /** The values of activities and sessions, by their numbers. */
  readonly parents: readonly ParentValues[];
  /** The ranges that were skipped because of damage. */
  readonly gaps: readonly SkippedRange[];
}
