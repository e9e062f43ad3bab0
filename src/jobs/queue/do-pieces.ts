import { LocalExecutor } from "../../pipeline/local-executor.js";
import type { WorkResult } from "../../pipeline/task.js";
import type { Registry } from "../../plugin/registry.js";
import type { PiecesWork } from "./handed.js";
import { hasResults, readTask, readWork, writeResults } from "./pieces.js";

/** Splits of a large input, read and encoded; what comes of them is written beside the output. @throws what readers throw */
export async function doPieces(
  { folder, task, group }: PiecesWork,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  if (hasResults(folder, task, group)) return;
  const executor = new LocalExecutor(async (ref) => registry.get(ref.id), signal);
  const open = await executor.open(readTask(folder, task));
  try {
    const results: WorkResult[] = [];
    for (const work of readWork(folder, task, group)) results.push(await open.run(work));
    writeResults(folder, task, group, results);
  } finally {
    await open.close();
    await executor[Symbol.asyncDispose]();
  }
}
