import type { Layer } from "../../model/layer.js";
import type { Piece, PieceResult, ScanSpec, TaskSpec } from "./task.js";

/** Runs tasks on the calling thread or in a pool of workers. */
export interface Executor extends AsyncDisposable {
  /** Number of pieces that can be processed at the same time. */
  readonly parallelism: number;
  open(spec: TaskSpec): Promise<TaskHandle>;
  /**
   * Processes the pieces of a layer on other machines and yields the results in order. Only for layers with splits whose
   * source other machines can read.
   */
  runDistributed?(spec: TaskSpec, pieces: AsyncIterable<Piece>): AsyncIterable<PieceResult>;
  /** Scans parts of a source with its reader on other threads while it is being opened; yields the results in order. */
  scanParts?(spec: ScanSpec, parts: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** Closes a source that is kept open for the next layer. */
  closeSource?(): Promise<void>;
  /** Frees the buffers of a written result, which must not be used afterwards. */
  releaseBuffers(result: PieceResult): void;
}

export interface TaskHandle {
  run(piece: Piece): Promise<PieceResult>;
  close(): Promise<void>;
}

/**
 * Number of pieces of a layer in progress at once: one more than there are threads, so that no thread idles and few
 * results wait for their turn, and one more if the reader can prefetch its bytes.
 */
export const maxConcurrentPieces = ({ parallelism }: Executor, { prefetch }: Pick<Layer, "prefetch">): number =>
  parallelism + (prefetch ? 2 : 1);

/** Yields the items until the iterable fails; then calls `onFailure` and ends. */
async function* untilFailure<T>(items: AsyncIterable<T>, onFailure: (error: unknown) => void): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    onFailure(error);
  }
}

/**
 * Runs `run` on every item, up to `width` at once, and yields the results in the order of the items. At most `width`
 * results wait, which bounds the memory. Throws the first failure in that order, even if a later item fails sooner.
 */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T>,
  width: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const pending: Promise<R>[] = [];
  const failures: unknown[] = [];
  try {
    for await (const item of untilFailure(items, (error) => failures.push(error))) {
      const result = run(item);
      // Awaited later; until then a failure must not count as an unhandled rejection.
      result.catch(() => undefined);
      pending.push(result);
      if (pending.length >= width) yield await pending.shift()!;
    }
    while (pending.length > 0) yield await pending.shift()!;
    if (failures.length > 0) throw failures[0];
  } finally {
    await Promise.allSettled(pending);
  }
}
