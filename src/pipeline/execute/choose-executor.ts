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
 * Whether one thread is as soon done with an input as so many are. Each compiles for itself what it runs, half a second
 * of a processor: two have it back at some 192 MiB (docs/performance/2026-11-22-two-threads.md), or 512 where
 * no text is written; more of them, with as many processors, sooner.
 */
export function isSingleThreadFaster(bytes: number, count: number, writesText = true): boolean {
  return bytes < (count > 2 ? 16 : writesText ? 192 : 512) * bytesPerMiB;
}

/** Text is what can be written to a stream: the other formats have numbers as programs keep them. */
const writesText = (writer: ChosenWriter | null): boolean => writer?.capabilities.supportsStreaming ?? true;

/** Threads asked for, or number of cores. */
export function threadCount(request: Pick<ConvertRequest, "workers">): number {
  return request.workers ?? availableParallelism();
}

/** This thread for one worker, and where features must be counted in order; else a pool. */
export async function openExecutor(request: ConvertRequest, host: Host, small = false): Promise<Executor> {
  const wanted = threadCount(request);
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
  writer: ChosenWriter | null,
): Promise<Executor> {
  const bytes = layers.reduce((sum, open) => sum + open.layer.bytes, 0);
  const small = request.workers === undefined && isSingleThreadFaster(bytes, threadCount(request), writesText(writer));
  return openExecutor(request, host, small);
}

/** Bytes of an input that is a file; null where it comes by an address or is a folder: they are not known yet. */
export function fileSize(input: string): number | null {
  try {
    const stat = statSync(input, { throwIfNoEntry: false });
    return stat?.isFile() ? stat.size : null;
  } catch {
    // Whoever opens it tells what is wrong with it.
    return null;
  }
}

/** The readers that the names of the inputs stand for. */
function readersByName({ inputs, from }: ConvertRequest, { registry }: Host): FormatRef[] {
  const found = inputs.map((input) => (from === undefined ? registry.findByExtension(input)[0] : registry.get(from)));
  const ids = new Set(found.flatMap((format) => (format?.reader ? [format.id] : [])));
  return [...ids].map((id) => ({ id, module: registry.getModule(id), options: {} }));
}

/**
 * A pool whose threads begin while the inputs are looked through, where it is clear before that threads will do the
 * work; null where that is to be seen.
 * @param writer loaded by the threads, as are the readers that the inputs' names stand for; null where nothing is written
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
