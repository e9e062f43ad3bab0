import { createError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { JournalRequest } from "../journal/journal.js";
import type { ApplyRun } from "./apply-run.js";
import { type Batch, splitBatch } from "./batches.js";
import { coverAllFeatures, matchFailures } from "./match-failures.js";
import type { WriteOperation } from "./send-batches.js";
import { UncertainBatches } from "./uncertain-batches.js";

type RefusedOutcome = Extract<WriteOutcome, { readonly kind: "refused" }>;

/** A service that refuses so many single features, and took none yet, refuses for another reason than theirs. */
const maxInitialRefusals = 20;

/** 409: another request with the same Idempotency-Key is being carried out. */
const requestInFlightStatus = 409;

/** Sends batches in one way; halves what is too large, finds out what is refused, and parks what is in doubt. */
export class BatchSender {
  private parking: Promise<UncertainBatches> | null = null;
  private refused = 0;
  /** Features of batches that were wholly carried out. */
  carriedOut = 0;

  constructor(
    private readonly delivery: WriteOperation,
    private readonly run: ApplyRun,
  ) {}

  /** Batches that are to be settled; null where there are none. The caller disposes of them. */
  async parked(): Promise<UncertainBatches | null> {
    return this.parking;
  }

  /** @throws map-changed, write-refused, write-not-offered …; what the client throws */
  async send(batch: Batch): Promise<void> {
    const { delivery, run } = this;
    if (batch.inDoubt !== undefined) return this.park(batch, batch.inDoubt, null);
    const { outcome, entry, done } = await run.journaled(
      this.sentOf(batch),
      () => delivery.request(batch),
      delivery.record,
    );
    if (done) return this.done(batch.items.length);
    switch (outcome.kind) {
      case "answered":
        return this.park(batch, entry, outcome);
      case "in-doubt":
        return this.park(batch, entry, null, outcome.unsent);
      case "refused":
        return outcome.status === requestInFlightStatus ? this.park(batch, entry, null) : this.isolate(batch, outcome);
      case "too-large":
        return this.shrink(batch, outcome.reason);
      case "changed":
        throw createError("map-changed", { service: run.header.service, map: run.header.map });
      case "not-offered":
        throw delivery.notOffered(outcome.status);
    }
  }

  private async park(
    batch: Batch,
    entry: number,
    answer: Extract<WriteOutcome, { readonly kind: "answered" }> | null,
    unsent = false,
  ): Promise<void> {
    this.parking ??= UncertainBatches.create(this.run, this.delivery.kind);
    (await this.parking).add(batch, entry, answer, unsent);
  }

  private done(features: number): void {
    this.refused = Number.NEGATIVE_INFINITY;
    this.carriedOut += features;
    this.delivery.done(features);
  }

  private sentOf({ items, idempotencyKey }: Batch): JournalRequest {
    const { kind, identified } = this.delivery;
    const common = { kind, features: items.length, idempotencyKey };
    if (!identified) return { ...common, first: items[0]!.ordinal };
    if (kind === "update") return { ...common, ids: items.map(({ action }) => ("id" in action ? action.id : "")) };
    return { ...common, keys: items.map(({ key }) => key) };
  }

  /** Nothing of the batch was taken. What is not to blame is sent without what is. */
  private async isolate(batch: Batch, { status, reason, failed }: RefusedOutcome): Promise<void> {
    const { items } = batch;
    if (items.length === 1) {
      this.refused += 1;
      if (this.refused > maxInitialRefusals) {
        const { service, map } = this.run.header;
        throw createError("write-refused", { service, map, status, reason });
      }
      const [failure] = failed;
      const { message, path = null } = failure ?? { message: reason };
      return this.delivery.refuse(items[0]!, { code: "refused", reason: message, path });
    }
    if (!coverAllFeatures(failed, items.length)) return this.inHalves(batch);
    const reasons = matchFailures(
      failed,
      items.map((_, place) => ({ place, id: null })),
    );
    for (const [place, item] of items.entries()) {
      const { message, path } = reasons.get(place)!;
      await this.delivery.refuse(item, { code: "refused", reason: message, path });
    }
  }

  private async shrink(batch: Batch, reason: string): Promise<void> {
    const [only, second] = batch.items;
    if (only && !second) return this.delivery.refuse(only, { code: "too-large", reason, path: null });
    const bytes = batch.items.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    this.run.bytes = Math.min(this.run.bytes, Math.ceil(bytes / 2));
    return this.inHalves(batch);
  }

  private async inHalves(batch: Batch): Promise<void> {
    for (const half of splitBatch(batch, this.run)) await this.send(half);
  }
}
