import { availableParallelism } from "node:os";
import type { Executor } from "./executor.js";
import type { OpenLayer } from "./inputs.js";
import { LocalExecutor } from "./local-executor.js";
import type { ConvertRequest, Host } from "./request.js";

/** Below this many bytes of input, starting a worker takes longer than doing the work. */
const smallInput = 8 * 1024 * 1024;

/** Threads asked for, or as many as there are cores. */
export function threads(request: Pick<ConvertRequest, "workers">): number {
  return request.workers ?? availableParallelism();
}

/** This thread for one worker, and where features must be counted in order; else a pool. */
export async function openExecutor(request: ConvertRequest, host: Host, small = false): Promise<Executor> {
  const wanted = threads(request);
  if (wanted < 2 || small || request.limit !== undefined)
    return new LocalExecutor(async (ref) => host.registry.get(ref.id), host.signal);
  const { PoolExecutor } = await import("./pool-executor.js");
  return new PoolExecutor(wanted);
}

/** Where the work on these layers is done: for small inputs on this thread too. */
export async function chooseExecutor(
  request: ConvertRequest,
  host: Host,
  layers: readonly OpenLayer[],
): Promise<Executor> {
  const bytes = layers.reduce((sum, open) => sum + open.layer.bytes, 0);
  return openExecutor(request, host, request.workers === undefined && bytes < smallInput);
}
