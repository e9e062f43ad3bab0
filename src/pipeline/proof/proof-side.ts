import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { deserialize } from "node:v8";
import { DigestFile } from "../../canonical/digest-file.js";
import { batchIndexOf, type StoredBatch } from "../../canonical/stored-batches.js";
import { readFully, writeFully } from "../../canonical/whole-reads.js";
import { spoolError } from "../../io/input/spool.js";
import { Batch, type BatchData } from "../../model/batch.js";
import { type Loss, Tally } from "../../model/report.js";
import type { FitFault } from "./fit-faults.js";
import type { ProofChunk } from "./proof-chunk.js";

/** A feature of a side. */
export interface ProofRow {
  readonly batch: Batch;
  readonly row: number;
}

/** A layer as it was written, or as it was read back, in temporary files: a digest of each row, and the batches. */
export class ProofSide implements Disposable {
  readonly digests: DigestFile;
  private readonly handle: number;
  private readonly path: string;
  private readonly batches: StoredBatch[] = [];
  private readonly tally = new Tally();
  /** What the fit changed without a report; rows of the layer. */
  readonly fitFaults: FitFault[] = [];
  /** Names of the fields of all batches. */
  readonly fields = new Set<string>();
  private size = 0;
  private last: { readonly index: number; readonly batch: Batch } | null = null;

  /** @param folder an empty folder. @throws output-failed */
  constructor(folder: string) {
    this.path = join(folder, "batches");
    try {
      this.handle = openSync(this.path, "wx+", 0o600);
      this.digests = new DigestFile(join(folder, "digests"));
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  get rows(): number {
    return this.digests.rows;
  }

  /** @throws output-failed */
  add({ rows, fields, digests, batch, losses, fitFaults }: ProofChunk): void {
    for (const fault of fitFaults) this.fitFaults.push({ ...fault, row: fault.row + this.rows });
    this.tally.merge(losses);
    for (const name of fields) this.fields.add(name);
    if (rows === 0) return;
    try {
      if (batch) {
        this.batches.push({ firstRow: this.rows, start: this.size, length: batch.length });
        writeFully(this.handle, batch);
        this.size += batch.length;
      }
      this.digests.add(digests);
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  addLosses(losses: readonly Loss[]): void {
    this.tally.merge(losses);
  }

  get losses(): readonly Loss[] {
    return this.tally.list();
  }

  rowAt(row: number): ProofRow {
    const index = batchIndexOf(this.batches, row);
    const { firstRow, start, length } = this.batches[index]!;
    if (this.last?.index !== index)
      this.last = { index, batch: new Batch(deserialize(readFully(this.handle, start, length)) as BatchData) };
    return { batch: this.last.batch, row: row - firstRow };
  }

  [Symbol.dispose](): void {
    closeSync(this.handle);
    this.digests[Symbol.dispose]();
  }
}
