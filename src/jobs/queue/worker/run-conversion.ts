/** Converts one output in a worker process: resumes what an earlier worker left, and commits only while it owns the job. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { createError } from "../../../errors.js";
import { recoverNow } from "../../../io/output/recover-outputs.js";
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
import { type ConversionWork, errorFromFailure, readFailure, type SourceFileStat } from "../job-payload.js";
import { ChunkedExecutor, ChunksPending, maxChunkBytes } from "./chunked-executor.js";
import type { JobRequest, JobResult } from "./process-messages.js";
import type { ParentChannel, WorkerContext } from "./run-job.js";

/** @throws worker-incompatible, and what `convert` throws */
export async function runConversion(
  jobRequest: JobRequest,
  step: Step,
  stepContext: StepContext,
  { threads, splitAbove }: Pick<WorkerContext, "threads" | "splitAbove">,
  parent: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker, previousProcessMark } = jobRequest;
  const work = payload.work as ConversionWork;
  const { registry } = stepContext.host;
  const stepRequest = (step as ConversionStep).request;
  const output = work.output ?? stepRequest.output;
  const isPath = !isAddress(output, registry) && !isBucketAddress(output);
  const folder = dirname(output);
  if (previousProcessMark !== null && isPath && existsSync(folder)) recoverNow(folder, previousProcessMark);
  if (
    work.pendingCommit &&
    work.pendingCommit.files.length > 0 &&
    (await areUnmodified(work.pendingCommit.files, signal))
  )
    return { kind: "converted", converted: work.pendingCommit.done };
  const difference = work.sources && findDifference(work.sources);
  if (difference !== null) throw createError("worker-incompatible", { worker, reason: difference });
  const request: ConvertRequest = {
    ...stepRequest,
    ...{
      inputs: fromInputNames(work.inputs, stepRequest.inputs),
      output,
      workers: chooseThreadCount(work.sources, threads),
    },
    ...(work.overwrite ? { overwrite: true } : {}),
  };
  const chunks = isPath ? chunkFolder(output, jobRequest.id) : null;
  const isSplit = chunks !== null && (work.chunkBytes !== undefined || isLarge(request, stepContext.host, splitAbove));
  const chunkBytes = work.chunkBytes ?? Math.min(splitAbove, maxChunkBytes);
  try {
    const digests = await digestSources(work.sources ?? [], request, stepContext.host, isSplit ? chunks : null, signal);
    let committed: ConversionRecord["files"] = [];
    const host: Host = {
      ...{ ...stepContext.host, signal, now: new Date(payload.now) },
      onProgress: ({ features }) => parent.progress(features),
      async onCommit(_, files, report) {
        committed = stampFiles(files);
        await parent.requestCommit({ files: committed, done: { ...withFiles(report, committed), digests } });
        signal.throwIfAborted();
      },
    };
    const [failed] = jobRequest.failures;
    if (failed !== undefined) throw errorFromFailure(readFailure(failed, output));
    const executor = isSplit ? new ChunkedExecutor(chunks, chunkBytes, registry, signal) : undefined;
    const report = await convert(request, host, executor);
    const converted = { ...toConversionRecord(report, request, registry, committed), digests };
    if (isSplit) removeChunks(chunks);
    return { kind: "converted", converted };
  } catch (error) {
    if (error instanceof ChunksPending) return { kind: "chunks-pending", chunks: error.chunks, chunkBytes };
    // After an abort, another worker may already use the chunks.
    if (isSplit && !signal.aborted) removeChunks(chunks);
    throw error;
  }
}

/** Starting threads takes longer than converting a small input. */
function chooseThreadCount(sources: ConversionWork["sources"], threads: number): number {
  const bytes = (sources ?? []).reduce((sum, { size }) => sum + Number(size || Number.POSITIVE_INFINITY), 0);
  return sources !== null && isSingleThreadFaster(bytes, threads) ? 1 : threads;
}

/** Whether to split the input: only a single file, and without a limit, which requires counting features in order. */
function isLarge({ inputs, limit }: ConvertRequest, { registry }: Host, splitAbove: number): boolean {
  const [only, other] = inputs;
  if (only === undefined || other !== undefined || limit !== undefined || isAddress(only, registry)) return false;
  const bytes = fileSize(only);
  return bytes !== null && bytes >= splitAbove;
}

/** Hashes the sources before they are read. Grids are large, so their times suffice. */
async function digestSources(
  sources: readonly SourceFileStat[],
  { grids = [] }: ConvertRequest,
  { registry }: Host,
  chunks: string | null,
  signal: AbortSignal,
): Promise<readonly (string | null)[]> {
  const known = chunks && readDigests(chunks);
  if (known) return known;
  const gridFiles = new Set((await statSources(grids, registry, signal, false))?.map(({ name }) => name));
  const digests: (string | null)[] = [];
  for (const { name, size } of sources)
    digests.push(size === "" || gridFiles.has(name) ? null : await digestFile(name, signal));
  if (chunks !== null) writeDigests(chunks, digests);
  return digests;
}
