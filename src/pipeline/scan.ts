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
  readonly openLayer: OpenLayer;
  readonly stagePlan: StagePlan;
}

export interface LayerScan {
  readonly summary: LayerSummary;
  /** What readers said on this thread: most of it is said again in the second reading. */
  readonly findings: ReadonlyMap<OpenLayer, Findings>;
}

/** What all features that come out of the stages say together: by what the reader knows, or by reading the inputs. */
export async function scanLayers(conversion: ConversionContext, inputs: readonly PlannedInput[]): Promise<LayerScan> {
  const findings = new Map<OpenLayer, Findings>();
  const { request } = conversion;
  const told = inputs.length === 1 ? await trackedReaderSummary(conversion, inputs[0]!) : null;
  if (told) return { summary: told, findings };
  const all = new Summarizer(false);
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  for (const { openLayer, stagePlan } of inputs) {
    const refinesTypes = openLayer.layer.fields === null;
    const summariser = new Summarizer(refinesTypes);
    const declared = await declaredFields(openLayer, stagePlan);
    if (declared) summariser.add(declared);
    for await (const result of processLayer(
      conversion,
      openLayer,
      stagePlan,
      { kind: "summary", refinesTypes },
      left,
    )) {
      if (result.summary) {
        summariser.merge(result.summary);
        if (!openLayer.isExisting) left -= result.summary.kinds.reduce((sum, kind) => sum + kind.count, 0);
      }
      conversion.progress.report("scan");
      if (left <= 0) break;
    }
    findings.set(openLayer, openLayer.context.takeFindings(0));
    all.merge(summariser.resolveState());
  }
  return { summary: all.summary(), findings };
}

async function trackedReaderSummary(
  conversion: ConversionContext,
  { openLayer, stagePlan }: PlannedInput,
): Promise<LayerSummary | null> {
  const { request, executor, progress, writer } = conversion;
  const isLimited = request.limit !== undefined;
  let passed = 0;
  const looked = (bytes: number) => {
    if (passed === 0) progress.total += openLayer.layer.bytes;
    passed += bytes;
    progress.done += bytes;
    progress.report("scan");
  };
  // Several threads are as soon done with reading points as one with summing them up.
  const points = !isLimited && executor.parallelism === 1;
  // Without a reference system it is the extent that tells degrees from units of a plane.
  const needsExtent = writer.capabilities.requiredScan === "extent" || stagePlan.crs === null;
  const asked = { isLimited, needsExtent, onBytesScanned: looked };
  const told = await withFailedInput(openLayer.address, () => readerSummary(openLayer, stagePlan, points, asked));
  // What has been looked at in vain is read again.
  if (!told && passed > 0) {
    progress.total -= openLayer.layer.bytes;
    progress.done -= passed;
  }
  return told;
}
