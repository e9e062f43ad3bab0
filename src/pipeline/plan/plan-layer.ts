import { hasSameDefinition, isWgs84 } from "../../crs/index.js";
import { formatCoordinateOptions } from "../../errors/format-reader-option.js";
import { createError } from "../../errors.js";
import { findNameEncoder } from "../../io/encodings.js";
import { redactUrl } from "../../io/redact.js";
import { mergeFields, type TypedField } from "../../model/field.js";
import type { Crs, LayerInfo } from "../../model/layer.js";
import type { TargetLayer } from "../../plugin/format.js";
import { adoptExistingFields, type FitPlan, planFit, summaryOfPart, targetFields } from "../../stages/fit-plan.js";
import type { StageSpec } from "../../stages/stage.js";
import type { ConversionContext } from "../conversion-context.js";
import { collectGarbage } from "../execute/collect-garbage.js";
import { withFailedInput } from "../input/failed-input.js";
import { coordinateAdvice } from "../input/layer-warnings.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { needsSummary } from "../input/read-layer.js";
import { type LayerScan, type PlannedInput, scanLayers } from "../scan.js";
import { checkCellCount } from "./check-field-count.js";
import { existingLayerCrs, findExistingLayer } from "./in-place-update.js";
import { commonColumnNames, mergeMetadata } from "./merge-metadata.js";
import { type ChosenWriter, type OutputLayer, withSuffix } from "./plan-outputs.js";
import { checkNames, planStages, type ReprojectionGrids } from "./plan-stages.js";

/** The grid folders of the machine, and the download of missing grids if it is allowed. */
function reprojectionGrids(conversion: ConversionContext, open: OpenLayer): ReprojectionGrids {
  const { grids } = conversion.host;
  if (!grids?.allowsDownload) return { folders: grids?.folders ?? [] };
  return {
    folders: grids.folders,
    async fetchMissing(from, to, options) {
      const { fetchMissingGrids } = await import("../grids/fetch-grids.js");
      for (const { name, licence } of await fetchMissingGrids(conversion, open, [from, to], options, grids)) {
        const example = `${name} (${licence}) was downloaded from ${redactUrl(grids.endpoint)} into ${grids.cacheFolder}`;
        conversion.reportBuilder.notices.add("grid-downloaded", open.layer.name, undefined, 1, example);
      }
    },
  };
}

/** Of layers with more fields, the others are not reported, which saves memory. */
const maxReportedFields = 1000;

/** Maximum number of layer names in a message. */
const maxListedNames = 50;

/** A part of an output layer, and the file that it is written to. */
export interface PlannedPart {
  readonly layer: TargetLayer;
  readonly path: string;
  /** The existing layer that is appended to or replaced, if the output is changed in place. */
  readonly existingLayer: LayerInfo | null;
}

/** An output layer with everything that is decided before its features are written. */
export interface PlannedLayer {
  readonly inputs: readonly PlannedInput[];
  readonly fitPlan: FitPlan;
  readonly crs: Crs | null;
  readonly parts: readonly PlannedPart[];
  /** The first fields of the inputs; null if only the features have them. */
  readonly sourceFields: readonly TypedField[] | null;
  /** The findings of the scan; empty if there was none. */
  readonly scanFindings: LayerScan["findings"];
}

