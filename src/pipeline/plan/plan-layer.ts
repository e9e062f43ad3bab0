import { isSameCrs, isWgs84 } from "../../crs/index.js";
import { createError } from "../../errors.js";
import { redactUrl } from "../../io/redact.js";
import type { Crs, LayerInfo } from "../../model/layer.js";
import type { TargetLayer } from "../../plugin/format.js";
import { adoptExistingFields, type FitPlan, planFit, summaryOfPart, targetFields } from "../../stages/fit-to-writer.js";
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

/** The grids of the machine, and how more of them get there where that is allowed. */
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

/** So many names are told. */
const maxListedNames = 50;

/** A part of an output layer, and the file that it goes into. */
export interface PlannedPart {
  readonly layer: TargetLayer;
  readonly path: string;
  /** The layer that is there and is added to or replaced, where the file is changed in place. */
  readonly existingLayer: LayerInfo | null;
}

/** An output layer with all that is decided about it before its features are written. */
export interface PlannedLayer {
  readonly inputs: readonly PlannedInput[];
  readonly fitPlan: FitPlan;
  readonly crs: Crs | null;
  readonly parts: readonly PlannedPart[];
  /** What the first reading said; empty where there was none. */
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
  const joins = inPlaceUpdate?.mode === "append" ? existingLayer : null;
  const target = joins ? await existingLayerCrs(joins, request, conversion.targetCrs) : conversion.targetCrs;
  if (inPlaceUpdate?.mode === "add" && existingLayer)
    throw createError("output-exists", { output: `${request.output}: the table "${existingLayer.name}"` });
  if (inPlaceUpdate?.mode === "replace" && request.replaceLayer && !existingLayer)
    noteAddedLayer(conversion, layer.name, inPlaceUpdate.layers);
  checkNames(layer.inputs, request);
  const inputs = [];
  for (const openLayer of layer.inputs) {
    const grids = reprojectionGrids(conversion, openLayer);
    const shape = await withFailedInput(openLayer.address, () =>
      planStages(openLayer, request, target, reportBuilder, grids),
    );
    inputs.push({
      openLayer,
      stagePlan: { ...shape, stages: [...shape.stages, ...writerStages(conversion, shape.crs)] },
    });
  }
  const all = inputs.map((input) => input.stagePlan.crs);
  const common = writableCrs(writer, target, joins?.crs ? [joins.crs, ...all] : all);
  const crs = joins?.crs ?? common;
  for (const { openLayer } of inputs) noteCoordinateColumns(conversion, openLayer);
  if (crs === null) for (const input of inputs) noteUndeclaredCrs(conversion, layer.name, input.stagePlan.crs);
  const first = joins || needsSummary(capabilities) ? await scanLayers(conversion, inputs) : null;
  const summary = first?.summary ?? null;
  const alone = planFit(summary, capabilities, format.label, request.append === true);
  const fitPlan = joins ? adoptExistingFields(alone, joins.fields ?? []) : alone;
  if (summary) checkCellCount(layer.inputs.map(({ source }) => source.name).join(", "), summary, fitPlan, writer);
  noteRenamedLayer(conversion, layer, existingLayer);
  reportFit(conversion, layer.name, fitPlan);
  const adds = layer.inputs.some((open) => open.isExisting);
  const columnNames = commonColumnNames(layer);
  const metadata = mergeMetadata(conversion, layer, fitPlan);
  if (fitPlan.fields) collectGarbage(fitPlan.fields.length);
  const parts = fitPlan.parts.map((part): PlannedPart => {
    const suffix = part.suffix === "" ? "" : `_${part.suffix}`;
    const own = capabilities.layers === "one" && suffix !== "" ? withSuffix(path, suffix, format) : path;
    if (own !== path && adds) throw geometryConflictError(path, fitPlan);
    if (own !== path) pathPlan.addPart(own);
    pathPlan.declareCrs(own, crs);
    return {
      layer: {
        name: `${existingLayer?.name ?? layer.name}${suffix}`,
        crs,
        fields: fitPlan.fields && targetFields(fitPlan.fields),
        summary: summary && summaryOfPart(fitPlan, part, summary),
        ...(metadata && { metadata }),
        ...(columnNames && { columnNames }),
      },
      path: own,
      existingLayer,
    };
  });
  return { inputs, fitPlan, crs, parts, scanFindings: first?.findings ?? new Map() };
}

/** A table becomes one without geometry, although some of its columns look like coordinates. */
function noteCoordinateColumns({ reportBuilder }: ConversionContext, { layer }: OpenLayer): void {
  for (const example of coordinateAdvice(layer))
    reportBuilder.notices.add("coordinates-left-out", layer.name, undefined, 1, example);
}

