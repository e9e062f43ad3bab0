import type { ApplyReport, EarlierBackup } from "../apply/apply-context.js";

/** The backups of a run that have something to undo, one for each of its attempts; the oldest first. */
export function listBackups(report: ApplyReport): readonly EarlierBackup[] {
  const { backup, created, updated, deleted, earlierBackups = [] } = report;
  const earlier = [...earlierBackups].reverse();
  if (backup === null || created + updated + deleted === 0) return earlier;
  const own = earlier.reduce((rest, attempt) => rest - attempt.created, created);
  return [...earlier, { path: backup, created: own }];
}
