import type { ComparisonRules } from "../../src/canonical/rules.js";

/** All fields, with seven decimals. */
export const exactRules: ComparisonRules = {
  decimals: 7,
  fields: null,
  ignored: [],
  comparisons: {},
  emptyTextIsNull: false,
  ignoresTrailingBlanks: false,
  ignoresHeights: false,
  ignoresMeasures: false,
  withIds: false,
};
