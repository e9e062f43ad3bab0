/** The command that undoes what a run wrote to a map, as it can be copied. */
import { resolve } from "node:path";
import { quoteForShell } from "../../errors/shell-quote.js";
import type { BackupReport } from "../../jobs/report/run-report.js";
import type { SessionArguments } from "../run/sync-session.js";
import { sessionFlags } from "./session-flags.js";

/**
 * The guard of deletes lets as many pass as the run created. The path of the backup is absolute, so that the command
 * works from any folder.
 */
export function restoreCommand({ path, created }: BackupReport, args: SessionArguments): string {
  const words = [
    ...["restore", resolve(path)],
    ...(created > 0 ? ["--max-delete", String(created)] : []),
    ...sessionFlags(args),
  ];
  return `geoferry ${words.map(quoteForShell).join(" ")}`;
}

/** Of the tries of a step: the latest is undone first. */
export const restoreCommands = (backups: readonly BackupReport[], args: SessionArguments): string[] =>
  backups.map((backup) => restoreCommand(backup, args)).reverse();
