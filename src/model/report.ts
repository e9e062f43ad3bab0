import type { Place } from "../errors.js";
import type { Feature } from "./batch.js";

/** Data that the target cannot hold or that was not kept, counted by code and field. */
export interface Loss {
  /** A code for programs: "text-cut", "z-dropped", "type-changed", "non-finite-value" … */
  readonly code: string;
  readonly layer: string;
  readonly field?: string;
  readonly count: number;
  /** A sentence, with an example value if there is one. */
  readonly example: string;
}

/** A repair that a standard allows, or an unusual property of the source. Nothing is lost. */
export interface Notice {
  readonly code: string;
  readonly layer: string;
  readonly field?: string;
  readonly count: number;
  readonly example: string;
}

/** A feature that could not be read or written. */
export interface Reject {
  readonly code: string;
  readonly reason: string;
  readonly place: Place;
  /** The feature as far as it could be read. */
  readonly feature: Feature | null;
  /** Text of the feature in the source, if it could not be parsed. */
  readonly text?: string;
  /** Whether the feature is kept with a null geometry. */
  readonly kept?: boolean;
}

/** A corrupt range of a source that was skipped; its features are unknown. */
export interface SkippedRange {
  /** The file, as in messages. */
  readonly source: string;
  /** Where it begins. */
  readonly place: Place;
  /** Length; null if unknown, when the rest is missing. */
  readonly bytes: number | null;
  readonly reason: string;
}

/** The positions that one transformation of an operation transformed. */
export interface OperationUse {
  readonly layer: string;
  /** The two systems, as named in reports. */
  readonly from: string;
  readonly to: string;
  /** Index of the transformation in the operation; null for positions without one. */
  readonly transformationIndex: number | null;
  readonly positionCount: number;
  /** Bounding box of the positions: west, south, east, north in degrees of the source. */
  readonly box: readonly [number, number, number, number];
}

/** A tally of losses or notices by code, layer and field; plain data after `list()`. */
export class Tally {
  private readonly entries = new Map<
    string,
    { code: string; layer: string; field?: string; count: number; example: string }
  >();

  /** Whether the code was counted before, so that callers need no example. */
  add(code: string, layer: string, field: string | undefined, count: number, example: string): void {
    const key = JSON.stringify([code, layer, field]);
    const known = this.entries.get(key);
    if (known) known.count += count;
    else this.entries.set(key, { code, layer, ...(field === undefined ? {} : { field }), count, example });
  }

  merge(list: readonly Loss[]): void {
    for (const { code, layer, field, count, example } of list) this.add(code, layer, field, count, example);
  }

  list(): Loss[] {
    return [...this.entries.values()];
  }
}
