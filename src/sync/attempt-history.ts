/** Attempts of one run that other writers cut short, and the pause between two of them. */
import { rm } from "node:fs/promises";
import { asGeoferryError } from "../errors.js";
import { defaultTraffic } from "../remote/client/map-client.js";
import type { ApplyReport, EarlierBackup } from "./apply/apply-context.js";
import { strongEtag } from "./apply/etag-chain.js";
import { jitteredPause } from "./jittered-pause.js";
import type { PlanCounts } from "./plan/plan.js";
import type { SyncRequest } from "./request.js";
import type { SyncResult } from "./sync.js";
import type { SyncRun } from "./sync-run.js";

/** What was done in attempts before the one that runs. */
export class AttemptHistory {
  count = 0;
  private readonly totals = { created: 0, updated: 0, deleted: 0 };
  private readonly backups: EarlierBackup[] = [];
  private lastWritten: { readonly prepared: SyncResult["prepared"]; readonly report: ApplyReport } | null = null;

  /** An attempt that was cut short; its backup goes where it has nothing to undo. */
  async add(prepared: SyncResult["prepared"], report: ApplyReport): Promise<void> {
    const { created, updated, deleted, backup, hasWritten } = report;
    this.count += 1;
    this.totals.created += created;
    this.totals.updated += updated;
    this.totals.deleted += deleted;
    if (hasWritten) this.lastWritten = { prepared, report };
    if (backup === null) return;
    if (hasWritten) this.backups.unshift({ path: backup, created });
    else await rm(backup, { force: true });
  }

  /** The counts of a plan with what was done before it: the guards limit what a whole run may do. */
  addToCounts(counts: PlanCounts): PlanCounts {
    const { updated, deleted } = this.totals;
    return { ...counts, update: counts.update + updated, delete: counts.delete + deleted };
  }

  /**
   * Runs an attempt. What stops it is an ending of the run where something was written before.
   * @throws what the attempt throws, where nothing was written before
   */
  async runAttempt(attempt: () => Promise<SyncResult>): Promise<SyncResult> {
    const { lastWritten } = this;
    try {
      return await attempt();
    } catch (error) {
      if (!lastWritten) throw error;
      const nothing = { created: 0, updated: 0, deleted: 0, overtaken: false, hasWritten: false, backup: null };
      return {
        prepared: lastWritten.prepared,
        applied: { ...lastWritten.report, ...nothing, error: asGeoferryError(error) },
      };
    }
  }

  /** A report on the run as a whole. @param report of the last attempt; null where it had nothing to do */
  mergeReport(report: ApplyReport | null): ApplyReport | null {
    if (!this.lastWritten) return report;
    const { created, updated, deleted } = this.totals;
    const now = report ?? emptyReport;
    return {
      ...now,
      created: created + now.created,
      updated: updated + now.updated,
      deleted: deleted + now.deleted,
      hasWritten: true,
      earlierBackups: this.backups,
    };
  }
}

/** Of an attempt that had nothing to do. */
const emptyReport: ApplyReport = {
  created: 0,
  updated: 0,
  deleted: 0,
  failed: 0,
  unknown: 0,
  withheld: null,
  hasConflict: false,
  hasWritten: false,
  put: false,
  backup: null,
  rejects: null,
  refused: [],
  etag: null,
  notices: [],
  error: null,
};

/** Standard input comes once. */
export const isRereadable = ({ source: { inputs } }: SyncRequest): boolean =>
  !inputs.some((input) => input === "-" || input.startsWith("/dev/"));

/** So often a run waits before it has sent anything, at most. */
const maxWaits = 3;

/**
 * Prepares an attempt. Where other writers are at work on the map, it is read again when they have had time to end: it
 * changed with each reading; or, without entity tags, several features with one key say the same, which who created them
 * is about to settle.
 * @throws what the preparation throws; interrupted
 */
export async function prepareWithRetries<T>(
  prepare: () => Promise<T>,
  request: SyncRequest,
  { client, context }: SyncRun,
): Promise<T> {
  for (let wait = 0; ; wait++)
    try {
      return await prepare();
    } catch (error) {
      const { code, details } = asGeoferryError(error);
      const isUnsettled = code === "duplicate-key-on-map" && details.twins === true;
      if (wait >= maxWaits || !isRereadable(request) || !(isUnsettled || code === "remote-changed-during-read"))
        throw error;
      if (isUnsettled && strongEtag((await client.page(1))?.etag ?? null) !== null) throw error;
      await jitteredPause(request.settleTime, context.host.signal);
    }
}

/** So often it is looked whether the map is still changing, at most. */
const maxPolls = 60;

/** A pause is doubled with every attempt, so many times. */
const maxDoublings = 3;

/**
 * Waits until the map has the same entity tag in two looks, with a pause of random length between them. A map that
 * never stands still is waited for no longer than sixty looks.
 * @throws interrupted; what `MapClient.page` throws
 */
export async function waitForStableMap({ client, context }: SyncRun, attempt: number): Promise<void> {
  const { firstRetryDelay = defaultTraffic.firstRetryDelay ?? 500 } = context.traffic;
  const longest = firstRetryDelay * 2 ** Math.min(attempt, maxDoublings);
  let tag: string | null = null;
  for (let look = 0; look < maxPolls; look++) {
    const page = await client.page(1, tag);
    // Without tags nothing tells; the next reading of the map does. Not every service answers If-None-Match with 304.
    if (page === null || (look > 0 && page.etag === tag)) return;
    tag = page.etag;
    await jitteredPause(longest, context.host.signal);
  }
}
