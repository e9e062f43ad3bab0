import type { ApplyReport, EarlierBackup } from "../apply/apply-context.js";

/** Lists the backups of a run that contain changes to undo, one per attempt; the oldest first. */
export function listBackups(report: ApplyReport): readonly EarlierBackup[] {
  const { backup, created, updated, deleted, reportedCreates = 0, hasWritten, earlierBackups = [] } = report;
  const earlier = [...earlierBackups].reverse();
  if (backup === null || (!hasWritten && created + updated + deleted === 0)) return earlier;
  const own = earlier.reduce((rest, attempt) => rest - attempt.created, created);
  return [...earlier, { path: backup, created: Math.max(own, reportedCreates) }];
}
