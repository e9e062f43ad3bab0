import type { Layer } from "../../model/layer.js";
import type { Piece, PieceResult, ScanSpec, TaskSpec } from "./task.js";

/** Where tasks run: on this thread, or on a pool of workers. */
export interface Executor extends AsyncDisposable {
  /** Pieces of work that it makes sense to have under way at once. */
  readonly parallelism: number;
  open(spec: TaskSpec): Promise<OpenTask>;
  /**
   * Has the pieces of a layer worked on elsewhere, and gives the results in their order. Asked for layers with splits
   * alone, whose source others see.
   */
  runDistributed?(spec: TaskSpec, pieces: AsyncIterable<Piece>): AsyncIterable<PieceResult>;
  /** Has the reader of a source that is being opened look at pieces of it elsewhere; gives what it found in their order. */
  scanParts?(spec: ScanSpec, pieces: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** Frees the memory of a result that has been written. It must not be touched after. */
  releaseBuffers(result: PieceResult): void;
}

export interface OpenTask {
  run(work: Piece): Promise<PieceResult>;
  close(): Promise<void>;
}

/**
 * How many pieces of a layer are under way at once: one more than there are threads, so that none waits for work and few
 * results wait for their turn; and one more, whose bytes are read meanwhile, where the reader can.
 */
export const maxConcurrentPieces = ({ parallelism }: Executor, { prefetch }: Pick<Layer, "prefetch">): number =>
  parallelism + (prefetch ? 2 : 1);

/** The items up to a failure to find more, which is told. */
async function* untilFailure<T>(items: AsyncIterable<T>, failed: (error: unknown) => void): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    failed(error);
  }
}

/**
 * Runs `run` on every item, up to `width` at once, and gives the results in the order of the items. No more than
 * `width` results wait: that bounds the memory. What fails first in that order is thrown, whatever fails sooner.
 */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T>,
  width: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const under: Promise<R>[] = [];
  const failures: unknown[] = [];
  try {
    for await (const item of untilFailure(items, (error) => failures.push(error))) {
      const result = run(item);
      // It is awaited in its turn; until then its failure must not count as unhandled.
      result.catch(() => undefined);
      under.push(result);
      if (under.length >= width) yield await under.shift()!;
    }
    while (under.length > 0) yield await under.shift()!;
    if (failures.length > 0) throw failures[0];
  } finally {
    await Promise.allSettled(under);
  }
}
