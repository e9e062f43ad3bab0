/** Has the pieces of a large input worked on by other workers: what they have done is taken up where it lies. */
import { mkdirSync } from "node:fs";
import type { Executor, OpenTask } from "../../../pipeline/execute/executor.js";
import { LocalExecutor } from "../../../pipeline/execute/local-executor.js";
import type { Piece, PieceResult, TaskSpec } from "../../../pipeline/execute/task.js";
import type { Registry } from "../../../plugin/registry.js";
import { hasResults, readResults, sizedChunkFolder, writeTask, writeWork } from "../chunk-files.js";
import type { ChunkWork } from "../job-payload.js";

/** Bytes of input of one job at most: as much as a worker does in about a second. */
export const maxChunkBytes = 16 * 1024 * 1024;

/** Thrown where pieces must be done before the conversion can go on: it begins again when they are. */
export class ChunksPending extends Error {
  constructor(readonly chunks: readonly ChunkWork[]) {
    super("pieces are to be done first");
  }
}

/**
 * A conversion that is run again and again: each time it finds more of its pieces done, and the last time all of them.
 * That holds since a layer has the same pieces at every reading.
 */
export class ChunkedExecutor implements Executor {
  readonly parallelism = 1;
  private readonly local: LocalExecutor;
  private tasks = 0;

  constructor(
    private readonly folder: string,
    /** Of input, of one job. */
    private readonly chunkBytes: number,
    registry: Registry,
    signal: AbortSignal,
  ) {
    this.local = new LocalExecutor(async (ref) => registry.get(ref.id), signal);
  }

  open(spec: TaskSpec): Promise<OpenTask> {
    return this.local.open(spec);
  }

  releaseBuffers(result: PieceResult): void {
    this.local.releaseBuffers(result);
  }

  /** @throws ChunksPending */
  async *runDistributed(spec: TaskSpec, pieces: AsyncIterable<Piece>): AsyncGenerator<PieceResult> {
    const { chunkBytes } = this;
    const folder = sizedChunkFolder(this.folder, chunkBytes);
    const task = this.tasks++;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const wanted: ChunkWork[] = [];
    let groups = 0;
    for await (const works of groupBySize(pieces, chunkBytes)) {
      const group = groups++;
      if (hasResults(folder, task, group)) continue;
      if (wanted.length === 0) writeTask(folder, task, spec);
      writeWork(folder, task, group, works);
      wanted.push({ kind: "pieces", folder, task, group });
    }
    if (wanted.length > 0) throw new ChunksPending(wanted);
    for (let group = 0; group < groups; group++) yield* readResults(folder, task, group);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.local[Symbol.asyncDispose]();
  }
}

async function* groupBySize(pieces: AsyncIterable<Piece>, most: number): AsyncGenerator<readonly Piece[]> {
  let group: Piece[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    group.push(piece);
    bytes += piece.split?.bytes ?? 0;
    if (bytes < most) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}
