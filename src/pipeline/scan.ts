import { type LayerSummary, Summarizer } from "../model/index.js";
import type { ConversionContext } from "./conversion-context.js";
import type { Findings } from "./execute/host-context.js";
import { processLayer } from "./execute/process-layer.js";
import { withFailedInput } from "./input/failed-input.js";
import type { OpenLayer } from "./input/open-inputs.js";
import { declaredFields, readerSummary } from "./input/read-layer.js";
import type { StagePlan } from "./plan/plan-stages.js";

/** A layer of the input and what becomes of it on its way. */
export interface PlannedInput {
  readonly open: OpenLayer;
  readonly shape: StagePlan;
}

export interface LayerScan {
  readonly summary: LayerSummary;
  /** What readers said on this thread: most of it is said again in the second reading. */
  readonly said: ReadonlyMap<OpenLayer, Findings>;
}

/** What all features that come out of the stages say together: by what the reader knows, or by reading the inputs. */
export async function scanLayers(conversion: ConversionContext, inputs: readonly PlannedInput[]): Promise<LayerScan> {
  const said = new Map<OpenLayer, Findings>();
  const { request } = conversion;
  const told = inputs.length === 1 ? await trackedReaderSummary(conversion, inputs[0]!) : null;
  if (told) return { summary: told, said };
  const all = new Summarizer(false);
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  for (const { open, shape } of inputs) {
    const refine = open.layer.fields === null;
    const summariser = new Summarizer(refine);
    const declared = await declaredFields(open, shape);
    if (declared) summariser.add(declared);
    for await (const result of processLayer(conversion, open, shape, { kind: "summary", refine }, left)) {
      if (result.summary) {
        summariser.merge(result.summary);
        if (!open.existing) left -= result.summary.kinds.reduce((sum, kind) => sum + kind.count, 0);
      }
      conversion.meter.tell("scan");
      if (left <= 0) break;
    }
    said.set(open, open.context.take(0));
    all.merge(summariser.settled());
  }
  return { summary: all.summary(), said };
}

async function trackedReaderSummary(
  conversion: ConversionContext,
  { open, shape }: PlannedInput,
): Promise<LayerSummary | null> {
  const { request, executor, meter, writer } = conversion;
  const isLimited = request.limit !== undefined;
  let passed = 0;
  const looked = (bytes: number) => {
    if (passed === 0) meter.total += open.layer.bytes;
    passed += bytes;
    meter.done += bytes;
    meter.tell("scan");
  };
  // Several threads are as soon done with reading points as one with summing them up.
  const points = !isLimited && executor.width === 1;
  // Without a reference system it is the extent that tells degrees from units of a plane.
  const withExtent = writer.accepts.needs === "extent" || shape.crs === null;
  const asked = { isLimited, withExtent, looked };
  const told = await withFailedInput(open.address, () => readerSummary(open, shape, points, asked));
  // What has been looked at in vain is read again.
  if (!told && passed > 0) {
    meter.total -= open.layer.bytes;
    meter.done -= passed;
  }
  return told;
}
