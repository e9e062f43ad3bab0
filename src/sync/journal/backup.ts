/**
 * What a run changes on a map, kept so that `geoferry restore` can undo it: a FeatureCollection (RFC 7946) with a feature
 * a line, each as it was before the run changed or deleted it, and four foreign members. `geoferry` says of which map
 * the backup is, `updates` what the run was about to write to features that it changes, `creates` what the run was about to create, and `created` what the service created of it.
 */
import { existsSync, statSync } from "node:fs";
import { format, join, parse } from "node:path";
import type { PlanHeader, SyncKey } from "../plan/plan.js";

/** 2 added what the run creates, 3 what its updates write; backups of versions 1 and 2 can be restored as well. */
export const backupVersion = 3;

/** The member `geoferry` of a backup. */
export interface BackupHeader {
  readonly backup: 1 | 2 | typeof backupVersion;
  readonly service: string;
  readonly map: string;
  readonly key: SyncKey | null;
  /** What the run was limited to: outside of it keys are another job's. */
  readonly scope: PlanHeader["settings"]["scope"];
  /** Decimals of degrees at which the digests of `updates` and `creates` were made; absent in version 1. */
  readonly precision?: number;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** The lines of a backup between its parts. */
export const backupLines = {
  updates: '],"updates":[',
  creates: '],"creates":[',
  created: '],"created":[',
  /** The run is not over, or was cut off. */
  open: "]}",
  /** The run came to an end that it knew: `created` has all that it created. */
  ended: '],"ended":true}',
} as const;

/** So many hexadecimal digits of a digest (`digestOf`) identify the contents of a created feature. */
export const shortDigestLength = 16;

export const shortDigest = (digest: string): string => digest.slice(0, shortDigestLength);

/** The folder for backups of a map, unless `--backup` names another place; a run that writes creates it. */
export const defaultBackupFolder = (stateFolder: string): string => join(stateFolder, "backups", "/");

/**
 * Where a backup goes: a file that is not there yet. No backup is ever replaced, since a run that is repeated after it
 * broke off keeps only what is left to change: `before-2.geojson` where `before.geojson` is taken.
 * @param asked a file, or a folder in which it is called `MAP-backup-20260102T030405Z.geojson`
 */
export function findFreeBackupPath(asked: string, map: string, now: Date): string {
  const isFolder = /[/\\]$/.test(asked) || (existsSync(asked) && statSync(asked).isDirectory());
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const path = isFolder ? join(asked, `${map.replace(/[^\w.-]+/g, "_")}-backup-${time}.geojson`) : asked;
  const { dir, name, ext } = parse(path);
  for (let n = 1; ; n++) {
    const free = n === 1 ? path : format({ dir, name: `${name}-${n}`, ext });
    if (!existsSync(free)) return free;
  }
}
