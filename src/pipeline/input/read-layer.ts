/** How a layer is read: in which pieces, how often, and what of it is known beforehand. */
import {
  Batch,
  type Extent,
  Kind,
  type LayerSummary,
  packFeatures,
  type SummaryRequest,
  typesIn,
} from "../../model/index.js";
import type { WriterCapabilities } from "../../plugin/format.js";
import { buildStage } from "../../stages/build-stage.js";
import { type Findings, HostContext } from "../execute/host-context.js";
import type { Piece } from "../execute/task.js";
import type { StagePlan } from "../plan/plan-stages.js";
import type { OpenLayer } from "./open-inputs.js";

/** What was found in the second reading, and of the first what only it said. */
export function mergeFindings(second: Findings, first: Findings | undefined): Findings {
  const only = (of: "losses" | "notices") =>
    (first?.[of] ?? []).filter(
      (one) => !second[of].some((other) => other.code === one.code && other.field === one.field),
    );
  return {
    ...second,
    losses: [...second.losses, ...only("losses")],
    notices: [...second.notices, ...only("notices")],
    skippedRanges: [...second.skippedRanges, ...(first?.skippedRanges ?? [])],
  };
}

/** Names can only be fitted, and features sent to the right part, when all of them are known before the first. */
export const needsSummary = (accepts: WriterCapabilities): boolean =>
  accepts.requiredScan !== "nothing" || Boolean(accepts.families || accepts.fieldNames) || accepts.ids !== true;

/** Stages that leave fields, types and kinds as they are. */
const schemaPreservingStages = new Set([
  "reproject",
  "check-coordinates",
  "check-area",
  "swap-xy",
  "drop-degenerate",
  "merge-collections",
]);

/** Stages that leave points as they are, as long as they are where coordinates are checked to be. */
const pointPreservingStages = new Set(["check-coordinates", "drop-degenerate", "merge-collections"]);

const wgs84Extent: Extent = [-180, -90, 180, 90];
const { MAX_VALUE: maxNumber } = Number;
const unboundedExtent: Extent = [-maxNumber, -maxNumber, maxNumber, maxNumber];

/** Where points may be for the stages to leave them as they are; null where they may change or be left out anyway. */
function pointPreservingExtent({ stages }: StagePlan): Extent | null {
  if (!stages.every(({ name }) => pointPreservingStages.has(name))) return null;
  const onGlobe = stages.some(({ name, settings }) => name === "check-coordinates" && settings.mode !== "finite");
  return onGlobe ? wgs84Extent : unboundedExtent;
}

/**
 * What the reader tells of the layer without a first reading, as long as it holds behind the stages too.
 * @param points whether points may be summed up without being read as features
 */
export async function readerSummary(
  open: OpenLayer,
  shape: StagePlan,
  points: boolean,
  asked: Omit<SummaryRequest, "unchangedExtent">,
): Promise<LayerSummary | null> {
  if (!open.layer.summary || shape.stages.some((stage) => !schemaPreservingStages.has(stage.name))) return null;
  const told = await open.layer.summary({ ...asked, unchangedExtent: points ? pointPreservingExtent(shape) : null });
  if (!told || told.kinds[Kind.GeometryCollection]!.count > 0) return null;
  const moved = shape.stages.some(({ name }) => name !== "check-coordinates" && name !== "check-area");
  const summary = moved ? { ...told, extent: null } : told;
  const lacksExtent = asked.needsExtent && summary.extent === null && typesIn(summary).length > 0;
  return lacksExtent ? null : summary;
}

/** The pieces of a layer: its splits, or batch after batch where it has none. */
export async function* layerPieces(open: OpenLayer): AsyncGenerator<Piece> {
  const { layer } = open;
  if (layer.splits) {
    for await (const split of layer.splits()) yield { split };
    return;
  }
  let record = 1;
  for await (const batch of layer.batches()) {
    if (batch instanceof Batch) yield { batch: batch.toData() };
    else {
      yield { batch: packFeatures(batch, record, layer.fields).toData() };
      record += batch.length;
    }
  }
}

/** The features of a layer for a first reading on this thread, batch after batch where the reader has a short way. */
export async function* scanPieces(open: OpenLayer): AsyncGenerator<Piece> {
  if (!open.layer.scanBatches) yield* layerPieces(open);
  else for await (const { batch, bytes } of open.layer.scanBatches()) yield { batch: batch.toData(), bytes };
}

/** The stages that change which fields there are. */
const fieldChangingStages = new Set(["select", "rename", "cast"]);

/** The layer's declared fields as the stages leave them, as a batch of no features; null where it declares none. */
export async function declaredFields(open: OpenLayer, shape: StagePlan): Promise<Batch | null> {
  if (!open.layer.fields) return null;
  const context = new HostContext(open.layer.name, new AbortController().signal, false, undefined, new Date(0));
  let batch = packFeatures([], 1, open.layer.fields);
  for (const stage of shape.stages) {
    if (fieldChangingStages.has(stage.name)) batch = (await buildStage(stage, context)).apply(batch);
  }
  return batch;
}
