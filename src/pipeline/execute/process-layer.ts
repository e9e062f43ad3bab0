import type { ConversionContext } from "../conversion-context.js";
import { recordFailedInput } from "../input/failed-input.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { layerPieces, scanPieces } from "../input/read-layer.js";
import { requestedFields, type StagePlan } from "../plan/plan-stages.js";
import { nullsBadGeometry } from "../write/rejects-file.js";
import { mapInOrder, maxConcurrentPieces } from "./executor.js";
import type { PieceResult, TaskSpec } from "./task.js";

/**
 * Every piece of a layer, worked on and in order.
 * @param limit as many features are let through
 */
export async function* processLayer(
  conversion: ConversionContext,
  open: OpenLayer,
  shape: StagePlan,
  end: TaskSpec["outcome"],
  limit: number,
): AsyncGenerator<PieceResult> {
  try {
    yield* processPieces(conversion, open, shape, end, limit);
  } catch (error) {
    if (!open.isExisting) recordFailedInput(error, open.address);
    throw error;
  }
}

async function* processPieces(
  { request, host, executor, progress, writer }: ConversionContext,
  open: OpenLayer,
  shape: StagePlan,
  outcome: TaskSpec["outcome"],
  limit: number,
): AsyncGenerator<PieceResult> {
  const isLimited = Number.isFinite(limit) && !open.isExisting;
  const stages = isLimited ? [...shape.stages, { name: "limit", settings: { count: limit } }] : shape.stages;
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
  if (
    executor.runDistributed &&
    open.layer.splits &&
    !open.isExisting &&
    request.inputs.includes(open.source.spec.path)
  ) {
    yield* executor.runDistributed(spec, layerPieces(open));
    return;
  }
  const task = await executor.open(spec);
  const works = outcome.kind === "summary" && executor.parallelism === 1 ? scanPieces(open) : layerPieces(open);
  // What stands beyond a limit is told of as little as can be: readers tell what they meet on the way to the next piece.
  const atOnce = isLimited ? executor.parallelism + 1 : maxConcurrentPieces(executor, open.layer);
  try {
    yield* mapInOrder(works, atOnce, async (work) => {
      host.signal.throwIfAborted();
      const result = await task.run(work);
      progress.done += work.split?.bytes ?? work.bytes ?? 0;
      return result;
    });
  } finally {
    await task.close();
  }
}
