/** The type of operations, and trivial operations, without the code that finds others. */
import type { Crs } from "../../model/layer.js";
import type { Area } from "../area.js";
import type { Grid } from "../grids/grid.js";
import type { GridSources } from "../grids/grid-locator.js";
import type { DatumTransformation } from "./datum-transformations.js";
import type { BetterOperation } from "./missing-grids.js";

/** An operation between two systems, as plain data from which any thread builds the transformation. */
export interface Operation {
  readonly from: Crs;
  readonly to: Crs;
  /** Metres; 0 if both have the same datum, null if unknown. */
  readonly accuracy: number | null;
  readonly name: string;
  /** Assumptions and limits of the operation. */
  readonly remarks: readonly string[];
  /** `identity` does not change coordinates. */
  readonly kind: "identity" | "conversion" | "transformation";
  /** In the order in which `OperationSelector` checks them. */
  readonly transformations: readonly DatumTransformation[];
  /** Whether the only transformation is used everywhere, not only in and near its area. */
  readonly ignoresArea: boolean;
  /** Metres: positions whose transformation is less accurate are refused. */
  readonly accuracyLimit: number;
  /** Grid files that it may use. */
  readonly gridFiles: readonly string[];
  /** Better operations with missing grids, the best first. */
  readonly better: readonly BetterOperation[];
  /** Loaded grids by path, in shared memory. */
  readonly loadedGrids?: Readonly<Record<string, Grid>>;
}

export interface OperationOptions extends GridSources {
  /** Metres: limit of accuracy; by default 100. */
  readonly accuracy?: number;
  /**
   * Area of the data in degrees, if known: an operation is refused if none serves positions of this area; it sets the
   * stated accuracy, and the advice.
   */
  readonly within?: Area;
  /** If no operation is known, treat both datums as the same. */
  readonly allowBallpark?: boolean;
}

export type CrsPair = Pick<Operation, "from" | "to">;

/** An operation without a datum shift. */
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

/** Compares two systems by text, without parsing their definitions. */
export function hasSameText(a: Crs, b: Crs): boolean {
  if (a.id !== null && a.id === b.id) return a.kind !== "other" || a.definition === b.definition;
  return a.definition.trim() === b.definition.trim() && !/unknown|unspecified/i.test(a.definition);
}
