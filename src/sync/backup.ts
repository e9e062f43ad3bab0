/**
 * Features as they were before a plan changes or deletes them: a FeatureCollection (RFC 7946) with a feature a line, and
 * a member `geoferry` that says of which map.
 */
import { existsSync, statSync } from "node:fs";
import { format, join, parse } from "node:path";
import { fault, GeoferryError } from "../errors.js";
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

/**
 * Where a backup goes: a file that is not there yet. No backup is ever replaced, since a run that is repeated after it
 * broke off keeps only what is left to change: `before-2.geojson` where `before.geojson` is taken.
 * @param asked a file, or a folder in which it is called `MAP-backup-20260102T030405Z.geojson`
 */
export function freeBackupPath(asked: string, map: string, now: Date): string {
  const isFolder = /[/\\]$/.test(asked) || (existsSync(asked) && statSync(asked).isDirectory());
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const path = isFolder ? join(asked, `${map.replace(/[^\w.-]+/g, "_")}-backup-${time}.geojson`) : asked;
  const { dir, name, ext } = parse(path);
  for (let n = 1; ; n++) {
    const free = n === 1 ? path : format({ dir, name: `${name}-${n}`, ext });
    if (!existsSync(free)) return free;
  }
}

/**
 * Writes what the plan changes and deletes; it is on the disk when this returns.
 * @returns how many features; where there are none there is no file
 * @throws output-exists, backup-failed
 */
export async function writeBackup(
  plan: OpenPlan,
  path: string,
  now: Date,
  onProgress: (done: number) => void,
): Promise<number> {
  if (plan.counts.update + plan.counts.delete === 0) return 0;
  try {
    return await writeHeld(plan, path, now, onProgress);
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "output-failed") throw error;
    throw fault("backup-failed", { backup: path, reason: String(error.details.reason) }, error);
  }
}

async function writeHeld(plan: OpenPlan, path: string, now: Date, onProgress: (done: number) => void): Promise<number> {
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
