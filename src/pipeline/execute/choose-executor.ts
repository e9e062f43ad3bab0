import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { OpenLayer } from "../input/open-inputs.js";
import type { ChosenWriter } from "../plan/plan-outputs.js";
import type { ConvertRequest, Host } from "../request.js";
import type { Executor } from "./executor.js";
import { LocalExecutor } from "./local-executor.js";
import type { FormatRef } from "./task.js";

const bytesPerMiB = 1024 * 1024;

/**
 * Whether one thread finishes an input as soon as `count` threads do. Each thread compiles the code that it runs, which
 * takes half a second of a core. Two threads regain that at about 192 MiB of input
 * (docs/performance/2026-11-22-two-threads.md), or at 512 MiB if the output is not text; more threads regain it sooner.
 */
export function isSingleThreadFaster(bytes: number, count: number, writesText = true): boolean {
  return bytes < (count > 2 ? 16 : writesText ? 192 : 512) * bytesPerMiB;
}

/** Formats that can be written to a stream are text formats; the others store binary numbers. */
const writesText = (writer: ChosenWriter | null): boolean => writer?.capabilities.supportsStreaming ?? true;

/** Number of requested threads; by default the number of cores. */
export function threadCount(request: Pick<ConvertRequest, "workers">): number {
  return request.workers ?? availableParallelism();
}

/** Uses the calling thread for a single worker, for small inputs, and if features must be counted in order; else a pool. */
export async function openExecutor(request: ConvertRequest, host: Host, isSmall = false): Promise<Executor> {
  const wanted = threadCount(request);
  if (wanted < 2 || isSmall || request.limit !== undefined)
    return new LocalExecutor(async (ref) => host.registry.get(ref.id), host.signal);
  const { PoolExecutor } = await import("./pool-executor.js");
  return new PoolExecutor(wanted);
}

/** Chooses the executor by the size of the layers. */
export async function chooseExecutor(
  request: ConvertRequest,
  host: Host,
  layers: readonly OpenLayer[],
  writer: ChosenWriter | null,
): Promise<Executor> {
  const bytes = layers.reduce((sum, open) => sum + open.layer.bytes, 0);
  const isSmall =
    request.workers === undefined && isSingleThreadFaster(bytes, threadCount(request), writesText(writer));
  return openExecutor(request, host, isSmall);
}

/** Size of an input file in bytes; null for addresses and folders, whose size is not known yet. */
export function fileSize(input: string): number | null {
  try {
    const stat = statSync(input, { throwIfNoEntry: false });
    return stat?.isFile() ? stat.size : null;
  } catch {
    // Opening the input reports the error.
    return null;
  }
}

/** The readers for the extensions of the inputs. */
function readersByName({ inputs, from }: ConvertRequest, { registry }: Host): FormatRef[] {
  const found = inputs.map((input) => (from === undefined ? registry.findByExtension(input)[0] : registry.get(from)));
  const ids = new Set(found.flatMap((format) => (format?.reader ? [format.id] : [])));
  return [...ids].map((id) => ({ id, module: registry.getModule(id), options: {} }));
}

/**
 * Starts a pool before the inputs are opened, if their size already shows that it will be used; null if not.
 * @param writer preloaded by the threads together with the readers for the inputs' extensions; null if nothing is written
 */
export async function startWorkersEarly(
  request: ConvertRequest,
  host: Host,
  writer: ChosenWriter | null,
): Promise<Executor | null> {
  const wanted = threadCount(request);
  if (wanted < 2 || request.limit !== undefined) return null;
  const bytes = () => request.inputs.reduce((sum, input) => sum + (fileSize(input) ?? 0), 0);
  if (request.workers === undefined && isSingleThreadFaster(bytes(), wanted, writesText(writer))) return null;
  const { PoolExecutor } = await import("./pool-executor.js");
  const pool = new PoolExecutor(wanted);
  pool.start({ readers: readersByName(request, host), writers: writer ? [writer.formatRef] : [] });
  return pool;
}
