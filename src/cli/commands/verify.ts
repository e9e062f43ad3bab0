import type { Command } from "../command.js";
import type { CompareArguments } from "../run-compare.js";
import { serviceOptions } from "../service-options.js";
import {
  comparingOptions,
  guardOptions,
  inputsPositional,
  mapOption,
  matchingOptions,
  type SyncArguments,
  sourceOptions,
  stateOption,
  strictOption,
  syncRequestOf,
} from "../sync-options.js";
import { comparisonOptions } from "./plan.js";

export const verifyCommand: Command<SyncArguments & CompareArguments> = {
  usage: "verify <inputs..>",
  summary: "Tell where a map differs from INPUT; nothing is written",
  positionals: inputsPositional,
  options: {
    ...mapOption,
    ...comparisonOptions,
    ...matchingOptions,
    settle: guardOptions.settle,
    ...comparingOptions,
    ...sourceOptions,
    ...strictOption,
    ...serviceOptions,
    ...stateOption,
  },
  examples: [["verify places.gpkg --map 7c0… --exit-code", "20 where they differ"]],
  async run(args) {
    const { runComparison } = await import("../run-compare.js");
    const { renderDifferences } = await import("../plan-table.js");
    return runComparison(syncRequestOf({ ...args, mode: "full", keepUnmanaged: true }), args, renderDifferences);
  },
};
