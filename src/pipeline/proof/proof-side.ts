import { join } from "node:path";
import { DigestFile } from "../../canonical/digest-file.js";
import { spoolError } from "../../io/input/spool.js";
import { Batch } from "../../model/batch.js";
import { type Loss, Tally } from "../../model/report.js";
import { BatchStore, type MemoryBudget } from "./batch-store.js";
import type { FitFault } from "./fit-faults.js";
import { LayerHash } from "./layer-hash.js";
import type { ProofChunk } from "./proof-chunk.js";
import type { ProofRowEncoder } from "./proof-row.js";
import type { ProofRules } from "./proof-rules.js";

/** A feature of a side. */
export interface ProofRow {
  readonly batch: Batch;
  readonly row: number;
}

/** A layer as it was written, or as it was read back: digests of the rows, unless the order is compared, and the batches. */
export class ProofSide implements Disposable {
  readonly digests: DigestFile;
  private readonly path: string;
  private readonly store: BatchStore;
  private readonly tally = new Tally();
  private readonly hash: LayerHash | null;
  /** What the fit changed without a report; rows of the layer. */
  readonly fitFaults: FitFault[] = [];
  /** Names of the fields of all batches. */
  readonly fields = new Set<string>();
  rows = 0;

  /**
   * @param folder an empty folder
   * @param budget memory for the batches
   * @throws output-failed
   */
  constructor(folder: string, budget: MemoryBudget, { isOrdered, absentIsNull }: ProofRules) {
    this.path = join(folder, "digests");
    this.store = new BatchStore(join(folder, "batches"), budget);
    this.hash = isOrdered ? new LayerHash(absentIsNull) : null;
    try {
      this.digests = new DigestFile(this.path);
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  /** @throws output-failed */
  add({ rows, fields, digests, batch, losses, fitFaults }: ProofChunk): void {
    for (const fault of fitFaults) this.fitFaults.push({ ...fault, row: fault.row + this.rows });
    this.tally.merge(losses);
    for (const name of fields) this.fields.add(name);
    if (rows === 0) return;
    this.rows += rows;
    if (digests) this.addDigests(digests);
    if (!batch) return;
    this.store.add(batch);
    this.hash?.add(new Batch(batch));
  }

  private addDigests(digests: Uint8Array): void {
    try {
      this.digests.add(digests);
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  /** Computes the digests of batches that were kept without. @throws output-failed */
  digestBatches(encoder: ProofRowEncoder): void {
    if (this.digests.rows > 0) return;
    for (const batch of this.store.batches()) this.addDigests(encoder.digests(batch));
  }

  addLosses(losses: readonly Loss[]): void {
    this.tally.merge(losses);
  }

  get losses(): readonly Loss[] {
    return this.tally.list();
  }

  /** The hash of batches that are compared in their order; only once. */
  hashInOrder(): string {
    return this.hash!.digest();
  }

  rowAt(row: number): ProofRow {
    return this.store.rowAt(row);
  }

  [Symbol.dispose](): void {
    this.store[Symbol.dispose]();
    this.digests[Symbol.dispose]();
  }
}
