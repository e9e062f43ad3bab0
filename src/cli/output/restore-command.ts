/** The `geoferry restore` commands that undo a run. */
import { resolve } from "node:path";
import { quoteForShell } from "../../errors/shell-quote.js";
import type { BackupReport } from "../../jobs/report/run-report.js";
import type { SessionArguments } from "../run/sync-session.js";
import { sessionFlags, urlFlag } from "./session-flags.js";

/**
 * `--max-delete` allows as many deletes as the run created features. The path of the backup is absolute, so that the
 * command works in any folder.
 */
export function formatRestoreCommand({ path, created }: BackupReport, args: SessionArguments): string {
  const words = [
    ...["restore", resolve(path)],
    ...(created > 0 ? ["--max-delete", String(created)] : []),
    ...urlFlag(args),
    ...sessionFlags(args),
  ];
  return `geoferry ${words.map(quoteForShell).join(" ")}`;
}

/** Commands for all attempts of a step: the latest attempt is undone first. */
export const restoreCommands = (backups: readonly BackupReport[], args: SessionArguments): string[] =>
  backups.map((backup) => formatRestoreCommand(backup, args)).reverse();
