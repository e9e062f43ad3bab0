import { createError } from "../../errors.js";
import { groupDigits } from "../../format-count.js";
import type { ConversionContext } from "../conversion-context.js";
import type { Findings } from "../execute/host-context.js";
import { processLayer } from "../execute/process-layer.js";
import type { EncodedChunk, EncodeSpec } from "../execute/task.js";
import type { GeometryCounts } from "../input/check-geometry.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { declaredFields, mergeFindings } from "../input/read-layer.js";
import type { PlannedLayer } from "../plan/plan-layer.js";
import { checkSeenFields } from "../plan/plan-stages.js";
import type { ProofRules } from "../proof/proof-rules.js";
import { countDropped } from "./rejects-file.js";

/** Receives the encoded chunks, in order. */
export type OnChunk = (chunk: EncodedChunk) => Promise<void>;

/** Writes the features of an output layer to its parts. @throws field-missing, guard-rejects … and what readers throw */
export async function writeLayer(
  conversion: ConversionContext,
  planned: PlannedLayer,
  onChunk: OnChunk,
  proofRules?: readonly ProofRules[],
): Promise<void> {
  const { request, reportBuilder, rejectsFile } = conversion;
  const seen = new Set<string>();
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  let read = 0;
  let written = 0;
  for (const { openLayer, stagePlan } of planned.inputs) {
    let record = 0;
    let line = 0;
    const count: GeometryCounts = { features: 0, withGeometry: 0 };
    reportBuilder.geometryCounts.set(openLayer, count);
    const carried = { features: 0, located: 0 };
    const outcome = { ...encodeSpec(conversion, planned), ...(proofRules ? { proofRules } : {}) };
    for await (const result of processLayer(conversion, openLayer, stagePlan, outcome, left)) {
      reportBuilder.add(result, record, line);
      if (openLayer.isExisting) requireCompleteRead(openLayer, result);
      if (!openLayer.isExisting) {
        reportBuilder.read += result.read;
        read += result.read;
      }
      for (const name of result.seenFields) seen.add(name);
      await rejectsFile.add(openLayer.source.name, openLayer.layer.name, result.rejects, record, line);
      count.reason ??= result.rejects.find(({ kept }) => kept)?.reason;
      for (const chunk of result.chunks) {
        await onChunk(chunk);
        written += chunk.features;
        count.features += chunk.features;
        if (openLayer.isExisting) continue;
        left -= chunk.features;
        carried.features += chunk.features;
        carried.located += chunk.withGeometry;
      }
      conversion.executor.releaseBuffers(result);
      record += result.records;
      line += result.lines;
      count.withGeometry += result.withGeometry;
      conversion.progress.report("convert");
      if (left <= 0) break;
    }
    await addReaderFindings(conversion, planned, openLayer);
    reportBuilder.writtenFeatures += carried.features;
    reportBuilder.withoutGeometry += carried.features - carried.located;
    if (carried.located === 0) noteMissingGeometries(conversion, openLayer, carried.features);
    if (stagePlan.isCrsAssumed && count.withGeometry > 0) noteAssumedCrs(conversion, openLayer);
  }
  if (read > 0 && request.limit === undefined)
    checkSeenFields(
      planned.inputs.map((input) => input.openLayer),
      request,
      seen,
    );
  if (written === 0) await noteFieldsOfEmptyLayer(conversion, planned);
}

function encodeSpec({ writer }: ConversionContext, { fitPlan, parts }: PlannedLayer): EncodeSpec {
  return { kind: "encode", fitPlan: fitPlan, writer: writer.formatRef, targetLayers: parts.map((part) => part.layer) };
}

/** Adds what the reader reported on this thread. */
async function addReaderFindings(
  { reportBuilder, rejectsFile }: ConversionContext,
  planned: PlannedLayer,
  open: OpenLayer,
): Promise<void> {
  const findings = mergeFindings(open.context.takeFindings(0), planned.scanFindings.get(open));
  reportBuilder.add(findings);
  if (open.isExisting) requireCompleteRead(open, findings);
  reportBuilder.read += countDropped(findings.rejects);
  await rejectsFile.add(open.source.name, open.layer.name, findings.rejects, 0, 0);
}

function noteAssumedCrs({ reportBuilder }: ConversionContext, { layer }: OpenLayer): void {
  const example =
    "the input declares no coordinate reference system; assumed longitude/latitude (WGS 84), since all coordinates are in range";
  reportBuilder.notices.add("crs-assumed", layer.name, undefined, 1, example);
}

/** Notes that no feature has a geometry, unless the source declares a table without geometry. */
function noteMissingGeometries({ reportBuilder }: ConversionContext, { layer }: OpenLayer, features: number): void {
  if (features === 0 || layer.geometryTypes?.length === 0) return;
  const types = layer.geometryTypes?.join(", ");
  const declared = types === undefined ? "" : `, although it is a layer of ${types}`;
  const example = `${features === 1 ? `the only feature of ${layer.name} has no geometry` : `none of the ${groupDigits(features)} features of ${layer.name} has a geometry`}${declared}`;
  reportBuilder.notices.add("no-geometry", layer.name, undefined, features, example);
}

/** The existing output of an append must be read completely. @throws input-corrupt */
function requireCompleteRead(
  open: OpenLayer,
  { rejects, skippedRanges }: Pick<Findings, "rejects" | "skippedRanges">,
): void {
  const [unread] = [...rejects, ...skippedRanges];
  if (!unread) return;
  const reason = `${unread.reason}; nothing was appended, since the existing file must be read completely first`;
  throw createError("input-corrupt", { source: open.source.name, place: unread.place, reason });
}

/** A writer without a summary knows the fields only from features; reports them as lost if there are no features. */
async function noteFieldsOfEmptyLayer(
  { reportBuilder }: ConversionContext,
  { inputs, fitPlan }: PlannedLayer,
): Promise<void> {
  if (fitPlan.fields) return;
  for (const { openLayer, stagePlan } of inputs) {
    const names = (await declaredFields(openLayer, stagePlan))?.fields.map((field) => field.name) ?? [];
    if (names.length === 0) continue;
    const example = `${fitPlan.targetName} stores fields only in features, and there are no features: ${names.join(", ").slice(0, 200)}`;
    reportBuilder.losses.add("fields-dropped", openLayer.layer.name, undefined, names.length, example);
  }
}
