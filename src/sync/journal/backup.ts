/**
 * The backup with which `geoferry restore` undoes a run: a FeatureCollection (RFC 7946) with one feature per line, each
 * as it was before the run changed or deleted it, and five foreign members. `geoferry` identifies the map, `equal` lists
 * features that the run leaves and that have the same content as one of these, `updates` what the run intended to write
 * to existing features, `creates` what it intended to create, and `created` what the service created. `sha256` is the
 * digest of all lines before it, and `createdSha256`, once the run has ended, that of the lines of `created`.
 */
import { existsSync, statSync } from "node:fs";
import { format, join, parse } from "node:path";
import type { PlanHeader, SyncKey } from "../plan/plan.js";

/**
 * Version 2 added the creates, version 3 the content of updates, version 4 the features with equal content, version 5
 * the digests. Earlier versions can be restored, too.
 */
export const backupVersion = 5;

/** The member `geoferry` of a backup. */
export interface BackupHeader {
  readonly backup: 1 | 2 | 3 | 4 | typeof backupVersion;
  readonly service: string;
  readonly map: string;
  readonly key: SyncKey | null;
  /** The scope of the run; features outside it belong to other jobs, and may have the same keys. */
  readonly scope: PlanHeader["settings"]["scope"];
  /** Decimals of degrees used for the digests of `updates` and `creates`; absent in version 1. */
  readonly precision?: number;
  /** Number of features of the map that the run neither changes nor deletes; absent before version 4. */
  readonly untouched?: number;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** The separator lines between the parts of a backup; before version 5, `created` and `ended` had no digest. */
export const backupLines = {
  equal: '],"equal":[',
  updates: '],"updates":[',
  creates: '],"creates":[',
  created: (sha256: string) => `],"sha256":"${sha256}","created":[`,
  /** The run is in progress or was interrupted. */
  open: "]}",
  /** The run ended in an orderly way, so that `created` is complete. */
  ended: (createdSha256: string) => `],"createdSha256":"${createdSha256}","ended":true}`,
} as const;

export const digestedLines = {
  created: /^\],(?:"sha256":"([0-9a-f]{64})",)?"created":\[$/,
  ended: /^\],(?:"createdSha256":"([0-9a-f]{64})",)?"ended":true\}$/,
} as const;

/** Number of hexadecimal digits of a digest (`digestText`) that identify the content of a feature. */
export const shortDigestLength = 16;

export const shortDigest = (digest: string): string => digest.slice(0, shortDigestLength);

/** The folder for backups of a map, unless `--backup` names another place; a run that writes creates it. */
export const defaultBackupFolder = (stateFolder: string): string => join(stateFolder, "backups", "/");

/**
 * Finds an unused path for a backup. Backups are never replaced, since a repeated run after an interruption records
 * only the remaining changes: uses `before-2.geojson` if `before.geojson` exists.
 * @param requested a file, or a folder, in which the file is named `MAP-backup-20260102T030405Z.geojson`
 */
export function findFreeBackupPath(requested: string, map: string, now: Date): string {
  const isFolder = /[/\\]$/.test(requested) || (existsSync(requested) && statSync(requested).isDirectory());
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const path = isFolder ? join(requested, `${map.replace(/[^\w.-]+/g, "_")}-backup-${time}.geojson`) : requested;
  const { dir, name, ext } = parse(path);
  for (let n = 1; ; n++) {
    const free = n === 1 ? path : format({ dir, name: `${name}-${n}`, ext });
    if (!existsSync(free)) return free;
  }
}
