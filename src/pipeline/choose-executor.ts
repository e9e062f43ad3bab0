import { availableParallelism } from "node:os";
import { type Executor, LocalExecutor, PoolExecutor } from "./executor.js";
import type { OpenLayer } from "./inputs.js";
import type { ConvertRequest, Host } from "./request.js";

/** Below this many bytes of input, starting a worker takes longer than doing the work. */
const smallInput = 8 * 1024 * 1024;

/** Threads asked for, or as many as there are cores. */
export function threads(request: Pick<ConvertRequest, "workers">): number {
  return request.workers ?? availableParallelism();
}

export function localExecutor(host: Host): Executor {
  return new LocalExecutor(async (ref) => host.registry.get(ref.id), host.signal);
}

/** This thread for one worker, for small inputs, and where features must be counted in order. */
export async function chooseExecutor(
  request: ConvertRequest,
  host: Host,
  layers: readonly OpenLayer[],
): Promise<Executor> {
  const bytes = layers.reduce((sum, open) => sum + open.layer.bytes, 0);
  const wanted = threads(request);
  const small = request.workers === undefined && bytes < smallInput;
  return wanted < 2 || small || request.limit !== undefined ? localExecutor(host) : new PoolExecutor(wanted);
}
