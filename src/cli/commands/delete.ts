import { createError } from "../../errors.js";
import type { Command } from "../command.js";
import {
  comparingOptions,
  conflictOption,
  guardOptions,
  inputsPositional,
  matchingOptions,
  type SyncArguments,
  sendingOptions,
  syncRequestOf,
  withInput,
  writingOptions,
} from "../options/sync-options.js";
import type { RunArguments } from "../run/run-sync.js";

export const deleteCommand: Command<SyncArguments & RunArguments> = {
  usage: "delete <inputs..>",
  summary: "Delete the features of a map whose keys or ids INPUT lists",
  positionals: inputsPositional,
  options: withInput({
    ...writingOptions,
    "max-delete": guardOptions["max-delete"],
    ...matchingOptions,
    "single-read": comparingOptions["single-read"],
    "settle-time": sendingOptions["settle-time"],
    ...conflictOption,
  }),
  examples: [
    ["delete gone.csv --map 7c0… --remote-field ref", "delete the features with the keys of a table"],
    ["delete old.geojson --map 7c0… --match id", "delete by the ids of the service, as written by pull"],
  ],
  async run(args) {
    if (args.remoteField === undefined && args.match === undefined)
      throw createError("usage", {
        reason: "delete needs --remote-field NAME or --match id to identify features",
      });
    const { runSync } = await import("../run/run-sync.js");
    return runSync(syncRequestOf(args), "delete", args);
  },
};
