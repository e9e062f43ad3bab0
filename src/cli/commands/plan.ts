import type { Command } from "../command.js";
import { file, flag } from "../options/source-options.js";
import {
  comparingOptions,
  guardOptions,
  inputsPositional,
  matchingOptions,
  modeOption,
  type SyncArguments,
  sendingOptions,
  syncRequestOf,
  withInput,
} from "../options/sync-options.js";
import type { CompareArguments } from "../run/run-compare.js";

export const comparisonOptions = {
  "exit-code": { ...flag, describe: "Exit with status 20 if there are differences" },
  html: { ...file, describe: "Write a web page that shows the map before and after" },
  overwrite: { ...flag, describe: "Replace existing files" },
} as const;

export const planCommand: Command<SyncArguments & CompareArguments> = {
  usage: "plan <inputs..>",
  summary: "Show what a push of INPUT would change on a map, and save it for apply",
  positionals: inputsPositional,
  options: withInput({
    ...modeOption,
    output: { ...file, alias: "o", describe: "File to save the plan in, for geoferry apply" },
    ...comparisonOptions,
    ...guardOptions,
    ...matchingOptions,
    ...comparingOptions,
    ...sendingOptions,
  }),
  examples: [
    ["plan places.gpkg --map 7c0… --mode full -o places.plan", "save the plan; geoferry apply places.plan applies it"],
    ["plan places.gpkg --map 7c0… --html places.html", "show the map before and after"],
  ],
  async run(args) {
    const request = syncRequestOf(args);
    const { runComparison } = await import("../run/run-compare.js");
    const { renderPlan } = await import("../output/plan-table.js");
    return runComparison(request, request.mode, args, renderPlan);
  },
};
