import type { Command } from "../command.js";
import {
  comparingOptions,
  conflictOption,
  guardOptions,
  inputsPositional,
  matchingOptions,
  modeOption,
  type SyncArguments,
  sendingOptions,
  syncRequestOf,
  withInput,
  writingOptions,
} from "../options/sync-options.js";
import type { RunArguments } from "../run/run-sync.js";

export const pushCommand: Command<SyncArguments & RunArguments> = {
  usage: "push <inputs..>",
  summary: "Sync a map with INPUT: create and update features, or with --mode full also delete",
  positionals: inputsPositional,
  options: withInput({
    ...modeOption,
    ...writingOptions,
    ...guardOptions,
    ...matchingOptions,
    ...comparingOptions,
    ...sendingOptions,
    ...conflictOption,
  }),
  examples: [
    ["push places.gpkg --map 7c0… --remote-field ref", "create new features and update changed ones"],
    ["push places.gpkg --map 7c0… --mode full --max-delete 5%", "also delete features that the source no longer has"],
    ["push places.gpkg --map 7c0… --dry-run", "show what would be done"],
  ],
  async run(args) {
    const request = syncRequestOf(args);
    const { runSync } = await import("../run/run-sync.js");
    return runSync(request, request.mode, args);
  },
};
