import type { Command } from "../command.js";
import type { RunArguments } from "../run-sync.js";
import { serviceOptions } from "../service-options.js";
import { flag, text } from "../source-options.js";
import {
  comparingOptions,
  guardOptions,
  inputsPositional,
  mapOption,
  matchingOptions,
  modeOption,
  type SyncArguments,
  sourceOptions,
  stateOption,
  strictOption,
  syncRequestOf,
} from "../sync-options.js";

/** What is asked before a map is written to, and kept of it. */
export const writingOptions = {
  "dry-run": { ...flag, describe: "Show what would be done, and do nothing" },
  yes: { ...flag, alias: "y", describe: "Ask nothing; guards hold all the same" },
  backup: {
    ...text,
    describe: "Where features are kept that are changed or deleted",
    defaultDescription: "MAP-backup-TIME.geojson",
  },
} as const;

export const pushCommand: Command<SyncArguments & RunArguments> = {
  usage: "push <inputs..>",
  summary: "Make a map equal to INPUT (--mode full), or create and update what is new in it",
  positionals: inputsPositional,
  options: {
    ...mapOption,
    ...modeOption,
    ...matchingOptions,
    ...writingOptions,
    ...guardOptions,
    ...comparingOptions,
    ...sourceOptions,
    ...strictOption,
    ...serviceOptions,
    ...stateOption,
  },
  examples: [
    ["push places.gpkg --map 7c0… --remote-field ref", "create what is new, update what changed"],
    ["push places.gpkg --map 7c0… --mode full --max-delete 5%", "delete what is gone, too"],
    ["push places.gpkg --map 7c0… --dry-run", "show what would be done"],
  ],
  async run(args) {
    const request = syncRequestOf(args);
    const { runSync } = await import("../run-sync.js");
    return runSync(request, request.mode, args);
  },
};
