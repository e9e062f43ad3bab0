/** Reading a layer: its pieces, its scan, and what is known without reading. */
import {
  Batch,
  type Extent,
  Kind,
  type LayerSummary,
  packFeatures,
  type SplitFilter,
  type SummaryRequest,
  typesIn,
} from "../../model/index.js";
import type { WriterCapabilities } from "../../plugin/format.js";
import { buildStage } from "../../stages/build-stage.js";
import { type Findings, HostContext } from "../execute/host-context.js";
import type { Piece } from "../execute/task.js";
import type { StagePlan } from "../plan/plan-stages.js";
import type { OpenLayer } from "./open-inputs.js";

/** The findings of the conversion, with those that only the scan reported. */
export function mergeFindings(converted: Findings, scanned: Findings | undefined): Findings {
  const onlyScanned = (of: "losses" | "notices") =>
    (scanned?.[of] ?? []).filter(
      (one) => !converted[of].some((other) => other.code === one.code && other.field === one.field),
    );
  return {
    ...converted,
    losses: [...converted.losses, ...onlyScanned("losses")],
    notices: [...converted.notices, ...onlyScanned("notices")],
    skippedRanges: [...converted.skippedRanges, ...(scanned?.skippedRanges ?? [])],
  };
}

/** Field names, parts and ID types can only be planned if all features are known before the first is written. */
export const needsSummary = (capabilities: WriterCapabilities): boolean =>
  capabilities.requiredScan !== "nothing" ||
  Boolean(capabilities.families || capabilities.fieldNames) ||
  capabilities.ids !== true;

/** Stages that do not change fields, types and geometry types. */
const schemaPreservingStages = new Set([
  "reproject",
  "check-coordinates",
  "check-area",
  "swap-xy",
  "drop-degenerate",
  "merge-collections",
]);

/** Stages that do not change points within the extent that `check-coordinates` allows. */
const pointPreservingStages = new Set(["check-coordinates", "drop-degenerate", "merge-collections"]);

const wgs84Extent: Extent = [-180, -90, 180, 90];
const { MAX_VALUE: maxNumber } = Number;
const unboundedExtent: Extent = [-maxNumber, -maxNumber, maxNumber, maxNumber];

/** The extent within which the stages do not change points; null if they may change or reject any point. */
function pointPreservingExtent({ stages }: StagePlan): Extent | null {
  if (!stages.every(({ name }) => pointPreservingStages.has(name))) return null;
  const onGlobe = stages.some(({ name, settings }) => name === "check-coordinates" && settings.mode !== "finite");
  return onGlobe ? wgs84Extent : unboundedExtent;
}

/**
 * The reader's own summary of the layer, which saves the scan; null if there is none or the stages would change it.
 * @param allowsPoints whether the reader may summarize points without reading them as features
 */
export async function readerSummary(
  open: OpenLayer,
  stagePlan: StagePlan,
  allowsPoints: boolean,
  request: Omit<SummaryRequest, "unchangedExtent">,
): Promise<LayerSummary | null> {
  const { stages } = stagePlan;
  if (!open.layer.summary || stages.some((stage) => !schemaPreservingStages.has(stage.name))) return null;
  const unchangedExtent = allowsPoints ? pointPreservingExtent(stagePlan) : null;
  const declared = await open.layer.summary({ ...request, unchangedExtent });
  if (!declared || declared.kinds[Kind.GeometryCollection]!.count > 0) return null;
  const moved = stages.some(({ name }) => name !== "check-coordinates" && name !== "check-area");
  const summary = moved ? { ...declared, extent: null } : declared;
  const lacksExtent = request.needsExtent && summary.extent === null && typesIn(summary).length > 0;
  return lacksExtent ? null : summary;
}

/**
 * The pieces of a layer: its splits, or its batches if it has none.
 * @param filter what features must meet to be wanted
 */
export async function* layerPieces(open: OpenLayer, filter?: SplitFilter): AsyncGenerator<Piece> {
  const { layer } = open;
  if (layer.splits) {
    for await (const split of layer.splits(filter)) yield { split };
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

/** The pieces of a layer for a scan on this thread: batches of the reader's faster `scanBatches` if it has one. */
export async function* scanPieces(open: OpenLayer, filter?: SplitFilter): AsyncGenerator<Piece> {
  if (!open.layer.scanBatches) yield* layerPieces(open, filter);
  else for await (const { batch, bytes } of open.layer.scanBatches()) yield { batch: batch.toData(), bytes };
}

/** Stages that change the set of fields. */
const fieldChangingStages = new Set(["select", "rename", "cast"]);

/** The declared fields of a layer after the stages, as a batch without features; null if it declares none. */
export async function declaredFields(open: OpenLayer, stagePlan: StagePlan): Promise<Batch | null> {
  if (!open.layer.fields) return null;
  const context = new HostContext(open.layer.name, new AbortController().signal, false, undefined, new Date(0));
  let batch = packFeatures([], 1, open.layer.fields);
  for (const stage of stagePlan.stages) {
    if (fieldChangingStages.has(stage.name)) batch = (await buildStage(stage, context)).apply(batch);
  }
  return batch;
}
