/** The entry point of a worker thread: opens tasks by number, processes pieces and sends the results back. */
import "../../plug-and-play.js";

import { parentPort } from "node:worker_threads";
import { toPlainError } from "../../errors.js";
import { transferableBuffers } from "../../model/batch.js";
import { donateBuffer, isAcquired } from "../../model/buffer-pool.js";
import type { Format } from "../../plugin/format.js";
import { findFamilyFormat } from "../../plugin/format-family.js";
import { exportedFormats } from "../../plugin/load-plugin.js";
import type { PreloadFormats, WorkerReply, WorkerRequest } from "./pool-executor.js";
import { releasableBuffers } from "./releasable-buffers.js";
import { type FormatRef, openTask, scanPart, type Task } from "./task.js";

const tasks = new Map<number, Promise<Task>>();
const abortController = new AbortController();

async function findFormat(ref: FormatRef): Promise<Format> {
  const formats = exportedFormats(await import(ref.module)) as readonly Format[];
  const format = formats.find((candidate) => candidate.id === ref.id) ?? findFamilyFormat(formats, ref.id);
  if (!format) throw new Error(`${ref.module} has no format ${ref.id}`);
  return format;
}

async function preloadFormats({ readers, writers }: PreloadFormats): Promise<void> {
  for (const ref of readers) await (await findFormat(ref)).reader?.load();
  for (const ref of writers) await (await findFormat(ref)).writer?.load();
}

/** Starts what can overlap with the current piece: opening a task, reading the bytes of a piece, loading formats. */
function startAhead(request: WorkerRequest): Promise<unknown> | undefined {
  if (request.kind === "open") {
    const task = openTask(request.spec, findFormat, abortController.signal);
    tasks.set(request.task, task);
    return task;
  }
  if (request.kind === "run") return tasks.get(request.task)!.then((task) => task.prefetch(request.piece));
  // A failed load is repeated and reported when a task needs the format.
  if (request.kind === "load") return preloadFormats(request.formats);
  return undefined;
}

async function sendReply(request: WorkerRequest, started: Promise<unknown> | undefined): Promise<void> {
  switch (request.kind) {
    case "open":
    case "load":
      return;
    case "memory":
      for (const buffer of request.buffers) donateBuffer(buffer);
      return;
    case "close": {
      const task = await tasks.get(request.task)?.catch(() => undefined);
      tasks.delete(request.task);
      await task?.source[Symbol.asyncDispose]();
      return;
    }
    case "scan-part":
      parentPort!.postMessage(await scanSourcePart(request));
      return;
    case "run": {
      const reply = await runPiece(request, started!);
      parentPort!.postMessage(reply, transferableBuffers(reply));
    }
  }
}

async function runPiece(request: WorkerRequest & { kind: "run" }, fetched: Promise<unknown>): Promise<WorkerReply> {
  try {
    const task = await tasks.get(request.task)!;
    const result = await task.run(request.piece, fetched);
    return { id: request.id, result, acquiredBuffers: releasableBuffers(result).filter(isAcquired) };
  } catch (error) {
    return { id: request.id, error: toPlainError(error) };
  }
}

async function scanSourcePart({ id, spec, part }: WorkerRequest & { kind: "scan-part" }): Promise<WorkerReply> {
  try {
    return { id, scanned: await scanPart(spec, part, findFormat, abortController.signal) };
  } catch (error) {
    return { id, error: toPlainError(error) };
  }
}

// Requests are handled one after the other, since a task's source and context serve one piece at a time.
let pendingReply: Promise<void> = Promise.resolve();
parentPort!.on("message", (request: WorkerRequest) => {
  const started = startAhead(request);
  // `sendReply` reports a failure in its turn.
  started?.catch(() => undefined);
  pendingReply = pendingReply.then(() => sendReply(request, started));
});