/** @throws crs-unknown, crs-no-operation, crs-not-writable, field-missing, unsupported, usage, output-exists … */
export async function planLayer(
  conversion: ConversionContext,
  path: string,
  layer: OutputLayer,
): Promise<PlannedLayer> {
  const { request, writer, reportBuilder, pathPlan, inPlaceUpdate } = conversion;
  const { capabilities, format } = writer;
  const existingLayer = findExistingLayer(inPlaceUpdate, layer.name);
  const appendedTo = inPlaceUpdate?.mode === "append" ? existingLayer : null;
  const target = appendedTo ? await existingLayerCrs(appendedTo, request, conversion.targetCrs) : conversion.targetCrs;
  if (inPlaceUpdate?.mode === "add" && existingLayer)
    throw createError("output-exists", { output: `${request.output}: the table "${existingLayer.name}"` });
  const addsLayer = inPlaceUpdate !== null && !existingLayer && writer.fileStem === null;
  if (addsLayer && (request.replaceLayer || request.append))
    noteAddedLayer(conversion, layer.name, inPlaceUpdate.layers);
  checkNames(layer.inputs, request);
  const inputs = [];
  for (const openLayer of layer.inputs) {
    const grids = reprojectionGrids(conversion, openLayer);
    const stagePlan = await withFailedInput(openLayer.address, () =>
      planStages(openLayer, request, target, reportBuilder, grids, capabilities.continuousLongitudes === true),
    );
    inputs.push({
      openLayer,
      stagePlan: {
        ...stagePlan,
        stages: [
          ...stagePlan.stages,
          ...writerStages(conversion, stagePlan.crs),
          ...(openLayer.isExisting ? roundingStages(conversion) : []),
        ],
      },
    });
  }
  const inputCrs = inputs.map((input) => input.stagePlan.crs);
  const common = writableCrs(writer, target, appendedTo?.crs ? [appendedTo.crs, ...inputCrs] : inputCrs);
  const crs = appendedTo?.crs ?? common;
  for (const { openLayer } of inputs) noteCoordinateColumns(conversion, openLayer);
  for (const { openLayer, stagePlan } of inputs)
    checkAppendedCrs(openLayer, stagePlan.crs, existingCrs(layer, appendedTo));
  if (crs === null) for (const input of inputs) noteUndeclaredCrs(conversion, layer.name, input.stagePlan.crs);
  const scan = appendedTo || needsSummary(capabilities) ? await scanLayers(conversion, inputs) : null;
  const summary = scan?.summary ?? null;
  const inputFit = planFit(summary, capabilities, format.label, {
    mergeIds: request.append === true,
    encodeName: findNameEncoder(capabilities),
  });
  const fitPlan = appendedTo ? adoptExistingFields(inputFit, appendedTo.fields ?? []) : inputFit;
  if (summary) checkCellCount(layer.inputs.map(({ source }) => source.name).join(", "), summary, fitPlan, writer);
  noteRenamedLayer(conversion, layer, existingLayer);
  reportFit(conversion, layer.name, fitPlan);
  const isAppended = layer.inputs.some((open) => open.isExisting);
  const columnNames = commonColumnNames(layer);
  const metadata = mergeMetadata(conversion, layer, fitPlan);
  if (fitPlan.fields) collectGarbage(fitPlan.fields.length);
  const parts = fitPlan.parts.map((part): PlannedPart => {
    const suffix = part.suffix === "" ? "" : `_${part.suffix}`;
    const partPath = capabilities.layers === "one" && suffix !== "" ? withSuffix(path, suffix, format) : path;
    if (partPath !== path && isAppended) throw geometryConflictError(path, fitPlan);
    if (partPath !== path) pathPlan.addPart(partPath);
    pathPlan.declareCrs(partPath, crs);
    return {
      layer: {
        name: `${existingLayer?.name ?? layer.name}${suffix}`,
        crs,
        fields: fitPlan.fields && targetFields(fitPlan.fields),
        summary: summary && summaryOfPart(fitPlan, part, summary),
        ...(metadata && { metadata }),
        ...(columnNames && { columnNames }),
      },
      path: partPath,
      existingLayer,
    };
  });
  const sources = layer.inputs.filter((open) => !open.isExisting);
  const fields = summary ? [summary.fields] : sources.map((open) => open.layer.fields);
  const sourceFields = mergeFields(fields.map((list) => list?.slice(0, maxReportedFields) ?? null));
  return { inputs, fitPlan, crs, parts, sourceFields, scanFindings: scan?.findings ?? new Map() };
}

