import { createError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { WireFailure } from "../../remote/wire.js";
import type { JournalRequest } from "../journal/journal.js";
import type { ApplyRun } from "./apply-run.js";
import { splitBatch, splitByFailures, type WriteBatch } from "./batches.js";
import { combinedReason, coverAllFeatures, matchFailures, namesFailuresOnly } from "./match-failures.js";
import type { WriteOperation } from "./send-batches.js";
import { UncertainBatches } from "./uncertain-batches.js";

/** Why a service applied nothing of a request. */
interface Rejection {
  /** Null if the response names features. */
  readonly status: number | null;
  readonly reason: string;
  readonly failed: readonly WireFailure[];
}

/**
 * Times that the features which a response names are separated from the others; then the batch is halved, since the response
 * may name only the first of many.
 */
const maxSeparations = 10;

/** If a service accepts no feature and rejects this many single ones, it rejects them for a common reason. */
const maxInitialRefusals = 20;

/** 409: another request with the same Idempotency-Key is in progress. */
const requestInFlightStatus = 409;

/**
 * Sends batches of one operation; splits batches that are too large, isolates rejected features, and collects uncertain
 * batches.
 */
export class BatchSender {
  private uncertain: Promise<UncertainBatches> | null = null;
  private initialRefusals = 0;
  /** Number of features in fully applied batches. */
  appliedFeatures = 0;

  constructor(
    private readonly operation: WriteOperation,
    private readonly run: ApplyRun,
  ) {}

  /** Batches that must be settled; null if there are none. The caller disposes of them. */
  async getUncertain(): Promise<UncertainBatches | null> {
    return this.uncertain;
  }

  /**
   * @param separations times that failures were separated from the batch
   * @throws map-changed, write-refused, errors of `createNotOfferedError`; errors of the client
   */
  async send(batch: WriteBatch, separations = 0): Promise<void> {
    const { operation, run } = this;
    if (batch.uncertainEntry !== undefined) return this.addUncertain(batch, batch.uncertainEntry, null);
    const { outcome, entry, isFullyApplied } = await run.sendJournaled(
      this.createJournalRequest(batch),
      () => operation.send(batch),
      operation.recordIds,
    );
    if (isFullyApplied) return this.recordApplied(batch.items.length);
    switch (outcome.kind) {
      case "answered":
        if (!operation.isIdentifiable || !run.appliesWholeRequests || !namesFailuresOnly(outcome))
          return this.addUncertain(batch, entry, outcome);
        await run.acknowledge(entry, "refused");
        return this.isolateRefused(
          batch,
          { status: null, reason: combinedReason(outcome.failed), failed: outcome.failed },
          separations,
        );
      case "in-doubt":
        return this.addUncertain(batch, entry, null, outcome.unsent);
      case "refused":
        return outcome.status === requestInFlightStatus
          ? this.addUncertain(batch, entry, null)
          : this.isolateRefused(batch, outcome, separations);
      case "too-large":
        return this.splitTooLarge(batch, outcome.reason);
      case "changed":
        throw createError("map-changed", { service: run.header.service, map: run.header.map });
      case "not-offered":
        throw operation.createNotOfferedError(outcome.status);
    }
  }

  private async addUncertain(
    batch: WriteBatch,
    entry: number,
    answer: Extract<WriteOutcome, { readonly kind: "answered" }> | null,
    unsent = false,
  ): Promise<void> {
    this.uncertain ??= UncertainBatches.create(this.run, this.operation.kind);
    (await this.uncertain).add(batch, entry, answer, unsent);
  }

  private recordApplied(features: number): void {
    this.initialRefusals = Number.NEGATIVE_INFINITY;
    this.appliedFeatures += features;
    this.operation.onApplied(features);
  }

  private createJournalRequest({ items, idempotencyKey }: WriteBatch): JournalRequest {
    const { kind, isIdentifiable } = this.operation;
    const common = { kind, features: items.length, idempotencyKey };
    if (!isIdentifiable) {
      const names = items.flatMap(({ action }) => action.agreement?.name ?? []);
      return { ...common, first: items[0]!.ordinal, ...(names.length > 0 && { names }) };
    }
    if (kind === "update") return { ...common, ids: items.map(({ action }) => ("id" in action ? action.id : "")) };
    return { ...common, keys: items.map(({ key }) => key) };
  }

  /** The service rejected the whole batch. Separates the rejected features from the others, which are sent again. */
  private async isolateRefused(
    batch: WriteBatch,
    { status, reason, failed }: Rejection,
    separations: number,
  ): Promise<void> {
    const { items } = batch;
    if (items.length === 1) {
      this.initialRefusals += 1;
      if (this.initialRefusals > maxInitialRefusals) {
        const { service, map } = this.run.header;
        throw createError("write-refused", { service, map, status, reason });
      }
      const [failure] = failed;
      const { message, path = null } = failure ?? { message: reason };
      return this.operation.onRefused(items[0]!, { code: "refused", reason: message, path });
    }
    if (!coverAllFeatures(failed, items.length)) {
      const parts = separations < maxSeparations ? splitByFailures(batch, failed, this.run) : null;
      if (!parts) return this.sendHalves(batch);
      for (const part of parts) await this.send(part, separations + 1);
      return;
    }
    const reasons = matchFailures(
      failed,
      items.map((_, index) => ({ index, id: null })),
    );
    for (const [index, item] of items.entries()) {
      const { message, path } = reasons.get(index)!;
      await this.operation.onRefused(item, { code: "refused", reason: message, path });
    }
  }

  private async splitTooLarge(batch: WriteBatch, reason: string): Promise<void> {
    const [only, second] = batch.items;
    if (only && !second) return this.operation.onRefused(only, { code: "too-large", reason, path: null });
    const bytes = batch.items.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    this.run.maxBatchBytes = Math.min(this.run.maxBatchBytes, Math.ceil(bytes / 2));
    return this.sendHalves(batch);
  }

  private async sendHalves(batch: WriteBatch): Promise<void> {
    for (const half of splitBatch(batch, this.run)) await this.send(half);
  }
}
