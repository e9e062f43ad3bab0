import { LocalExecutor } from "../../../pipeline/execute/local-executor.js";
import type { PieceResult } from "../../../pipeline/execute/task.js";
import type { Registry } from "../../../plugin/registry.js";
import { hasResults, readTask, readWork, writeResults } from "../chunk-files.js";
import type { ChunkWork } from "../job-payload.js";

/** Reads and encodes one chunk of a large input, and writes the results to its folder. @throws what readers throw */
export async function runChunks(
  { folder, task, group }: ChunkWork,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  if (hasResults(folder, task, group)) return;
  const executor = new LocalExecutor(async (ref) => registry.get(ref.id), signal);
  const open = await executor.open(readTask(folder, task));
  try {
    const results: PieceResult[] = [];
    for (const work of readWork(folder, task, group)) results.push(await open.run(work));
    writeResults(folder, task, group, results);
  } finally {
    await open.close();
    await executor[Symbol.asyncDispose]();
  }
}