function noteRenamedLayer(
  { reportBuilder, writer }: ConversionContext,
  { name, requestedName }: OutputLayer,
  held: LayerInfo | null,
): void {
  if (name === requestedName || held?.name === requestedName) return;
  const { format, capabilities } = writer;
  const why =
    capabilities.normalizeLayerName?.(requestedName) === name
      ? `${format.label} does not take it`
      : "another layer is called so";
  reportBuilder.losses.add(
    "layer-renamed",
    name,
    undefined,
    1,
    `the layer "${requestedName}" became "${name}", since ${why}`,
  );
}

/** Who reads the output takes its coordinates for longitude and latitude, and --no-reproject left them what they were. */
function noteUndeclaredCrs(
  { reportBuilder, writer, request }: ConversionContext,
  layer: string,
  crs: Crs | null,
): void {
  if (request.reproject !== false || crs === null || writer.capabilities.crs === "any" || isWgs84(crs)) return;
  const example = `the coordinates are in ${crs.id ?? crs.name}, and ${writer.format.label} says longitude and latitude in WGS 84 of all that it holds; leave --no-reproject away, or choose another format`;
  reportBuilder.losses.add("crs-undeclared", layer, undefined, 1, example);
}

/** A mistyped name would leave the layer that was meant as it was. */
function noteAddedLayer({ reportBuilder }: ConversionContext, layer: string, there: readonly LayerInfo[]): void {
  const more = there.length > maxListedNames ? ` and ${there.length - maxListedNames} more` : "";
  const names = `${there
    .slice(0, maxListedNames)
    .map(({ name }) => `"${name}"`)
    .join(", ")}${more}`;
  const example = `--replace-layer found no layer "${layer}" to replace and added it; there ${there.length === 1 ? "is" : "are"} ${names}`;
  if (there.length > 0) reportBuilder.notices.add("layer-added", layer, undefined, 1, example);
}

function geometryConflictError(path: string, fit: FitPlan): Error {
  const kinds = fit.parts.map((part) => part.suffix).join(", ");
  const reason = `${fit.targetName} holds one kind of geometry a file, and with what is appended there would be ${kinds}`;
  return createError("unsupported", { source: path, reason });
}

/** What the writer's limits ask of every geometry before the layer is summed up. */
function writerStages({ writer, request }: ConversionContext, crs: Crs | null): StageSpec[] {
  const { geometryTypes, onePointLines = false, degreesOnly = false, z } = writer.capabilities;
  const stages: StageSpec[] = [];
  if (degreesOnly && request.reproject === false)
    stages.push({ name: "check-coordinates", settings: { mode: "wgs84", untouched: crs !== null && !isWgs84(crs) } });
  // Before collections are merged, for what is left of them.
  stages.push({ name: "drop-degenerate", settings: { shortLines: onePointLines, z } });
  if (!geometryTypes.includes("GeometryCollection")) stages.push({ name: "merge-collections", settings: {} });
  return stages;
}

/** The CRS that the output says: what the layers have in common, if the format can hold it. */
function writableCrs(writer: ChosenWriter, target: Crs | null, all: readonly (Crs | null)[]): Crs | null {
  const first = all[0] ?? null;
  const alike = all.every((crs) => crs === first || (crs !== null && first !== null && isSameCrs(crs, first)));
  if (!alike && target === null && all.every((crs) => crs !== null)) {
    const names = [...new Set(all.map((crs) => crs?.id ?? crs?.name))].join(" and ");
    throw createError("usage", {
      reason: `--no-reproject would put coordinates in ${names} into one layer; leave it away, or write to a folder, where each input has a file of its own`,
    });
  }
  const common = alike ? first : null;
  if (common === null || writer.capabilities.crs === "any" || isWgs84(common)) return common;
  if (target === null) return null;
  throw createError("crs-not-writable", { format: writer.format.id, crs: common.id ?? common.name });
}

/** That a name is too long shows; that another one stands in its way, in other letters, does not. */
function explainRename(source: string, fit: FitPlan): string {
  const twin = fit.fields?.find(({ name }) => name !== source && name.toLowerCase() === source.toLowerCase());
  return twin ? `, since ${fit.targetName} takes it and "${twin.name}" for one` : "";
}

/** Tells what a plan changes about names and ids. */
function reportFit({ reportBuilder: { losses, notices } }: ConversionContext, layer: string, fit: FitPlan): void {
  for (const { source, name } of fit.fields ?? []) {
    if (source === null) {
      const example = `${fit.targetName} has no place for these feature ids; they are in the field "${name}"`;
      notices.add("id-as-field", layer, name, 1, example);
    } else if (source !== name) {
      losses.add("field-renamed", layer, source, 1, `"${source}" became "${name}"${explainRename(source, fit)}`);
    }
  }
  if (fit.parts.length > 1) {
    const names = fit.parts.map((part) => part.suffix).join(", ");
    const example = `${fit.targetName} holds one kind of geometry a file: split into ${names}`;
    notices.add("layer-split", layer, undefined, 1, example);
  }
}