/** Reports what rounding changes in features of an output that is appended to, which should stay as they are. */
function roundingStages({ writer: { formatRef } }: ConversionContext): StageSpec[] {
  const { precision } = formatRef.options;
  return typeof precision === "number" ? [{ name: "report-rounding", settings: { decimals: precision } }] : [];
}

/** The reference system of the layer that features are appended to; null if it has none, or if there is no such layer. */
const existingCrs = ({ inputs }: OutputLayer, appendedTo: LayerInfo | null): Crs | null =>
  appendedTo?.crs ?? inputs.find(({ isExisting }) => isExisting)?.layer.crs ?? null;

/**
 * Refuses coordinates of an unknown system beside those of a known one, as --no-reproject would mix them.
 * @throws crs-missing
 */
function checkAppendedCrs({ isExisting, source }: OpenLayer, crs: Crs | null, existing: Crs | null): void {
  if (isExisting || crs !== null || existing === null || isWgs84(existing)) return;
  const name = existing.id ?? existing.name;
  const reason = `features are appended to coordinates in ${name}`;
  throw createError("crs-missing", { source: source.name, reason, existing: name });
}

/**
 * Notes that columns of a table look like coordinates but are read as attributes.
 * @throws unsupported if it is the table that rows are appended to, since their coordinates would get other columns
 */
function noteCoordinateColumns({ reportBuilder }: ConversionContext, { isExisting, layer, source }: OpenLayer): void {
  const [candidate] = layer.likelyCoordinateFields ?? [];
  if (isExisting && candidate) {
    const [x, y] = candidate;
    const reason = `"${x}" and "${y}" look like coordinates but are read as attributes, so appended rows would get columns of their own; convert the table to another file with ${formatCoordinateOptions(x, y)} (the longitude or easting is x), and append to that`;
    throw createError("unsupported", { source: source.name, reason });
  }
  for (const example of coordinateAdvice(layer))
    reportBuilder.notices.add("coordinates-left-out", layer.name, undefined, 1, example);
}

function noteRenamedLayer(
  { reportBuilder, writer }: ConversionContext,
  { name, requestedName }: OutputLayer,
  existing: LayerInfo | null,
): void {
  if (name === requestedName || existing?.name === requestedName) return;
  const { format, capabilities } = writer;
  const reason =
    capabilities.normalizeLayerName?.(requestedName) === name
      ? `${format.label} does not allow the name`
      : "another layer has that name";
  reportBuilder.losses.add(
    "layer-renamed",
    name,
    undefined,
    1,
    `the layer "${requestedName}" became "${name}", since ${reason}`,
  );
}

/** Reports that readers will take the coordinates for longitude and latitude, which --no-reproject left in another CRS. */
function noteUndeclaredCrs(
  { reportBuilder, writer, request }: ConversionContext,
  layer: string,
  crs: Crs | null,
): void {
  if (request.reproject !== false || writer.capabilities.crs === "any" || (crs !== null && isWgs84(crs))) return;
  const meaning = `coordinates in ${writer.format.label} are longitude and latitude in WGS 84`;
  if (crs === null) {
    const example = `the input declares no coordinate reference system, and ${meaning}; if these are not, name their system with --source-crs, or choose another format`;
    reportBuilder.notices.add("crs-unchecked", layer, undefined, 1, example);
    return;
  }
  const example = `the coordinates are in ${crs.id ?? crs.name}, but ${meaning}; omit --no-reproject, or choose another format`;
  reportBuilder.losses.add("crs-undeclared", layer, undefined, 1, example);
}

