import type { Command } from "../command.js";
import {
  comparingOptions,
  inputsPositional,
  matchingOptions,
  type SyncArguments,
  sendingOptions,
  syncRequestOf,
  withInput,
} from "../options/sync-options.js";
import type { CompareArguments } from "../run/run-compare.js";
import { comparisonOptions } from "./plan.js";

export const verifyCommand: Command<SyncArguments & CompareArguments> = {
  usage: "verify <inputs..>",
  summary: "Show the differences between a map and INPUT without writing anything",
  positionals: inputsPositional,
  options: withInput({
    ...comparisonOptions,
    ...matchingOptions,
    ...comparingOptions,
    "settle-time": sendingOptions["settle-time"],
  }),
  examples: [["verify places.gpkg --map 7c0… --exit-code", "exit with 20 if they differ"]],
  async run(args) {
    const { runComparison } = await import("../run/run-compare.js");
    const { differsFromSource, renderDifferences } = await import("../output/plan-table.js");
    const request = syncRequestOf({ ...args, mode: "full", keepUnmanaged: true, deleteExcluded: true });
    return runComparison(request, "full", args, renderDifferences, differsFromSource);
  },
};
