/** Has the pieces of a large input worked on by other workers: what they have done is taken up where it lies. */
import { mkdirSync } from "node:fs";
import type { Executor, OpenTask } from "../../pipeline/executor.js";
import { LocalExecutor } from "../../pipeline/local-executor.js";
import type { TaskSpec, Work, WorkResult } from "../../pipeline/task.js";
import type { Registry } from "../../plugin/registry.js";
import type { PiecesWork } from "./handed.js";
import { cutFolder, hasResults, readResults, writeTask, writeWork } from "./pieces.js";

/** Bytes of input of one job at most: as much as a worker does in about a second. */
export const mostBytes = 16 * 1024 * 1024;

/** Thrown where pieces must be done before the conversion can go on: it begins again when they are. */
export class PiecesWanted extends Error {
  constructor(readonly pieces: readonly PiecesWork[]) {
    super("pieces are to be done first");
  }
}

/**
 * A conversion that is run again and again: each time it finds more of its pieces done, and the last time all of them.
 * That holds since a layer has the same pieces at every reading.
 */
export class SpreadExecutor implements Executor {
  readonly width = 1;
  private readonly local: LocalExecutor;
  private tasks = 0;

  constructor(
    private readonly folder: string,
    /** Of input, of one job. */
    private readonly bytes: number,
    registry: Registry,
    signal: AbortSignal,
  ) {
    this.local = new LocalExecutor(async (ref) => registry.get(ref.id), signal);
  }

  open(spec: TaskSpec): Promise<OpenTask> {
    return this.local.open(spec);
  }

  release(result: WorkResult): void {
    this.local.release(result);
  }

  /** @throws PiecesWanted */
  async *spread(spec: TaskSpec, pieces: AsyncIterable<Work>): AsyncGenerator<WorkResult> {
    const { bytes } = this;
    const folder = cutFolder(this.folder, bytes);
    const task = this.tasks++;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const wanted: PiecesWork[] = [];
    let groups = 0;
    for await (const works of grouped(pieces, bytes)) {
      const group = groups++;
      if (hasResults(folder, task, group)) continue;
      if (wanted.length === 0) writeTask(folder, task, spec);
      writeWork(folder, task, group, works);
      wanted.push({ takes: "pieces", folder, task, group });
    }
    if (wanted.length > 0) throw new PiecesWanted(wanted);
    for (let group = 0; group < groups; group++) yield* readResults(folder, task, group);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.local[Symbol.asyncDispose]();
  }
}

async function* grouped(pieces: AsyncIterable<Work>, most: number): AsyncGenerator<readonly Work[]> {
  let group: Work[] = [];
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
