/** Lets other workers process the pieces of a large input, and reads their results from shared storage. */
import { makeFolders } from "../../../make-folders.js";
import type { Executor, TaskHandle } from "../../../pipeline/execute/executor.js";
import { LocalExecutor } from "../../../pipeline/execute/local-executor.js";
import type { Piece, PieceResult, TaskSpec } from "../../../pipeline/execute/task.js";
import type { Registry } from "../../../plugin/registry.js";
import { hasResults, readResults, sizedChunkFolder, writeTask, writeWork } from "../chunk-files.js";
import type { ChunkWork } from "../job-payload.js";

/** Maximum input bytes of a chunk: about a second of work. */
export const maxChunkBytes = 16 * 1024 * 1024;

/** Thrown when chunks are unfinished; the conversion runs again when they are done. */
export class ChunksPending extends Error {
  constructor(readonly chunks: readonly ChunkWork[]) {
    super("chunks are not finished");
  }
}

/**
 * The conversion runs repeatedly: each run finds results of more chunks, and the last run finds all. This requires that
 * every read of a layer yields the same pieces.
 */
export class ChunkedExecutor implements Executor {
  readonly parallelism = 1;
  private readonly local: LocalExecutor;
  private tasks = 0;

  constructor(
    private readonly folder: string,
    /** Input bytes of a chunk. */
    private readonly chunkBytes: number,
    registry: Registry,
    signal: AbortSignal,
  ) {
    this.local = new LocalExecutor(async (ref) => registry.get(ref.id), signal);
  }

  open(spec: TaskSpec): Promise<TaskHandle> {
    return this.local.open(spec);
  }

  closeSource(): Promise<void> {
    return this.local.closeSource();
  }

  releaseBuffers(result: PieceResult): void {
    this.local.releaseBuffers(result);
  }

  /** @throws ChunksPending */
  async *runDistributed(spec: TaskSpec, pieces: AsyncIterable<Piece>): AsyncGenerator<PieceResult> {
    const { chunkBytes } = this;
    const folder = sizedChunkFolder(this.folder, chunkBytes);
    const task = this.tasks++;
    makeFolders(folder, 0o700);
    const pending: ChunkWork[] = [];
    let groups = 0;
    for await (const work of groupBySize(pieces, chunkBytes)) {
      const group = groups++;
      if (hasResults(folder, task, group)) continue;
      if (pending.length === 0) writeTask(folder, task, spec);
      writeWork(folder, task, group, work);
      pending.push({ kind: "chunk", folder, task, group });
    }
    if (pending.length > 0) throw new ChunksPending(pending);
    for (let group = 0; group < groups; group++) yield* readResults(folder, task, group);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.local[Symbol.asyncDispose]();
  }
}

async function* groupBySize(pieces: AsyncIterable<Piece>, minBytes: number): AsyncGenerator<readonly Piece[]> {
  let group: Piece[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    group.push(piece);
    bytes += piece.split?.bytes ?? 0;
    if (bytes < minBytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
