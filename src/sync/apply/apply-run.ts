import { setTimeout as pause } from "node:timers/promises";
import { createError, GeoferryError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import { defaultRounding, type Rounding } from "../../remote/snapshot/canonical-feature.js";
import type { CreationRecorder } from "../journal/backup-writer.js";
import type { Journal, JournalRequest } from "../journal/journal.js";
import type { OpenPlan, PlanAction, PlanHeader } from "../plan/plan.js";
import type { ApplyCheckpoint, ApplyContext, ApplyStep, RefusedFeature, WithheldReason } from "./apply-context.js";
import type { EtagChain } from "./etag-chain.js";
import type { FailuresFile, Refusal } from "./failures-file.js";

/** So many refused features are told one by one. */
const maxListedRefusals = 10;

/** Bytes of a request's features; less is sent from the first answer on that says it was too much. */
const initialMaxBatchBytes = 8 << 20;

/** The features of these actions are sent. */
export type WriteAction = Extract<PlanAction, { readonly feature: unknown }>;

export interface JournaledOutcome {
  readonly outcome: WriteOutcome;
  /** Number of the batch in the journal; to be settled where the outcome leaves a doubt. */
  readonly entry: number;
  /** `isDone` of the outcome. */
  readonly isFullyApplied: boolean;
}

/** What all steps of an application share: its plan and tools, its journal, and its counts. */
export class ApplyRun {
  readonly counts = { created: 0, updated: 0, deleted: 0, failed: 0, unknown: 0 };
  readonly refused: RefusedFeature[] = [];
  readonly notices: string[] = [];
  /** Features that were removed again, since another writer had created the same ones. */
  removedDuplicates = 0;
  /** That keys of the run are on the map several times. */
  duplicatesError: GeoferryError | null = null;
  withheld: { deletes: number; why: WithheldReason } | null = null;
  /** Bytes that a request may have; halved when the service finds one too large. */
  maxBatchBytes = initialMaxBatchBytes;
  /** Something of the plan may be on the map. */
  hasWritten = false;
  private idempotencyKeyCount = 0;

  constructor(
    readonly plan: OpenPlan,
    readonly context: ApplyContext,
    private readonly journal: Journal,
    private readonly failures: FailuresFile,
    /** Where ids of created features go. */
    readonly creationRecorder: CreationRecorder,
    /** What the map must be for each write. */
    readonly etagChain: EtagChain,
  ) {}

  get header(): PlanHeader {
    return this.plan.header;
  }

  get rounding(): Rounding {
    return { ...defaultRounding, degrees: this.header.settings.precision };
  }

  /** An Idempotency-Key that no other batch has, of this run or another. */
  createIdempotencyKey(): string {
    return `${this.journal.runId}-${this.idempotencyKeyCount++}`;
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

  /** Waits so long that requests which were cut off have come to their end. @throws sync-interrupted */
  async waitSettleTime(): Promise<void> {
    this.throwIfAborted();
    await pause(this.header.settings.settleTime, undefined, { signal: this.context.signal }).catch(() => {
      throw this.createInterruptedError();
    });
  }

  /** What an application ends with that was interrupted. */
  createInterruptedError(cause?: unknown): GeoferryError {
    const { service, map } = this.header;
    return createError("sync-interrupted", { service, map }, cause);
  }

  /**
   * Sends a request between its two lines of the journal. A batch that was not wholly carried out stays open there
   * until `settled`.
   * @param record is given the ids of an answer before the journal says that it came
   * @throws what the client throws, backup-failed
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
    if (mayHaveWritten(outcome)) this.hasWritten = true;
    if (record && outcome.kind === "answered") await record(outcome.success.map(({ id }) => id));
    const done = isFullyApplied(outcome, sent.features);
    if (done) await this.acknowledge(entry, "done");
    else if (outcome.kind !== "in-doubt" && outcome.kind !== "answered") await this.acknowledge(entry, outcome.kind);
    return { outcome, entry, isFullyApplied: done };
  }

  /** Nothing of a batch is in doubt any more. */
  async acknowledge(entry: number, outcome: string): Promise<void> {
    await this.journal.acknowledge(entry, outcome);
    await this.reachCheckpoint("acknowledged");
  }

  /** A feature that the service did not take. @throws output-failed */
  async recordRefusal({ action, key, feature, ...rest }: WriteAction, refusal: Refusal): Promise<void> {
    this.listRefusal({ action, key, id: "id" in rest ? rest.id : null, ...refusal });
    this.counts.failed += 1;
    await this.failures.add(feature, refusal);
  }

  /** A feature of which it stays unknown whether the map has it. @throws output-failed */
  async recordUnknown({ feature }: WriteAction, reason: string): Promise<void> {
    this.counts.unknown += 1;
    await this.failures.add(feature, { code: "outcome-unknown", reason, path: null });
  }

  /** A feature that could not be deleted. */
  recordDeleteRefusal(id: string, key: string | number | null, reason: string): void {
    this.listRefusal({ action: "delete", id, key, code: "refused", reason });
    this.counts.failed += 1;
  }

  private listRefusal({ action, key, id, code, reason }: RefusedFeature): void {
    if (this.refused.length < maxListedRefusals) this.refused.push({ action, key, id, code, reason });
  }
}

/**
 * Whether all of it was carried out: nothing failed, and there are as many different ids as features were sent. Their
 * order means nothing.
 */
export const isFullyApplied = (outcome: WriteOutcome, features: number): boolean =>
  outcome.kind === "answered" &&
  outcome.failed.length === 0 &&
  new Set(outcome.success.map(({ id }) => id)).size === features;

const mayHaveWritten = (outcome: WriteOutcome): boolean =>
  (outcome.kind === "answered" && outcome.success.length > 0) || (outcome.kind === "in-doubt" && !outcome.unsent);

/** Of a write, a client throws these only where the service surely carried nothing out (`MapClient`). */
const wasNotApplied = (error: unknown): boolean =>
  error instanceof GeoferryError && ["unavailable", "authentication", "interrupted"].includes(error.kind);
