import type { Command } from "../command.js";
import { text } from "../options/source-options.js";
import {
  comparingOptions,
  guardOptions,
  onMap,
  overwriteEditsOption,
  refusedOption,
  sendingOptions,
  writingOptions,
} from "../options/sync-options.js";
import type { RunArguments } from "../run/run-sync.js";

export interface RestoreArguments extends RunArguments {
  /** The backup to restore; `--backup` names the new backup that the restoration writes. */
  readonly backupfile: string;
  readonly map?: string;
  readonly rejects?: string;
  readonly maxDelete?: string;
  readonly maxUpdate?: string;
  readonly overwriteEdits?: boolean;
  readonly singleRead?: boolean;
  readonly updateWith?: string;
  readonly settleTime?: string;
}

export const restoreCommand: Command<RestoreArguments> = {
  usage: "restore <backupfile>",
  summary: "Undo a push, apply or delete from its backup",
  positionals: {
    backupfile: { type: "string", describe: "BACKUP, a file that a push wrote", demandOption: true, isPath: true },
  },
  options: onMap({
    map: {
      ...text,
      accepts: "map",
      describe: "Id of the map, or its name if unique",
      defaultDescription: "the map of the backup",
    },
    ...refusedOption("BACKUP"),
    ...writingOptions,
    "max-delete": guardOptions["max-delete"],
    "max-update": guardOptions["max-update"],
    ...overwriteEditsOption,
    "single-read": comparingOptions["single-read"],
    ...sendingOptions,
  }),
  examples: [["restore 7c0…-backup-20261120T020000Z.geojson", "undo the run that wrote this backup"]],
  async run(args) {
    const { runRestore } = await import("../run/run-restore.js");
    return runRestore(args);
  },
};
