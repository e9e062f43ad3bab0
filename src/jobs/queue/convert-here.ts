/** A file that a worker converts: what another began is finished, and outputs get their names while the job is this one's. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fault } from "../../errors.js";
import { isBucketAddress } from "../../io/s3-address.js";
import { sweepFolder } from "../../io/target.js";
import { fileBytes, isSmall } from "../../pipeline/choose-executor.js";
import { convert } from "../../pipeline/convert.js";
import { isAddress } from "../../pipeline/expand.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import { areAsWeLeftThem } from "../convert-step.js";
import { type Converted, convertedOf, stampedFiles, withFiles } from "../converted.js";
import { digestOf, marksOf } from "../fingerprint.js";
import type { ConversionStep, Step } from "../job.js";
import type { JobTools } from "../run-step.js";
import type { Superior, Workshop } from "./do-work.js";
import type { Done, Order } from "./hand-messages.js";
import { type ConversionWork, errorOf, readFailure, type Seen } from "./handed.js";
import { differenceHere, inputsOf } from "./input-names.js";
import { piecesFolder, readDigests, removePieces, writeDigests } from "./pieces.js";
import { mostBytes, PiecesWanted, SpreadExecutor } from "./spread.js";

/** @throws worker-unfit, and what `convert` throws */
export async function convertHere(
  order: Order,
  step: Step,
  tools: JobTools,
  { threads, spreadFrom }: Pick<Workshop, "threads" | "spreadFrom">,
  superior: Superior,
  signal: AbortSignal,
): Promise<Done> {
  const { handed, worker, gone } = order;
  const work = handed.work as ConversionWork;
  const { registry } = tools.host;
  const asked = (step as ConversionStep).request;
  const output = work.output ?? asked.output;
  const isPath = !isAddress(output, registry) && !isBucketAddress(output);
  const folder = dirname(output);
  if (gone !== null && isPath && existsSync(folder)) sweepFolder(folder, gone);
  if (work.begun && work.begun.files.length > 0 && (await areAsWeLeftThem(work.begun.files, signal)))
    return { kind: "converted", converted: work.begun.done };
  const difference = work.sources && differenceHere(work.sources);
  if (difference !== null) throw fault("worker-unfit", { worker, reason: difference });
  const request: ConvertRequest = {
    ...asked,
    ...{ inputs: inputsOf(work.inputs, asked.inputs), output, workers: threadsFor(work.sources, threads) },
    ...(work.overwrite ? { overwrite: true } : {}),
  };
  const pieces = isPath ? piecesFolder(output, order.id) : null;
  const isSpread = pieces !== null && (work.spread !== undefined || isLarge(request, tools.host, spreadFrom));
  const bytes = work.spread ?? Math.min(spreadFrom, mostBytes);
  try {
    const digests = await digestsOf(work.sources ?? [], request, tools.host, isSpread ? pieces : null, signal);
    let committed: Converted["files"] = [];
    const host: Host = {
      ...{ ...tools.host, signal, now: new Date(handed.now) },
      onProgress: ({ features }) => superior.progress(features),
      async onCommit(_, files, report) {
        committed = stampedFiles(files);
        await superior.commit({ files: committed, done: { ...withFiles(report, committed), digests } });
        signal.throwIfAborted();
      },
    };
    const [failed] = order.failures;
    if (failed !== undefined) throw errorOf(readFailure(failed, output));
    const executor = isSpread ? new SpreadExecutor(pieces, bytes, registry, signal) : undefined;
    const report = await convert(request, host, executor);
    const converted = { ...convertedOf(report, request, registry, committed), digests };
    if (isSpread) removePieces(pieces);
    return { kind: "converted", converted };
  } catch (error) {
    if (error instanceof PiecesWanted) return { kind: "pieces", pieces: error.pieces, bytes };
    // Where this worker has to let go of it, another one may be using them.
    if (isSpread && !signal.aborted) removePieces(pieces);
    throw error;
  }
}

/** Threads of its own take longer to begin than a small input takes to convert. */
function threadsFor(sources: ConversionWork["sources"], threads: number): number {
  const bytes = (sources ?? []).reduce((sum, { size }) => sum + Number(size || Number.POSITIVE_INFINITY), 0);
  return sources !== null && isSmall(bytes, threads) ? 1 : threads;
}

/** Of a single file that every worker sees, and of which features need not be counted in order. */
function isLarge({ inputs, limit }: ConvertRequest, { registry }: Host, spreadFrom: number): boolean {
  const [only, other] = inputs;
  if (only === undefined || other !== undefined || limit !== undefined || isAddress(only, registry)) return false;
  const bytes = fileBytes(only);
  return bytes !== null && bytes >= spreadFrom;
}

/** Of the sources, before they are read; of grids, which are large, times alone count. */
async function digestsOf(
  sources: readonly Seen[],
  { grids = [] }: ConvertRequest,
  { registry }: Host,
  pieces: string | null,
  signal: AbortSignal,
): Promise<readonly (string | null)[]> {
  const known = pieces && readDigests(pieces);
  if (known) return known;
  const ofGrids = new Set((await marksOf(grids, registry, signal, false))?.map(({ name }) => name));
  const digests: (string | null)[] = [];
  for (const { name, size } of sources)
    digests.push(size === "" || ofGrids.has(name) ? null : await digestOf(name, signal));
  if (pieces !== null) writeDigests(pieces, digests);
  return digests;
}
