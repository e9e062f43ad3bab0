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
  end: TaskSpec["end"],
  limit: number,
): AsyncGenerator<PieceResult> {
  try {
    yield* processPieces(conversion, open, shape, end, limit);
  } catch (error) {
    if (!open.existing) recordFailedInput(error, open.address);
    throw error;
  }
}

async function* processPieces(
  { request, host, executor, meter, writer }: ConversionContext,
  open: OpenLayer,
  shape: StagePlan,
  end: TaskSpec["end"],
  limit: number,
): AsyncGenerator<PieceResult> {
  const isLimited = Number.isFinite(limit) && !open.existing;
  const stages = isLimited ? [...shape.stages, { name: "limit", settings: { count: limit } }] : shape.stages;
  const spec: TaskSpec = {
    source: open.source.spec,
    reader: open.reader,
    blueprint: open.blueprint,
    layer: open.index,
    layerName: open.layer.name,
    skipErrors: request.skipErrors ?? false,
    keepsRows: nullsBadGeometry(request, writer.accepts),
    stages,
    wanted: requestedFields(request),
    end,
    now: host.now.getTime(),
  };
  meter.total += open.layer.bytes;
  if (executor.spread && open.layer.splits && !open.existing && request.inputs.includes(open.source.spec.path)) {
    yield* executor.spread(spec, layerPieces(open));
    return;
  }
  const task = await executor.open(spec);
  const works = end.kind === "summary" && executor.width === 1 ? scanPieces(open) : layerPieces(open);
  // What stands beyond a limit is told of as little as can be: readers tell what they meet on the way to the next piece.
  const atOnce = isLimited ? executor.width + 1 : maxConcurrentPieces(executor, open.layer);
  try {
    yield* mapInOrder(works, atOnce, async (work) => {
      host.signal.throwIfAborted();
      const result = await task.run(work);
      meter.done += work.split?.bytes ?? work.bytes ?? 0;
      return result;
    });
  } finally {
    await task.close();
  }
}
