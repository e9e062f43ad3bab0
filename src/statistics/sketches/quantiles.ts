/** The sketch for quantiles that the kernel of counts fills. */

/** Values by level: one of level h stands for 2^h values. */
export interface QuantileState {
  readonly levels: readonly Float64Array[];
}

/** Capacity of the highest level. */
const topCapacity = 1024;

/** Difference of ranks, as a share of all values, that 99 % of the estimates do not exceed (measured by Apache DataSketches). */
export const quantileRankError = 2.296 / topCapacity ** 0.9021;

/** The values with the number of values that each stands for. */
export function weightedValues({ levels }: QuantileState): [value: number, weight: number][] {
  return levels.flatMap((values, level) => Array.from(values, (value): [number, number] => [value, 2 ** level]));
}