/** Notes that an option for an existing layer added one, since a mistyped name would leave the intended layer unchanged. */
function noteAddedLayer(
  { reportBuilder, request }: ConversionContext,
  layer: string,
  existing: readonly LayerInfo[],
): void {
  const more = existing.length > maxListedNames ? ` and ${existing.length - maxListedNames} more` : "";
  const names = `${existing
    .slice(0, maxListedNames)
    .map(({ name }) => `"${name}"`)
    .join(", ")}${more}`;
  const [option, purpose, advice] = request.append
    ? ["--append", "add to", "; --layer-name names the layer to add to"]
    : ["--replace-layer", "replace", ""];
  const example = `${option} found no layer "${layer}" to ${purpose} and added it; there ${existing.length === 1 ? "is" : "are"} ${names}${advice}`;
  if (existing.length > 0) reportBuilder.notices.add("layer-added", layer, undefined, 1, example);
}

function geometryConflictError(path: string, fit: FitPlan): Error {
  const kinds = fit.parts.map((part) => part.suffix).join(", ");
  const reason = `a file of ${fit.targetName} holds one kind of geometry, but with the appended features it would hold ${kinds}; write to another file`;
  return createError("unsupported", { source: path, reason });
}

/** The stages that fit geometries to the writer's limits before the layer is scanned. */
function writerStages({ writer, request }: ConversionContext, crs: Crs | null): StageSpec[] {
  const { geometryTypes, onePointLines = false, degreesOnly = false, z } = writer.capabilities;
  const stages: StageSpec[] = [];
  if (degreesOnly && request.reproject === false)
    stages.push({ name: "check-coordinates", settings: { mode: "wgs84", untouched: crs !== null && !isWgs84(crs) } });
  // Before `merge-collections`, which takes the remaining members.
  stages.push({ name: "drop-degenerate", settings: { shortLines: onePointLines, z } });
  if (!geometryTypes.includes("GeometryCollection")) stages.push({ name: "merge-collections", settings: {} });
  return stages;
}

/** The CRS that the output declares: the common CRS of the layers, if the format can hold it. */
function writableCrs(writer: ChosenWriter, target: Crs | null, inputCrs: readonly (Crs | null)[]): Crs | null {
  const first = inputCrs[0] ?? null;
  const isCommon = inputCrs.every(
    (crs) => crs === first || (crs !== null && first !== null && hasSameDefinition(crs, first)),
  );
  if (!isCommon && target === null && inputCrs.every((crs) => crs !== null)) {
    const names = [...new Set(inputCrs.map((crs) => crs?.id ?? crs?.name))].join(" and ");
    throw createError("usage", {
      reason: `--no-reproject would put coordinates in ${names} into one layer; omit it, or write to a folder, where each input gets a file of its own`,
    });
  }
  const common = isCommon ? first : null;
  if (common === null || writer.capabilities.crs === "any" || isWgs84(common)) return common;
  if (target === null) return null;
  throw createError("crs-not-writable", { format: writer.format.id, crs: common.id ?? common.name });
}

/** Explains a rename that another field caused, whose name differs only in case. */
function explainRename(source: string, fit: FitPlan): string {
  const twin = fit.fields?.find(({ name }) => name !== source && name.toLowerCase() === source.toLowerCase());
  return twin ? `, since ${fit.targetName} ignores case and "${twin.name}" exists` : "";
}

/** Reports the changes of a fit plan: renamed fields, IDs in a field, split layers. */
function reportFit({ reportBuilder: { losses, notices } }: ConversionContext, layer: string, fit: FitPlan): void {
  for (const { source, name } of fit.fields ?? []) {
    if (source === null) {
      const example = `${fit.targetName} cannot hold these feature IDs; they are in the field "${name}"`;
      notices.add("id-as-field", layer, name, 1, example);
    } else if (source !== name) {
      losses.add("field-renamed", layer, source, 1, `"${source}" became "${name}"${explainRename(source, fit)}`);
    }
  }
  if (fit.parts.length > 1) {
    const names = fit.parts.map((part) => part.suffix).join(", ");
    const example = `a file of ${fit.targetName} holds one kind of geometry: split into ${names}`;
    notices.add("layer-split", layer, undefined, 1, example);
  }
}
