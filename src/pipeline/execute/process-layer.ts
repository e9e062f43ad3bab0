import type { ConversionContext } from "../conversion-context.js";
import { recordFailedInput } from "../input/failed-input.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { layerPieces, scanPieces } from "../input/read-layer.js";
import { requestedFields, type StagePlan } from "../plan/plan-stages.js";
import { splitFilter } from "../plan/split-filter.js";
import { nullsBadGeometry } from "../write/rejects-file.js";
import { mapInOrder, maxConcurrentPieces } from "./executor.js";
import type { PieceResult, TaskSpec } from "./task.js";

/**
 * Processes every piece of a layer and yields the results in order.
 * @param limit the maximum number of features
 */
export async function* processLayer(
  conversion: ConversionContext,
  open: OpenLayer,
  stagePlan: StagePlan,
  outcome: TaskSpec["outcome"],
  limit: number,
): AsyncGenerator<PieceResult> {
  try {
    yield* processPieces(conversion, open, stagePlan, outcome, limit);
  } catch (error) {
    if (!open.isExisting) recordFailedInput(error, open.address);
    throw error;
  }
}

async function* processPieces(
  { request, host, executor, progress, writer }: ConversionContext,
  open: OpenLayer,
  stagePlan: StagePlan,
  outcome: TaskSpec["outcome"],
  limit: number,
): AsyncGenerator<PieceResult> {
  const isLimited = Number.isFinite(limit) && !open.isExisting;
  const stages = isLimited ? [...stagePlan.stages, { name: "limit", settings: { count: limit } }] : stagePlan.stages;
  const spec: TaskSpec = {
    source: open.source.spec,
    reader: open.reader,
    scanResult: open.scanResult,
    layerIndex: open.layerIndex,
    layerName: open.layer.name,
    skipErrors: request.skipErrors ?? false,
    keepsBadGeometries: nullsBadGeometry(request, writer.capabilities),
    stages,
    requestedFields: requestedFields(request),
    outcome,
    now: host.now.getTime(),
  };
  progress.total += open.layer.bytes;
  const filter = open.isExisting ? undefined : await splitFilter(request, stagePlan, open.layer);
  if (
    executor.runDistributed &&
    open.layer.splits &&
    !open.layer.hasLocalSplits &&
    !open.isExisting &&
    request.inputs.includes(open.source.spec.path)
  ) {
    yield* executor.runDistributed(spec, layerPieces(open, filter));
    return;
  }
  const task = await executor.open(spec);
  // What a comparison in order cannot read, it finds missing, and reads again to report it.
  const isScan = outcome.kind === "summary" || (outcome.kind === "digest" && outcome.rules.isOrdered);
  // One thread reads a layer without splits, whatever the number of workers.
  const isReadHere = executor.parallelism === 1 || !open.layer.splits;
  const pieces = isScan && isReadHere ? scanPieces(open, filter) : layerPieces(open, filter);
  // With a limit as few pieces as possible are read ahead, since readers also report losses of features beyond the limit.
  const concurrency = isLimited ? executor.parallelism + 1 : maxConcurrentPieces(executor, open.layer);
  try {
    yield* mapInOrder(pieces, concurrency, async (piece) => {
      host.signal.throwIfAborted();
      const result = await task.run(piece);
      progress.done += piece.split?.bytes ?? piece.bytes ?? 0;
      return result;
    });
  } finally {
    await task.close();
  }
}
