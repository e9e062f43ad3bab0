/** What an operation between two systems is, and the one that leaves coordinates untouched, without what it takes to find any other. */
import type { Crs } from "../../model/layer.js";
import type { Area } from "../area.js";
import type { Grid } from "../grids/grid.js";
import type { GridSources } from "../grids/grid-locator.js";
import type { DatumTransformation } from "./datum-transformations.js";
import type { BetterOperation } from "./missing-grids.js";

/** How coordinates of one system become those of another, as plain data that any thread can build. */
export interface Operation {
  readonly from: Crs;
  readonly to: Crs;
  /** Meters; 0 where both have the same datum, null if no one knows. */
  readonly accuracy: number | null;
  readonly name: string;
  /** What a person should know before using the result: what the operation takes for granted and leaves undone. */
  readonly remarks: readonly string[];
  /** `identity` leaves every coordinate untouched. */
  readonly kind: "identity" | "conversion" | "transformation";
  /** In the order in which `OperationSelector` looks at them. */
  readonly transformations: readonly DatumTransformation[];
  /** The one route is used everywhere, not only in its area and close to it. */
  readonly ignoresArea: boolean;
  /** Meters: a position whose route is worse is refused, not served by one that is meant for elsewhere. */
  readonly accuracyLimit: number;
  /** The files of grids that it may use. */
  readonly gridFiles: readonly string[];
  /** Better ones that lack a grid, the best first. */
  readonly better: readonly BetterOperation[];
  /** Those grids by their files, where they are read already: in memory that all threads see. */
  readonly loadedGrids?: Readonly<Record<string, Grid>>;
}

export interface OperationOptions extends GridSources {
  /** Meters: nothing worse is used; 100 where absent. */
  readonly accuracy?: number;
  /** Degrees: what lies around the data, where that is known. A refusal gives advice for this area; it changes no result. */
  readonly within?: Area;
  /** Carry coordinates over as if both datums were one where no operation is known. */
  readonly allowBallpark?: boolean;
}

export type CrsPair = Pick<Operation, "from" | "to">;

/** An operation that takes no shift between datums. */
export const createTrivialOperation = (pair: CrsPair, kind: "identity" | "conversion", name: string): Operation => ({
  ...pair,
  kind,
  name,
  accuracy: 0,
  transformations: [],
  ignoresArea: true,
  accuracyLimit: Infinity,
  remarks: [],
  gridFiles: [],
  better: [],
});

/** Told apart without reading a definition. */
export function hasSameText(a: Crs, b: Crs): boolean {
  if (a.id !== null && a.id === b.id) return a.kind !== "other" || a.definition === b.definition;
  return a.definition.trim() === b.definition.trim() && !/unknown|unspecified/i.test(a.definition);
}
