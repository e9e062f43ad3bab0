/** Reads the first features of each layer of an input, for `geoferry info --head`. */
import { Spool } from "../io/input/spool.js";
import { Batch } from "../model/batch.js";
import type { Crs } from "../model/layer.js";
import { packFeatures } from "../model/pack-features.js";
import { buildStage } from "../stages/build-stage.js";
import type { Stage } from "../stages/stage.js";
import { HostContext } from "./execute/host-context.js";
import { type OpenLayer, openInputs } from "./input/open-inputs.js";
import type { InspectReport, InspectRequest } from "./inspect.js";
import { checkNames, checkSeenFields, filterStages } from "./plan/plan-stages.js";
import { ReportBuilder } from "./report.js";
import type { Host } from "./request.js";

/** The first features of a layer, in the coordinates of the source. */
export interface LayerHead {
  readonly input: string;
  readonly format: string;
  readonly layer: string;
  readonly crs: Crs | null;
  /** At most as many features as requested; their record numbers count from 1. */
  readonly batches: readonly Batch[];
}

export interface HeadReport extends Pick<InspectReport, "losses" | "notices" | "skippedRanges"> {
  readonly layers: readonly LayerHead[];
}

/**
 * Reads no more of the input than the first features need.
 * @param count features of each layer
 * @throws what opening and reading the inputs throws; field-missing
 */
export async function readHead(request: InspectRequest, host: Host, count: number): Promise<HeadReport> {
  const convertRequest = { ...request, output: "" };
  await using spool = new Spool();
  await using inputs = await openInputs(request.inputs, { ...request, keepsBadGeometries: true }, host, spool);
  checkNames(inputs.layers, convertRequest);
  const reportBuilder = new ReportBuilder();
  for (const found of inputs.findings) reportBuilder.add(found);
  const seen = new Set<string>();
  const heads: LayerHead[] = [];
  let isComplete = true;
  for (const open of inputs.layers) {
    const { layer, source, reader } = open;
    const batches = await readFirst(open, request, host, count, seen);
    isComplete &&= batches.reduce((sum, { length }) => sum + length, 0) < count;
    reportBuilder.add(open.context.takeFindings(0));
    heads.push({ input: source.name, format: reader.id, layer: layer.name, crs: layer.crs, batches });
  }
  // Features that were not read may have other fields.
  if (isComplete && seen.size > 0) checkSeenFields(inputs.layers, convertRequest, seen);
  const { losses, notices, skippedRanges } = reportBuilder;
  return { layers: heads, losses: losses.list(), notices: notices.list(), skippedRanges };
}

async function readFirst(
  open: OpenLayer,
  request: InspectRequest,
  host: Host,
  count: number,
  seen: Set<string>,
): Promise<Batch[]> {
  await using context = new HostContext(open.layer.name, host.signal, request.skipErrors ?? false, undefined, host.now);
  const stages: Stage[] = [];
  for (const spec of filterStages(open, request)) stages.push(await buildStage(spec, context));
  const found: Batch[] = [];
  let left = count;
  if (left === 0) return found;
  for await (const batch of readBatches(open)) {
    host.signal.throwIfAborted();
    for (const { name } of batch.fields) seen.add(name);
    let kept = batch;
    for (const stage of stages) kept = stage.apply(kept);
    if (kept.length > left) kept = kept.take(Uint32Array.from({ length: left }, (_, row) => row));
    if (kept.length > 0) found.push(kept);
    left -= kept.length;
    if (left === 0) break;
  }
  return found;
}

async function* readBatches({ layer }: OpenLayer): AsyncGenerator<Batch> {
  let record = 1;
  // Records count from the start of a split; only those of the first one count from the start of the layer.
  const pieces = layer.splits ? layer.splits() : [undefined];
  for await (const split of pieces) {
    for await (const batch of layer.batches(split)) {
      if (batch instanceof Batch) yield batch;
      else {
        yield packFeatures(batch, record, layer.fields);
        record += batch.length;
      }
    }
  }
}
