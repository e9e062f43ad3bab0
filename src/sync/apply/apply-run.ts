import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type ComparableFeature,
  canonicalFeature,
  defaultRounding,
  digestText,
  type Rounding,
} from "../../canonical/canonical-feature.js";
import { createError, GeoferryError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import { isVersionTag } from "../../remote/http/entity-tag.js";
import { isReformatted } from "../diff/loose-equality.js";
import type { CreationRecorder } from "../journal/backup-writer.js";
import type { Journal, JournalRequest } from "../journal/journal.js";
import type { BaselineEntry, OpenPlan, PlanAction, PlanHeader, PlannedFeature } from "../plan/plan.js";
import type { ApplyCheckpoint, ApplyContext, ApplyStep, RefusedFeature, WithheldReason } from "./apply-context.js";
import { type EtagChain, strongEtag } from "./etag-chain.js";
import type { FailuresFile, Refusal } from "./failures-file.js";
import { checksTags, hasTagNow } from "./map-state-probe.js";

/** Maximum rejected features that the report lists. */
const maxListedRefusals = 10;

/** Initial byte limit of a request's features; reduced when the service responds that a request is too large. */
const initialMaxBatchBytes = 8 << 20;

/** Actions that send a feature. */
export type WriteAction = Extract<PlanAction, { readonly feature: unknown }>;

export interface JournaledOutcome {
  readonly outcome: WriteOutcome;
  /** Number of the batch in the journal; the batch must be settled if the outcome is uncertain. */
  readonly entry: number;
  /** `isFullyApplied` of the outcome. */
  readonly isFullyApplied: boolean;
}

/** State shared by all steps of applying a plan: plan, context, journal and counts. */
export class ApplyRun {
  readonly counts = { created: 0, updated: 0, deleted: 0, failed: 0, unknown: 0 };
  readonly refused: RefusedFeature[] = [];
  readonly notices: string[] = [];
  /** Ids of the features that were recreated last. */
  readonly recreatedIds: string[] = [];
  /** Number of features that the service has reported as created, whether or not the map shows them. */
  reportedCreates = 0;
  /** Features removed again because another writer created the same ones. */
  removedDuplicates = 0;
  /** Error for keys of this run that several features on the map share. */
  duplicatesError: GeoferryError | null = null;
  withheld: { deletes: number; why: WithheldReason } | null = null;
  /** Byte limit of a request; halved when the service rejects one as too large. */
  maxBatchBytes = initialMaxBatchBytes;
  /**
   * Whether the service has applied nothing of a request of which it rejected some features. Learned by reading the map; then
   * responses that name failures only are taken for the same.
   */
  appliesWholeRequests = false;
  /** Some changes of the plan may be on the map. */
  hasWritten = false;
  private checksTags: Promise<boolean | null> | null = null;
  /** Why the last request without a conclusive response had none; null without such a request. */
  private lastDoubt: string | null = null;
  /** Unlike the id of the run, different in each process and attempt that resumes its journal. */
  private readonly idempotencyPrefix = randomUUID();
  private idempotencyKeyCount = 0;

  constructor(
    readonly plan: OpenPlan,
    readonly context: ApplyContext,
    private readonly journal: Journal,
    private readonly failures: FailuresFile,
    /** Records the ids of created features. */
    readonly creationRecorder: CreationRecorder,
    /** Supplies the precondition of each write. */
    readonly etagChain: EtagChain,
  ) {}

  get header(): PlanHeader {
    return this.plan.header;
  }

  get rounding(): Rounding {
    return { ...defaultRounding, degrees: this.header.settings.precision };
  }

  /** Digest of the content of a feature, as in the rows of a reading. */
  digestOf(feature: ComparableFeature): string {
    return digestText(canonicalFeature(feature, this.rounding));
  }

  /** Creates an Idempotency-Key that is unique across batches and runs. */
  createIdempotencyKey(): string {
    return `${this.idempotencyPrefix}-${this.idempotencyKeyCount++}`;
  }

  /**
   * Whether the map shows a feature in the format in which the service stores it: an earlier run has sent the same
   * feature, and read the same one back.
   */
  isStoredForm(sent: PlannedFeature, held: PlannedFeature, entry: BaselineEntry): boolean {
    const { context, rounding } = this;
    return context.isKnownResult?.(entry, this.digestOf(held)) === true && isReformatted(sent, held, rounding);
  }

  reachCheckpoint(point: ApplyCheckpoint): void | Promise<void> {
    return this.context.onCheckpoint?.(point);
  }

  reportProgress(step: ApplyStep, done: number, total: number | null): void {
    this.context.onProgress?.({ step, done, total });
  }

  /** @throws sync-interrupted */
  throwIfAborted(): void {
    if (this.context.signal.aborted) throw this.createInterruptedError();
  }

  /** Waits until interrupted requests must have ended. @param times of the settle time @throws sync-interrupted */
  async waitSettleTime(times = 1): Promise<void> {
    this.throwIfAborted();
    await pause(times * this.header.settings.settleTime, undefined, { signal: this.context.signal }).catch(() => {
      throw this.createInterruptedError();
    });
  }

  /** Creates the error for an interrupted run. */
  createInterruptedError(cause?: unknown): GeoferryError {
    const { service, map } = this.header;
    return createError("sync-interrupted", { service, map }, cause);
  }

  /**
   * Whether another client wrote after this run, so that what a reading lacks may be its doing. Another entity tag does not
   * prove it, since the reading may be older than the writes of the run: the service itself is asked.
   * @param sent tag of the map after the last write of the run; null if unknown @param read tag of the reading
   * @throws errors of the client
   */
  async wasChangedByOthers(sent: string | null, read: string | null): Promise<boolean> {
    if (sent === null || strongEtag(read) === sent) return false;
    const isUnchanged = await hasTagNow(this.context.client, sent);
    return isUnchanged === null ? !this.etagChain.isPast(strongEtag(read)) : !isUnchanged;
  }

  /**
   * Whether entity tags certainly keep the writes of the run from replacing what another client wrote since the plan was made.
   * Asks the service once, unless its tags are those of geoferry's own.
   * @param countPages counts the pages of the map that must be read again if not: reading one costs no more than to ask
   */
  async isProtectedByTags(countPages: () => number | Promise<number>): Promise<boolean> {
    const { etagChain, context, header } = this;
    if (!etagChain.isActive) return false;
    if (isVersionTag(header.snapshot.etag)) return true;
    if ((await countPages()) <= 1) return false;
    this.checksTags ??= checksTags(context.client);
    return (await this.checksTags) === true;
  }

  /** Records that another client has changed the map, and creates the error. */
  createConflictError(): GeoferryError {
    this.etagChain.markLost();
    const { service, map } = this.header;
    return createError("map-changed", { service, map });
  }

  /** Creates the error for requests that were repeated so many times, and never applied. */
  createNotAcceptedError(tries: number): GeoferryError {
    const { service, map } = this.header;
    return createError("batches-not-accepted", { service, map, tries, reason: this.lastDoubt });
  }

  /**
   * Sends a request and journals it before and after. A batch that was not fully applied stays open in the journal
   * until `acknowledge`.
   * @param record receives the ids of a response before the journal records the outcome
   * @throws errors of the client, backup-failed
   */
  async sendJournaled(
    sent: JournalRequest,
    request: () => Promise<WriteOutcome>,
    record?: (ids: readonly string[]) => Promise<void>,
  ): Promise<JournaledOutcome> {
    const entry = await this.journal.recordSent(sent);
    await this.reachCheckpoint("sent");
    let outcome: WriteOutcome;
    try {
      outcome = await request();
    } catch (error) {
      if (wasNotApplied(error)) await this.journal.acknowledge(entry, "not-applied");
      throw error;
    }
    await this.reachCheckpoint("answered");
    this.noteWrite(outcome, sent.features);
    if (outcome.kind === "in-doubt") this.lastDoubt = outcome.reason;
    if (record && outcome.kind === "answered") await record(outcome.success.map(({ id }) => id));
    const isDone = isFullyApplied(outcome, sent.features);
    if (isDone) await this.acknowledge(entry, "done");
    else if (outcome.kind !== "in-doubt" && outcome.kind !== "answered") await this.acknowledge(entry, outcome.kind);
    return { outcome, entry, isFullyApplied: isDone };
  }

  /** Records that a request with so many features may have changed the map. */
  noteWrite(outcome: WriteOutcome, features: number): void {
    if (mayHaveWritten(outcome, features)) this.hasWritten = true;
  }

  /** Marks a batch as settled. */
  async acknowledge(entry: number, outcome: string): Promise<void> {
    await this.journal.acknowledge(entry, outcome);
    await this.reachCheckpoint("acknowledged");
  }

  /** Records a feature that the service rejected. @throws output-failed */
  async recordRefusal({ action, key, feature, ...rest }: WriteAction, refusal: Refusal): Promise<void> {
    this.listRefusal({ action, key, id: "id" in rest ? rest.id : null, ...refusal });
    this.counts.failed += 1;
    await this.failures.add(feature, refusal);
  }

  /** Records a feature that may or may not be on the map. @throws output-failed */
  async recordUnknown({ feature }: WriteAction, reason: string): Promise<void> {
    this.counts.unknown += 1;
    await this.failures.add(feature, { code: "outcome-unknown", reason, path: null });
  }

  /** Records a feature that could not be deleted. */
  recordDeleteRefusal(id: string, key: string | number | null, reason: string): void {
    this.listRefusal({ action: "delete", id, key, code: "refused", reason });
    this.counts.failed += 1;
  }

  private listRefusal({ action, key, id, code, reason }: RefusedFeature): void {
    if (this.refused.length < maxListedRefusals) this.refused.push({ action, key, id, code, reason });
  }
}

/**
 * Whether the whole request was applied: nothing failed, and there are as many distinct ids as features sent. The order
 * of ids is not significant.
 */
export const isFullyApplied = (outcome: WriteOutcome, features: number): boolean =>
  outcome.kind === "answered" &&
  outcome.failed.length === 0 &&
  new Set(outcome.success.map(({ id }) => id)).size === features;

/** A response may omit the ids of what was applied. */
const mayHaveWritten = (outcome: WriteOutcome, features: number): boolean =>
  outcome.kind === "answered"
    ? outcome.success.length > 0 || outcome.failed.length < features
    : outcome.kind === "in-doubt" && !outcome.unsent;

/** For writes, a client throws these errors only if the service certainly applied nothing (`MapClient`). */
const wasNotApplied = (error: unknown): boolean =>
  error instanceof GeoferryError && ["unavailable", "authentication", "interrupted"].includes(error.kind);
