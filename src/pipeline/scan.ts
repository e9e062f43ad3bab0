import { type LayerSummary, Summarizer } from "../model/index.js";
import type { ConversionContext } from "./conversion-context.js";
import type { Findings } from "./execute/host-context.js";
import { processLayer } from "./execute/process-layer.js";
import { withFailedInput } from "./input/failed-input.js";
import type { OpenLayer } from "./input/open-inputs.js";
import { declaredFields, readerSummary } from "./input/read-layer.js";
import type { StagePlan } from "./plan/plan-stages.js";

/** An input layer and its stages. */
export interface PlannedInput {
  readonly openLayer: OpenLayer;
  readonly stagePlan: StagePlan;
}

export interface LayerScan {
  readonly summary: LayerSummary;
  /** What readers reported on this thread; most of it is reported again when the layer is converted. */
  readonly findings: ReadonlyMap<OpenLayer, Findings>;
}

/** Summarizes all features after the stages, from the reader's own summary or by reading the inputs. */
export async function scanLayers(conversion: ConversionContext, inputs: readonly PlannedInput[]): Promise<LayerScan> {
  const findings = new Map<OpenLayer, Findings>();
  const { request } = conversion;
  const summary = inputs.length === 1 ? await trackedReaderSummary(conversion, inputs[0]!) : null;
  if (summary) return { summary, findings };
  const all = new Summarizer(false);
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  for (const { openLayer, stagePlan } of inputs) {
    const refinesTypes = openLayer.layer.fields === null;
    const summarizer = new Summarizer(refinesTypes);
    const declared = await declaredFields(openLayer, stagePlan);
    if (declared) summarizer.add(declared);
    for await (const result of processLayer(
      conversion,
      openLayer,
      stagePlan,
      { kind: "summary", refinesTypes },
      left,
    )) {
      if (result.summary) {
        summarizer.merge(result.summary);
        if (!openLayer.isExisting) left -= result.summary.kinds.reduce((sum, kind) => sum + kind.count, 0);
      }
      conversion.progress.report("scan");
      if (left <= 0) break;
    }
    findings.set(openLayer, openLayer.context.takeFindings(0));
    all.merge(summarizer.resolveState());
  }
  return { summary: all.summary(), findings };
}

async function trackedReaderSummary(
  conversion: ConversionContext,
  { openLayer, stagePlan }: PlannedInput,
): Promise<LayerSummary | null> {
  const { request, executor, progress, writer } = conversion;
  const isLimited = request.limit !== undefined;
  let scannedBytes = 0;
  const onBytesScanned = (bytes: number) => {
    if (scannedBytes === 0) progress.total += openLayer.layer.bytes;
    scannedBytes += bytes;
    progress.done += bytes;
    progress.report("scan");
  };
  // Several threads read points as fast as one thread summarizes them.
  const allowsPoints = !isLimited && executor.parallelism === 1;
  // Without a reference system, the extent distinguishes degrees from projected coordinates.
  const needsExtent = writer.capabilities.requiredScan === "extent" || stagePlan.crs === null;
  const summaryRequest = { isLimited, needsExtent, onBytesScanned };
  const summary = await withFailedInput(openLayer.address, () =>
    readerSummary(openLayer, stagePlan, allowsPoints, summaryRequest),
  );
  // Without a summary the layer is scanned again.
  if (!summary && scannedBytes > 0) {
    progress.total -= openLayer.layer.bytes;
    progress.done -= scannedBytes;
  }
  return summary;
}
