/** A file that a worker converts: what another began is finished, and outputs get their names while the job is this one's. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { createError } from "../../../errors.js";
import { recoverAbandonedOutputs } from "../../../io/output/temporary-names.js";
import { isBucketAddress } from "../../../io/s3/bucket-address.js";
import { convert } from "../../../pipeline/convert.js";
import { fileSize, isSingleThreadFaster } from "../../../pipeline/execute/choose-executor.js";
import { isAddress } from "../../../pipeline/input/expand-inputs.js";
import type { ConvertRequest, Host } from "../../../pipeline/request.js";
import type { ConversionStep, Step } from "../../job.js";
import type { StepContext } from "../../run/step-context.js";
import { type ConversionRecord, stampFiles, toConversionRecord, withFiles } from "../../steps/conversion-record.js";
import { areUnmodified } from "../../steps/convert-step.js";
import { digestFile, statSources } from "../../steps/source-stat.js";
import { chunkFolder, readDigests, removeChunks, writeDigests } from "../chunk-files.js";
import { findDifference, fromInputNames } from "../input-names.js";
import { type ConversionWork, errorFromFailure, readFailure, type StarterFileStat } from "../job-payload.js";
import { ChunkedExecutor, ChunksPending, maxChunkBytes } from "./chunked-executor.js";
import type { JobRequest, JobResult } from "./process-messages.js";
import type { ParentChannel, WorkerContext } from "./run-job.js";

/** @throws worker-incompatible, and what `convert` throws */
export async function runConversion(
  order: JobRequest,
  step: Step,
  tools: StepContext,
  { threads, splitAbove }: Pick<WorkerContext, "threads" | "splitAbove">,
  superior: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker, previousProcessMark } = order;
  const work = payload.work as ConversionWork;
  const { registry } = tools.host;
  const asked = (step as ConversionStep).request;
  const output = work.output ?? asked.output;
  const isPath = !isAddress(output, registry) && !isBucketAddress(output);
  const folder = dirname(output);
  if (previousProcessMark !== null && isPath && existsSync(folder))
    recoverAbandonedOutputs(folder, previousProcessMark);
  if (
    work.pendingCommit &&
    work.pendingCommit.files.length > 0 &&
    (await areUnmodified(work.pendingCommit.files, signal))
  )
    return { kind: "converted", converted: work.pendingCommit.done };
  const difference = work.sources && findDifference(work.sources);
  if (difference !== null) throw createError("worker-incompatible", { worker, reason: difference });
  const request: ConvertRequest = {
    ...asked,
    ...{ inputs: fromInputNames(work.inputs, asked.inputs), output, workers: chooseThreadCount(work.sources, threads) },
    ...(work.overwrite ? { overwrite: true } : {}),
  };
  const pieces = isPath ? chunkFolder(output, order.id) : null;
  const isSpread = pieces !== null && (work.chunkBytes !== undefined || isLarge(request, tools.host, splitAbove));
  const chunkBytes = work.chunkBytes ?? Math.min(splitAbove, maxChunkBytes);
  try {
    const digests = await digestSources(work.sources ?? [], request, tools.host, isSpread ? pieces : null, signal);
    let committed: ConversionRecord["files"] = [];
    const host: Host = {
      ...{ ...tools.host, signal, now: new Date(payload.now) },
      onProgress: ({ features }) => superior.progress(features),
      async onCommit(_, files, report) {
        committed = stampFiles(files);
        await superior.requestCommit({ files: committed, done: { ...withFiles(report, committed), digests } });
        signal.throwIfAborted();
      },
    };
    const [failed] = order.failures;
    if (failed !== undefined) throw errorFromFailure(readFailure(failed, output));
    const executor = isSpread ? new ChunkedExecutor(pieces, chunkBytes, registry, signal) : undefined;
    const report = await convert(request, host, executor);
    const converted = { ...toConversionRecord(report, request, registry, committed), digests };
    if (isSpread) removeChunks(pieces);
    return { kind: "converted", converted };
  } catch (error) {
    if (error instanceof ChunksPending) return { kind: "pieces", chunks: error.chunks, chunkBytes };
    // Where this worker has to let go of it, another one may be using them.
    if (isSpread && !signal.aborted) removeChunks(pieces);
    throw error;
  }
}

/** Threads of its own take longer to begin than a small input takes to convert. */
function chooseThreadCount(sources: ConversionWork["sources"], threads: number): number {
  const bytes = (sources ?? []).reduce((sum, { size }) => sum + Number(size || Number.POSITIVE_INFINITY), 0);
  return sources !== null && isSingleThreadFaster(bytes, threads) ? 1 : threads;
}

/** Of a single file that every worker sees, and of which features need not be counted in order. */
function isLarge({ inputs, limit }: ConvertRequest, { registry }: Host, splitAbove: number): boolean {
  const [only, other] = inputs;
  if (only === undefined || other !== undefined || limit !== undefined || isAddress(only, registry)) return false;
  const bytes = fileSize(only);
  return bytes !== null && bytes >= splitAbove;
}

/** Of the sources, before they are read; of grids, which are large, times alone count. */
async function digestSources(
  sources: readonly StarterFileStat[],
  { grids = [] }: ConvertRequest,
  { registry }: Host,
  pieces: string | null,
  signal: AbortSignal,
): Promise<readonly (string | null)[]> {
  const known = pieces && readDigests(pieces);
  if (known) return known;
  const ofGrids = new Set((await statSources(grids, registry, signal, false))?.map(({ name }) => name));
  const digests: (string | null)[] = [];
  for (const { name, size } of sources)
    digests.push(size === "" || ofGrids.has(name) ? null : await digestFile(name, signal));
  if (pieces !== null) writeDigests(pieces, digests);
  return digests;
}
