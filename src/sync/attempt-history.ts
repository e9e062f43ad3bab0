/** Tracks the attempts of a run that other writers interrupted, and the pauses between them. */
import { rm } from "node:fs/promises";
import type { BackupFailure } from "../errors/sync-apply-errors.js";
import type { GuardDetails } from "../errors/sync-plan-errors.js";
import { asGeoferryError, createError, type GeoferryError } from "../errors.js";
import { defaultTraffic } from "../remote/client/map-client.js";
import type { ApplyReport, EarlierBackup } from "./apply/apply-context.js";
import { strongEtag } from "./apply/etag-chain.js";
import { jitteredPause } from "./jittered-pause.js";
import type { PlanCounts } from "./plan/plan.js";
import { isUnchanged } from "./plan/prepare-sync.js";
import type { SyncRequest } from "./request.js";
import type { SyncResult } from "./sync-hooks.js";
import type { SyncRun } from "./sync-run.js";

/** Results of earlier attempts of a run. */
export class AttemptHistory {
  count = 0;
  private readonly totals = { created: 0, updated: 0, deleted: 0 };
  private readonly backups: EarlierBackup[] = [];
  /** Entity tags of the map as the attempts read it. */
  private readonly tags = new Set<string | null>();
  private lastWritten: { readonly prepared: SyncResult["prepared"]; readonly report: ApplyReport } | null = null;

  constructor(private readonly client: Pick<SyncRun["client"], "id" | "url">) {}

  /** Whether an attempt may have changed the map. */
  get hasWritten(): boolean {
    return this.lastWritten !== null;
  }

  /** Records an interrupted attempt; deletes its backup if it changed nothing. */
  async add(prepared: SyncResult["prepared"], report: ApplyReport): Promise<void> {
    const { created, updated, deleted, backup, hasWritten } = report;
    this.count += 1;
    this.tags.add(tagOf(prepared));
    this.totals.created += created;
    this.totals.updated += updated;
    this.totals.deleted += deleted;
    if (hasWritten) this.lastWritten = { prepared, report };
    if (backup === null) return;
    if (hasWritten) this.backups.unshift({ path: backup, created: Math.max(created, report.reportedCreates ?? 0) });
    else await rm(backup, { force: true });
  }

  /** The entity tag that the map had in this attempt and in all earlier ones; null if it has changed, or without tags. */
  unchangedTag(prepared: SyncResult["prepared"]): string | null {
    const now = tagOf(prepared);
    return [...this.tags].every((tag) => tag === now) ? now : null;
  }

  /** Adds the changes of earlier attempts to the counts of a plan, since guards limit a whole run. */
  addToCounts(counts: PlanCounts): PlanCounts {
    const { updated, deleted } = this.totals;
    // What an earlier attempt has updated needs no change now, and is not a feature more.
    const same = Math.max(0, counts.same - updated);
    return { ...counts, same, update: counts.update + updated, delete: counts.delete + deleted };
  }

  /**
   * Runs an attempt. If earlier attempts wrote something, an error becomes part of the result.
   * @throws errors of the attempt if nothing was written before
   */
  async runAttempt(attempt: () => Promise<SyncResult>): Promise<SyncResult> {
    const { lastWritten } = this;
    try {
      return await attempt();
    } catch (error) {
      if (!lastWritten) throw error;
      return {
        prepared: lastWritten.prepared,
        applied: { ...withoutChanges(lastWritten.report), error: asGeoferryError(error) },
      };
    }
  }

  /**
   * Combines the report of an attempt with those of all recorded ones. @param report of the last attempt, without
   * changes if it was recorded; null if it had nothing to do
   */
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
      error: now.error && this.describeStop(now.error),
    };
  }

  /** The error of an attempt that sent nothing, in a run that did. */
  private describeStop(error: GeoferryError): GeoferryError {
    const { url: service, id: map } = this.client;
    switch (error.code) {
      case "interrupted":
        return createError("sync-interrupted", { service, map }, error);
      case "guard-sync":
        return createError("guard-sync", { ...(error.details as GuardDetails), hasWritten: true }, error);
      case "backup-failed":
        return createError("backup-failed", { ...(error.details as BackupFailure), hasWritten: true }, error);
      default:
        return error;
    }
  }
}

const tagOf = (prepared: SyncResult["prepared"]): string | null =>
  isUnchanged(prepared) ? null : prepared.snapshot.etag;

/** The report of an attempt, without the changes that the history counts. */
export const withoutChanges = (report: ApplyReport): ApplyReport => ({
  ...report,
  ...{ created: 0, updated: 0, deleted: 0, hasConflict: false, hasWritten: false, backup: null },
});

/** The report of an attempt without changes. */
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

/** Standard input can be read only once. */
export const isRereadable = ({ source: { inputs } }: SyncRequest): boolean =>
  !inputs.some((input) => input === "-" || input.startsWith("/dev/"));

/** Maximum waits before the first request. */
const maxWaits = 3;

/**
 * Prepares an attempt. Retries after a pause if other writers are active: if the map changed during each reading; or
 * if, without entity tags, several equal features have the same key, which their creators are about to resolve.
 * @throws errors of the preparation; interrupted
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

/** Maximum polls of a changing map. */
const maxPolls = 60;

/** Maximum number of times that the pause doubles, once per attempt. */
const maxDoublings = 3;

/**
 * Waits until two polls return the same entity tag, with a random pause between them; at most sixty polls.
 * @throws interrupted; errors of `MapClient.page`
 */
export async function waitForStableMap({ client, context }: SyncRun, attempt: number): Promise<void> {
  const { firstRetryDelay = defaultTraffic.firstRetryDelay ?? 500 } = context.traffic;
  const pauseMs = firstRetryDelay * 2 ** Math.min(attempt, maxDoublings);
  let tag: string | null = null;
  for (let poll = 0; poll < maxPolls; poll++) {
    const page = await client.page(1, tag);
    // Without tags, polling detects nothing; the next reading of the map does. Not every service answers If-None-Match
    // with 304.
    if (page === null || (poll > 0 && page.etag === tag)) return;
    tag = page.etag;
    await jitteredPause(pauseMs, context.host.signal);
  }
}
