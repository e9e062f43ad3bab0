import { closeSync, openSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { batchIndexOf } from "../../canonical/stored-batches.js";
import { readFully, writeFully } from "../../canonical/whole-reads.js";
import { spoolError } from "../../io/input/spool.js";
import { arraysOf, Batch, type BatchData } from "../../model/batch.js";

/** Bytes of memory that stores share; what exceeds them goes to files. */
export interface MemoryBudget {
  left: number;
}

/** A batch in memory, or its place in the file. */
interface KeptBatch {
  /** Number of rows in earlier batches. */
  readonly firstRow: number;
  readonly data: BatchData | null;
  readonly start: number;
  readonly length: number;
}

/** Batches in their order: the first ones in memory, the others in a temporary file, which exists only if it is needed. */
export class BatchStore implements Disposable {
  rows = 0;
  private readonly kept: KeptBatch[] = [];
  private handle: number | null = null;
  private fileBytes = 0;
  private usedBytes = 0;
  private last: { readonly index: number; readonly batch: Batch } | null = null;

  /** @param path of the file */
  constructor(
    private readonly path: string,
    private readonly budget: MemoryBudget,
  ) {}

  /** Keeps a batch, whose buffers must not be changed or released while it is kept in memory. @throws output-failed */
  add(data: BatchData): void {
    const firstRow = this.rows;
    this.rows += data.length;
    const bytes = arraysOf(data).reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes <= this.budget.left) {
      this.budget.left -= bytes;
      this.usedBytes += bytes;
      this.kept.push({ firstRow, data, start: 0, length: 0 });
      return;
    }
    try {
      const serialized = serialize(data);
      this.handle ??= openSync(this.path, "wx+", 0o600);
      writeFully(this.handle, serialized);
      this.kept.push({ firstRow, data: null, start: this.fileBytes, length: serialized.length });
      this.fileBytes += serialized.length;
    } catch (error) {
      throw spoolError(this.path, error);
    }
  }

  /** The batch with a row, which is row `row` of it. */
  rowAt(row: number): { readonly batch: Batch; readonly row: number } {
    const index = batchIndexOf(this.kept, row);
    const { firstRow, data, start, length } = this.kept[index]!;
    if (this.last?.index !== index)
      this.last = {
        index,
        batch: new Batch(data ?? (deserialize(readFully(this.handle!, start, length)) as BatchData)),
      };
    return { batch: this.last.batch, row: row - firstRow };
  }

  *batches(): Generator<Batch> {
    for (const { firstRow } of this.kept) yield this.rowAt(firstRow).batch;
  }

  [Symbol.dispose](): void {
    this.budget.left += this.usedBytes;
    this.usedBytes = 0;
    if (this.handle !== null) closeSync(this.handle);
    this.handle = null;
  }
}
