import { fault } from "../../errors.js";
import type { Command } from "../command.js";
import type { RunArguments } from "../run-sync.js";
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
import { writingOptions } from "./push.js";

export const deleteCommand: Command<SyncArguments & RunArguments> = {
  usage: "delete <inputs..>",
  summary: "Delete the features of a map whose keys or ids INPUT lists",
  positionals: inputsPositional,
  options: {
    ...mapOption,
    ...matchingOptions,
    ...writingOptions,
    "max-delete": guardOptions["max-delete"],
    settle: guardOptions.settle,
    "trust-pages": comparingOptions["trust-pages"],
    ...sourceOptions,
    ...strictOption,
    ...serviceOptions,
    ...stateOption,
  },
  examples: [
    ["delete gone.csv --map 7c0… --remote-field ref", "by the keys in a table"],
    ["delete old.geojson --map 7c0… --match id", "by the ids of the service, as pull wrote them"],
  ],
  async run(args) {
    if (args.remoteField === undefined && args.match === undefined)
      throw fault("usage", {
        reason: "delete needs to know what identifies a feature: --remote-field NAME, or --match id",
      });
    const { runSync } = await import("../run-sync.js");
    return runSync(syncRequestOf(args), "delete", args);
  },
};
