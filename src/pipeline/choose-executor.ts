import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Executor } from "./executor.js";
import type { OpenLayer } from "./inputs.js";
import { LocalExecutor } from "./local-executor.js";
import type { ChosenWriter } from "./outputs.js";
import type { ConvertRequest, Host } from "./request.js";
import type { FormatRef } from "./task.js";

const mebibyte = 1024 * 1024;

/**
 * Whether one thread is as soon done with an input as so many are. Each compiles for itself what it runs, half a second
 * of a processor: two have it back at some 192 MiB (docs/decisions/2026-11-22-two-threads.md), or 512 where
 * no text is written; more of them, with as many processors, sooner.
 */
export function isSmall(bytes: number, count: number, writesText = true): boolean {
  return bytes < (count > 2 ? 16 : writesText ? 192 : 512) * mebibyte;
}

/** Text is what can be written to a stream: the other formats have numbers as programs keep them. */
const writesText = (writer: ChosenWriter | null): boolean => writer?.accepts.stream ?? true;

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
  writer: ChosenWriter | null,
): Promise<Executor> {
  const bytes = layers.reduce((sum, open) => sum + open.layer.bytes, 0);
  const small = request.workers === undefined && isSmall(bytes, threads(request), writesText(writer));
  return openExecutor(request, host, small);
}

/** Bytes of an input that is a file; null where it comes by an address or is a folder: they are not known yet. */
export function fileBytes(input: string): number | null {
  try {
    const stat = statSync(input, { throwIfNoEntry: false });
    return stat?.isFile() ? stat.size : null;
  } catch {
    // Whoever opens it tells what is wrong with it.
    return null;
  }
}

/** The readers that the names of the inputs stand for. */
function likelyReaders({ inputs, from }: ConvertRequest, { registry }: Host): FormatRef[] {
  const found = inputs.map((input) => (from === undefined ? registry.byExtension(input)[0] : registry.get(from)));
  const ids = new Set(found.flatMap((format) => (format?.reader ? [format.id] : [])));
  return [...ids].map((id) => ({ id, module: registry.moduleOf(id), options: {} }));
}

/**
 * A pool whose threads begin while the inputs are looked through, where it is clear before that threads will do the
 * work; null where that is to be seen.
 * @param writer loaded by the threads, as are the readers that the inputs' names stand for; null where nothing is written
 */
export async function startEarly(
  request: ConvertRequest,
  host: Host,
  writer: ChosenWriter | null,
): Promise<Executor | null> {
  const wanted = threads(request);
  if (wanted < 2 || request.limit !== undefined) return null;
  const bytes = () => request.inputs.reduce((sum, input) => sum + (fileBytes(input) ?? 0), 0);
  if (request.workers === undefined && isSmall(bytes(), wanted, writesText(writer))) return null;
  const { PoolExecutor } = await import("./pool-executor.js");
  const pool = new PoolExecutor(wanted);
  pool.start({ readers: likelyReaders(request, host), writers: writer ? [writer.ref] : [] });
  return pool;
}
