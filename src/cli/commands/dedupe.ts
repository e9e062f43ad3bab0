import type { Command } from "../command.js";
import { text } from "../options/source-options.js";
import {
  comparingOptions,
  dedupeOptions,
  guardOptions,
  mapOption,
  matchingOptions,
  onMap,
  sendingOptions,
  writingOptions,
} from "../options/sync-options.js";
import type { RunArguments } from "../run/run-sync.js";

export interface DedupeArguments extends RunArguments {
  readonly map: string;
  readonly remoteField: string;
  readonly keep?: string;
  readonly orderBy?: string;
  readonly deleteDifferent?: boolean;
  readonly scope?: string;
  readonly precision?: string;
  readonly maxDelete?: string;
  readonly singleRead?: boolean;
  readonly settleTime?: string;
}

export const dedupeCommand: Command<DedupeArguments> = {
  usage: "dedupe",
  summary: "Delete duplicate features of a map: all but one of each key",
  positionals: {},
  options: onMap({
    ...mapOption,
    "remote-field": {
      ...text,
      accepts: "field",
      describe: "Property that identifies a feature",
      demandOption: true,
    },
    ...writingOptions,
    "max-delete": guardOptions["max-delete"],
    ...dedupeOptions,
    scope: {
      ...matchingOptions.scope,
      describe: "Compare only features with this property value: source=cadastre",
    },
    precision: comparingOptions.precision,
    "single-read": comparingOptions["single-read"],
    "settle-time": sendingOptions["settle-time"],
  }),
  examples: [
    ["dedupe --map 7c0… --remote-field ref --dry-run", "show duplicates and which of them would be deleted"],
    ["dedupe --map 7c0… --remote-field ref --max-delete 800", "delete duplicates that are equal"],
    [
      "dedupe --map 7c0… --remote-field ref --delete-different --order-by updated --keep last",
      "keep the newest of each, also if they differ",
    ],
  ],
  async run(args) {
    const { runDedupe } = await import("../run/run-dedupe.js");
    return runDedupe(args);
  },
};
