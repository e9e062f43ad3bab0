/** Plans the stages between a layer and its output, as plain data, from the request and the layer's CRS. */
import {
  type Area,
  crsContext,
  describeCrs,
  geographicBox,
  isSameCrs,
  isWgs84,
  type OperationOptions,
  shareGrids,
} from "../../crs/index.js";
import { createError, type GeoferryError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";
import { fieldsMeantAsValues, referencedFields } from "../../stages/index.js";
import type { StageSpec } from "../../stages/stage.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { accuracyLimit, type ReportBuilder } from "../report.js";
import type { ConvertRequest } from "../request.js";
import { findOperationWithAdvice } from "./find-operation-with-advice.js";
import { parseCrsOption } from "./parse-crs-option.js";

/** The stages of a layer and the CRS of their result. */
export interface StagePlan {
  readonly stages: readonly StageSpec[];
  /** The CRS of the coordinates after the stages; null if unknown. */
  readonly crs: Crs | null;
  /** The source declares no CRS; longitude and latitude are assumed as long as all coordinates are in range. */
  readonly isCrsAssumed: boolean;
}

/** The grids of the machine, for one layer. */
export interface ReprojectionGrids {
  /** Folders that are searched after the grids of the request. */
  readonly folders: readonly string[];
  /** Downloads the grids that the reprojection lacks; absent if downloads are not allowed. */
  fetchMissing?(from: Crs, to: Crs, options: OperationOptions): Promise<void>;
}

/** The requested CRS of the output; null if coordinates are copied unchanged. */
export async function targetCrs(request: ConvertRequest): Promise<Crs | null> {
  if (request.reproject === false) return null;
  return request.targetCrs === undefined ? crsContext.wgs84 : parseCrsOption("--target-crs", request.targetCrs);
}

/** @throws crs-unknown, crs-option-invalid, crs-no-operation, option-invalid */
export async function planStages(
  open: OpenLayer,
  request: ConvertRequest,
  target: Crs | null,
  reportBuilder: ReportBuilder,
  grids: ReprojectionGrids,
  continuousLongitudes: boolean,
): Promise<StagePlan> {
  if (open.isExisting)
    return { stages: existingStages(open, target), crs: target ?? open.layer.crs, isCrsAssumed: false };
  const stages: StageSpec[] = [];
  const add = (name: string, settings: Record<string, unknown>) => stages.push({ name, settings });

  stages.push(...filterStages(open, request));
  if (request.cast) add("cast", { map: request.cast });
  if (request.rename) add("rename", { map: request.rename });
  if (request.swapXy) add("swap-xy", {});
  const crs = await planCrs(open, request, target, reportBuilder, grids, continuousLongitudes, add);
  if (request.makeValid) {
    // A geometry with a degenerate part cannot be repaired.
    add("drop-degenerate", { shortLines: false });
    add("make-valid", {});
  }
  if (request.geometryType !== undefined) add("geometry-type", { type: request.geometryType });
  if (request.bbox) add("bbox", { box: checkBbox(request.bbox, crs.crs) });
  return { stages, ...crs };
}

/** The stages that choose features and fields. */
export function filterStages(
  { fid }: Pick<OpenLayer, "fid">,
  { where, select }: Pick<ConvertRequest, "where" | "select">,
): StageSpec[] {
  return [
    ...(fid === undefined ? [] : [{ name: "ids-to-field", settings: { name: fid } }]),
    ...(where === undefined ? [] : [{ name: "where", settings: { expression: where } }]),
    ...(select ? [{ name: "select", settings: { fields: select } }] : []),
  ];
}

/**
 * The stages of the features of an output that is appended to. They are copied unchanged, but only if they can be in the
 * system of the others: without a declared one, they must be degrees.
 */
function existingStages({ layer, source }: OpenLayer, target: Crs | null): StageSpec[] {
  if (target === null || layer.crs !== null) return [];
  return [{ name: "check-coordinates", settings: { mode: "assumed", source: source.name, isOutput: true } }];
}

/** Refuses a box with least x > greatest x, which only longitudes may have. @throws option-invalid */
export function checkBbox(
  box: NonNullable<ConvertRequest["bbox"]>,
  crs: Crs | null,
): NonNullable<ConvertRequest["bbox"]> {
  if (box[0] <= box[2] || crs === null || crs.kind === "geographic") return box;
  const expected = `least x before greatest x, since ${crs.id ?? crs.name} is not in longitude and latitude`;
  throw createError("option-invalid", { option: "--bbox", value: box.join(","), expected });
}

async function planCrs(
  open: OpenLayer,
  request: ConvertRequest,
  target: Crs | null,
  reportBuilder: ReportBuilder,
  grids: ReprojectionGrids,
  continuousLongitudes: boolean,
  add: (name: string, settings: Record<string, unknown>) => void,
): Promise<Pick<StagePlan, "crs" | "isCrsAssumed">> {
  const sourceCrs =
    request.sourceCrs === undefined ? open.layer.crs : await parseCrsOption("--source-crs", request.sourceCrs);
  if (
    sourceCrs !== null &&
    open.layer.crs !== null &&
    sourceCrs !== open.layer.crs &&
    !(await isSameCrs(sourceCrs, open.layer.crs))
  ) {
    const [given, own] = [sourceCrs, open.layer.crs].map((crs) => crs.id ?? crs.name);
    const example = `the input declares ${own}; --source-crs overrides it with ${given}`;
    reportBuilder.notices.add("crs-overridden", open.layer.name, undefined, 1, example);
  }
  if (target === null) return { crs: sourceCrs, isCrsAssumed: false };
  const unknown = sourceCrs === null ? unknownCrsError(open) : null;
  if (unknown !== null) throw unknown;
  const source = sourceCrs ?? crsContext.wgs84;
  if (sourceCrs === null) {
    const layer = open.isOnlyLayer ? {} : { layer: open.layer.name };
    add("check-coordinates", { mode: "assumed", source: open.source.name, ...layer });
  }
  const options = {
    accuracy: accuracyLimit(request),
    grids: request.grids ?? [],
    gridFolders: grids.folders,
    ...(await declaredArea(open, request, source)),
  };
  await grids.fetchMissing?.(source, target, options);
  const operation = await findOperationWithAdvice(source, target, options);
  reportBuilder.planOperation(open.layer.name, operation);
  const area = await areaCheckSettings(source);
  const untouched = operation.kind === "identity";
  if (area !== null) add("check-area", { ...area, swapped: request.swapXy ?? false, untransformed: untouched });
  const targetArea = untouched ? null : await areaCheckSettings(target);
  if (targetArea !== null) add("check-area", { ...targetArea, crs: source, target });
  if (!untouched) add("reproject", { operation: await shareGrids(operation), continuousLongitudes });
  if (sourceCrs !== null || !untouched) {
    const stated = request.sourceCrs !== undefined;
    const mode = isWgs84(target) ? "wgs84" : "finite";
    add("check-coordinates", { mode, continuousLongitudes, ...(stated && { stated }) });
  }
  return { crs: target, isCrsAssumed: sourceCrs === null };
}

/** The error for a source whose reference system could not be parsed; null if there is none. */
export function unknownCrsError({ context: { unknownCrs }, layer, source }: OpenLayer): GeoferryError | null {
  if (unknownCrs === null || layer.geometryTypes?.length === 0) return null;
  const reason = `${source.name} names it, and --no-reproject copies coordinates unchanged`;
  return createError("crs-unknown", { text: unknownCrs.replace(/\s+/g, " ").slice(0, 120), reason });
}

/** The declared extent of the layer in degrees; absent if it declares none, or if coordinates will be swapped. */
async function declaredArea(open: OpenLayer, request: ConvertRequest, crs: Crs): Promise<{ within?: Area }> {
  const { extent } = open.layer;
  const within = extent === null || request.swapXy ? null : await geographicBox(crs, extent);
  return within === null ? {} : { within };
}

/** The settings of the stage `check-area`; null if the CRS is valid everywhere or its area is unknown. */
export async function areaCheckSettings(crs: Crs): Promise<Record<string, unknown> | null> {
  if (isWgs84(crs)) return null;
  const { area, areaName } = await describeCrs(crs);
  return area === null || (area[2] - area[0] >= 360 && area[3] - area[1] >= 180) ? null : { crs, area, areaName };
}

/** The source fields that the request mentions. */
export function requestedFields(request: ConvertRequest): string[] {
  const conditions = request.where === undefined ? [] : referencedFields(request.where);
  return [
    ...new Set([
      ...conditions,
      ...(request.select ?? []),
      ...Object.keys(request.rename ?? {}),
      ...Object.keys(request.cast ?? {}),
    ]),
  ];
}

/** Checks that one of the layers has each requested field, if all layers declare their fields. @throws field-missing */
export function checkNames(layers: readonly OpenLayer[], request: ConvertRequest): void {
  const wanted = requestedFields(request);
  if (wanted.length === 0) return;
  const names = new Set<string>();
  for (const { layer, fid } of layers.filter((open) => !open.isExisting)) {
    if (!layer.fields) return;
    for (const field of layer.fields) names.add(field.name);
    if (fid !== undefined) names.add(fid);
  }
  for (const field of wanted) if (!names.has(field)) throw fieldMissingError(layers, request, field, [...names]);
}

/**
 * A requested field that no feature has is an error, not an empty result.
 * @param seen the fields of the features
 * @throws field-missing
 */
export function checkSeenFields(
  layers: readonly OpenLayer[],
  request: ConvertRequest,
  seen: ReadonlySet<string>,
): void {
  const wanted = requestedFields(request);
  if (wanted.length === 0) return;
  const declared = layers.flatMap((open) => [...(open.layer.fields ?? []).map((field) => field.name), open.fid]);
  for (const name of wanted) {
    if (!seen.has(name) && !declared.includes(name)) throw fieldMissingError(layers, request, name, [...seen]);
  }
}

/** @param fields the existing fields */
export function fieldMissingError(
  layers: readonly OpenLayer[],
  { where }: ConvertRequest,
  field: string,
  fields: readonly string[],
): Error {
  const source = layers.map((open) => open.source.name).join(", ");
  const asValue = where !== undefined && fieldsMeantAsValues(where).includes(field);
  return createError("field-missing", { source, field, fields, ...(asValue ? { asValue } : {}) });
}
