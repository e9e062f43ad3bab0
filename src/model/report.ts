import type { Place } from "../errors.js";
import type { Feature } from "./batch.js";

/** Something the target cannot hold, or the source said that could not be kept: counted once per field and kind. */
export interface Loss {
  /** What kind, in a word a program can test: "text-cut", "z-dropped", "type-changed", "non-finite-value" … */
  readonly code: string;
  readonly layer: string;
  readonly field?: string;
  readonly count: number;
  /** One sentence for people, with an example of a value where there is one. */
  readonly example: string;
}

/** A repair that a standard allows, or an oddity of the source: nothing is lost, but a person may want to know. */
export interface Notice {
  readonly code: string;
  readonly layer: string;
  readonly field?: string;
  readonly count: number;
  readonly example: string;
}

/** One feature that could not be carried. */
export interface Reject {
  readonly code: string;
  readonly reason: string;
  readonly place: Place;
  /** The feature as far as it could be read. */
  readonly feature: Feature | null;
  /** The source's own text of it, where it could not be read as a feature. */
  readonly text?: string;
  /** The feature goes on with a null geometry: only its geometry could not be carried. */
  readonly kept?: boolean;
}

/** A stretch of a source that was given up to read past damage: it is unknown which features stood in it. */
export interface SkippedRange {
  /** The file, as in messages. */
  readonly source: string;
  /** Where it begins. */
  readonly place: Place;
  /** How long it is; null if that is not known: what should follow is missing. */
  readonly bytes: number | null;
  readonly reason: string;
}

/** The positions that went by one transformation of an operation between two systems. */
export interface OperationUse {
  readonly layer: string;
  /** The two systems, as reports call them. */
  readonly from: string;
  readonly to: string;
  /** Which of the transformations of the operation; null for positions that none of them serves. */
  readonly transformationIndex: number | null;
  readonly positionCount: number;
  /** Around the positions: west, south, east, north in degrees of the source. */
  readonly box: readonly [number, number, number, number];
}

/** A tally of losses or notices by code, layer and field; plain data after `list()`. */
export class Tally {
  private readonly entries = new Map<
    string,
    { code: string; layer: string; field?: string; count: number; example: string }
  >();

  /** Whether this kind was met before: callers save themselves making the example. */
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
