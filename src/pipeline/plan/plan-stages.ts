/** Which stages stand between a layer and its output: plain data, from the request and the layer's CRS. */
import {
  type Area,
  crsContext,
  describeCrs,
  geographicBox,
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
import { findOperationWithAdvice } from "./find-operation.js";
import { isSameCrs } from "./in-place-update.js";
import { parseCrsOption } from "./parse-crs-option.js";

/** What a layer becomes on its way. */
export interface StagePlan {
  readonly stages: readonly StageSpec[];
  /** What the coordinates are in afterwards; null where nothing is claimed. */
  readonly crs: Crs | null;
  /** The source says no CRS and longitude/latitude is taken for granted as long as all coordinates fit. */
  readonly isCrsAssumed: boolean;
}

/** The grids of the machine, for a layer. */
export interface ReprojectionGrids {
  /** Folders that are searched after the grids that the request names. */
  readonly folders: readonly string[];
  /** Puts there what a reprojection of the layer lacks; absent where nothing is downloaded. */
  fetchMissing?(from: Crs, to: Crs, options: OperationOptions): Promise<void>;
}

/** The CRS that the output should have; null where coordinates are carried untouched. */
export async function targetCrs(request: ConvertRequest): Promise<Crs | null> {
  if (request.reproject === false) return null;
  return request.targetCrs === undefined ? crsContext.wgs84 : parseCrsOption("--target-crs", request.targetCrs);
}

/** @throws crs-unknown, crs-option-invalid, crs-no-operation, option-invalid */
export async function planStages(
  open: OpenLayer,
  request: ConvertRequest,
  target: Crs | null,
  gathered: ReportBuilder,
  grids: ReprojectionGrids,
): Promise<StagePlan> {
  if (open.isExisting) return { stages: [], crs: target ?? open.layer.crs, isCrsAssumed: false };
  const stages: StageSpec[] = [];
  const add = (name: string, settings: Record<string, unknown>) => stages.push({ name, settings });

  if (open.fid !== undefined) add("ids-to-field", { name: open.fid });
  if (request.where !== undefined) add("where", { expression: request.where });
  if (request.select) add("select", { fields: request.select });
  if (request.cast) add("cast", { map: request.cast });
  if (request.rename) add("rename", { map: request.rename });
  if (request.swapXy) add("swap-xy", {});
  const crs = await planCrs(open, request, target, gathered, grids, add);
  if (request.makeValid) {
    // A part of one position would make the whole geometry one that cannot be repaired.
    add("drop-degenerate", { shortLines: false });
    add("make-valid", {});
  }
  if (request.geometryType !== undefined) add("geometry-type", { type: request.geometryType });
  if (request.bbox) add("bbox", { box: checkBbox(request.bbox, crs.crs) });
  return { stages, ...crs };
}

/** Only longitudes run round the globe. @throws option-invalid */
export function checkBbox(
  box: NonNullable<ConvertRequest["bbox"]>,
  crs: Crs | null,
): NonNullable<ConvertRequest["bbox"]> {
  if (box[0] <= box[2] || crs === null || crs.kind === "geographic") return box;
  const expected = `least x before greatest x, as ${crs.id ?? crs.name} is not in longitude and latitude`;
  throw createError("option-invalid", { option: "--bbox", value: box.join(","), expected });
}

async function planCrs(
  open: OpenLayer,
  request: ConvertRequest,
  target: Crs | null,
  gathered: ReportBuilder,
  grids: ReprojectionGrids,
  add: (name: string, settings: Record<string, unknown>) => void,
): Promise<Pick<StagePlan, "crs" | "isCrsAssumed">> {
  const said =
    request.sourceCrs === undefined ? open.layer.crs : await parseCrsOption("--source-crs", request.sourceCrs);
  if (said !== null && open.layer.crs !== null && said !== open.layer.crs && !(await isSameCrs(said, open.layer.crs))) {
    const [given, own] = [said, open.layer.crs].map((crs) => crs.id ?? crs.name);
    const example = `the input is in ${own} by its own account, and was taken to be in ${given}, as --source-crs asks`;
    gathered.notices.add("crs-overridden", open.layer.name, undefined, 1, example);
  }
  if (target === null) return { crs: said, isCrsAssumed: false };
  const unknown = said === null ? unknownCrsError(open) : null;
  if (unknown !== null) throw unknown;
  const source = said ?? crsContext.wgs84;
  if (said === null) {
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
  gathered.planOperation(open.layer.name, operation);
  const area = await areaCheckSettings(source);
  if (area !== null) add("check-area", area);
  const untouched = operation.kind === "identity";
  const targetArea = untouched ? null : await areaCheckSettings(target);
  if (targetArea !== null) add("check-area", { ...targetArea, crs: source, target });
  if (!untouched) add("reproject", { operation: await shareGrids(operation) });
  if (said !== null || !untouched) {
    const stated = request.sourceCrs !== undefined;
    add("check-coordinates", { mode: isWgs84(target) ? "wgs84" : "finite", ...(stated && { stated }) });
  }
  return { crs: target, isCrsAssumed: said === null };
}

/** What a source is refused for that names a reference system which no one understands; null where it names none. */
export function unknownCrsError({ context: { unknownCrs }, layer, source }: OpenLayer): GeoferryError | null {
  if (unknownCrs === null || layer.geometryTypes?.length === 0) return null;
  const reason = `${source.name} names it, and --no-reproject copies coordinates unchanged`;
  return createError("crs-unknown", { text: unknownCrs.replace(/\s+/g, " ").slice(0, 120), reason });
}

/** Where the source says that its features lie; nothing where it does not say, or its coordinates are to be swapped. */
async function declaredArea(open: OpenLayer, request: ConvertRequest, crs: Crs): Promise<{ within?: Area }> {
  const { extent } = open.layer;
  const within = extent === null || request.swapXy ? null : await geographicBox(crs, extent);
  return within === null ? {} : { within };
}

/** What the stage `check-area` is told; null where there is nothing to check. */
export async function areaCheckSettings(crs: Crs): Promise<Record<string, unknown> | null> {
  if (isWgs84(crs)) return null;
  const { area, areaName } = await describeCrs(crs);
  return area === null || (area[2] - area[0] >= 360 && area[3] - area[1] >= 180) ? null : { crs, area, areaName };
}

/** The fields of the source that the request speaks of. */
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

/** Names in the request are held against the fields of all layers that go into one, where each declares them. */
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

/** @param fields those that are there */
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
