import { blame } from "./blame.js";
import type { Conversion } from "./conversion.js";
import { inOrder, piecesAtOnce } from "./executor.js";
import type { OpenLayer } from "./inputs.js";
import { glances, pieces } from "./reading.js";
import { keepsRows } from "./rejects.js";
import { type Shape, wantedFields } from "./shape.js";
import type { TaskSpec, WorkResult } from "./task.js";

/**
 * Every piece of a layer, worked on and in order.
 * @param limit as many features are let through
 */
export async function* results(
  conversion: Conversion,
  open: OpenLayer,
  shape: Shape,
  end: TaskSpec["end"],
  limit: number,
): AsyncGenerator<WorkResult> {
  try {
    yield* worked(conversion, open, shape, end, limit);
  } catch (error) {
    if (!open.existing) blame(error, open.address);
    throw error;
  }
}

async function* worked(
  { request, host, executor, meter, writer }: Conversion,
  open: OpenLayer,
  shape: Shape,
  end: TaskSpec["end"],
  limit: number,
): AsyncGenerator<WorkResult> {
  const isLimited = Number.isFinite(limit) && !open.existing;
  const stages = isLimited ? [...shape.stages, { name: "limit", settings: { count: limit } }] : shape.stages;
  const spec: TaskSpec = {
    source: open.source.spec,
    reader: open.reader,
    blueprint: open.blueprint,
    layer: open.index,
    layerName: open.layer.name,
    skipErrors: request.skipErrors ?? false,
    keepsRows: keepsRows(request, writer.accepts),
    stages,
    wanted: wantedFields(request),
    end,
    now: host.now.getTime(),
  };
  meter.total += open.layer.bytes;
  if (executor.spread && open.layer.splits && !open.existing && request.inputs.includes(open.source.spec.path)) {
    yield* executor.spread(spec, pieces(open));
    return;
  }
  const task = await executor.open(spec);
  const works = end.kind === "summary" && executor.width === 1 ? glances(open) : pieces(open);
  // What stands beyond a limit is told of as little as can be: readers tell what they meet on the way to the next piece.
  const atOnce = isLimited ? executor.width + 1 : piecesAtOnce(executor, open.layer);
  try {
    yield* inOrder(works, atOnce, async (work) => {
      host.signal.throwIfAborted();
      const result = await task.run(work);
      meter.done += work.split?.bytes ?? work.bytes ?? 0;
      return result;
    });
  } finally {
    await task.close();
  }
}
