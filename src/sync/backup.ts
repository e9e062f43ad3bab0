/**
 * Features as they were before a plan changes or deletes them: a FeatureCollection (RFC 7946) with a feature a line, and
 * a member `geoferry` that says of which map.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createSink } from "../io/sink.js";
import type { OpenPlan, PlanHeader, SyncKey } from "./plan.js";

export const backupVersion = 1;

/** The member `geoferry` of a backup. */
export interface BackupHeader {
  readonly backup: typeof backupVersion;
  readonly service: string;
  readonly map: string;
  readonly key: SyncKey | null;
  /** What the run was limited to: outside of it keys are another job's. */
  readonly scope: PlanHeader["settings"]["scope"];
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** `MAP-backup-20260102T030405Z.geojson`, with a number where that is taken. */
export function freeBackupPath(folder: string, map: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const stem = `${map.replace(/[^\w.-]+/g, "_")}-backup-${time}`;
  for (let n = 1; ; n++) {
    const path = join(folder, n === 1 ? `${stem}.geojson` : `${stem}-${n}.geojson`);
    if (!existsSync(path)) return path;
  }
}

/**
 * Writes what the plan changes and deletes; it is on the disk when this returns.
 * @returns how many features; where there are none there is no file
 * @throws output-exists, output-failed
 */
export async function writeBackup(
  plan: OpenPlan,
  path: string,
  now: Date,
  onProgress: (done: number) => void,
): Promise<number> {
  if (plan.counts.update + plan.counts.delete === 0) return 0;
  const { service, map, key, settings } = plan.header;
  const { scope } = settings;
  const header: BackupHeader = { backup: backupVersion, service, map, key, scope, time: now.toISOString() };
  await using sink = await createSink(path, { overwrite: false, mkdirs: true });
  const file = await sink.create();
  await file.write(Buffer.from(`{"type":"FeatureCollection","geoferry":${JSON.stringify(header)},"features":[`));
  let count = 0;
  for await (const action of plan.actions(["update", "delete"])) {
    if (action.action !== "update" && action.action !== "delete") continue;
    await file.write(Buffer.from(`${count === 0 ? "" : ","}\n${JSON.stringify(action.before)}`));
    count += 1;
    if (count % 1000 === 0) onProgress(count);
  }
  await file.write(Buffer.from("\n]}\n"));
  await sink.commit();
  return count;
}
