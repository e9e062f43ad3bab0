/** Refuses inputs without any geometry if the request has options about coordinates. */
import { createError } from "../../errors.js";
import type { Loss } from "../../model/report.js";
import type { ConvertRequest } from "../request.js";
import { recordFailedInput } from "./failed-input.js";
import type { OpenLayer } from "./open-inputs.js";

type GeometrySettings = Pick<ConvertRequest, "sourceCrs" | "swapXy">;

const usedGeometryOption = ({ sourceCrs, swapXy }: GeometrySettings): string | null =>
  sourceCrs !== undefined ? "--source-crs" : swapXy ? "--swap-xy" : null;

/** The layers of each input, without those of the existing output. */
function groupBySource(layers: readonly OpenLayer[]): Map<string, OpenLayer[]> {
  const sources = new Map<string, OpenLayer[]>();
  for (const open of layers) {
    if (open.isExisting) continue;
    const known = sources.get(open.source.name);
    if (known) known.push(open);
    else sources.set(open.source.name, [open]);
  }
  return sources;
}

function geometryMissingError(
  source: string,
  option: string,
  layers: readonly OpenLayer[],
  reason: string | null = null,
): Error {
  const candidates = layers.flatMap(({ layer }) => layer.likelyCoordinateFields ?? []);
  // Only readers that suggest coordinate columns have options that choose them.
  const tables = layers.filter(({ layer }) => layer.likelyCoordinateFields !== undefined);
  const fields = tables.flatMap(({ layer }) => (layer.fields ?? []).map(({ name }) => name));
  const uncalculated = layers.flatMap(({ layer }) => layer.uncalculatedCoordinates ?? []).slice(0, 2);
  const error = createError("geometry-missing", { source, option, candidates, fields, reason, uncalculated });
  recordFailedInput(error, layers[0]!.address);
  return error;
}

/** Why a conversion would refuse a layer without any geometry; null if it would not. */
export function explainMissingGeometry(open: OpenLayer, request: GeometrySettings): string | null {
  const option = usedGeometryOption(request);
  if (option === null) return null;
  const { name } = open.source;
  return geometryMissingError(name, option, [open]).message.replace(`${name}: `, "");
}

/** Before reading: refuses an input whose layers are all declared without geometry. @throws geometry-missing */
export function checkGeometryDeclared(layers: readonly OpenLayer[], request: GeometrySettings): void {
  const option = usedGeometryOption(request);
  if (option === null) return;
  for (const [source, opened] of groupBySource(layers)) {
    const isBare = ({ layer }: OpenLayer) => layer.geometryTypes?.length === 0 && layer.featureCount !== 0;
    if (opened.every(isBare)) throw geometryMissingError(source, option, opened);
  }
}

/** The number of written features, and of those with a geometry. */
export interface GeometryCounts {
  features: number;
  withGeometry: number;
  /** Why the first feature lost its geometry. */
  reason?: string;
}

/**
 * After reading: refuses an input of which no feature has a geometry.
 * @param notices of the conversion; an advice about the UTM zone is added to the reason
 * @throws geometry-missing
 */
export function checkGeometryFound(
  layers: readonly OpenLayer[],
  counts: ReadonlyMap<OpenLayer, GeometryCounts>,
  request: GeometrySettings,
  notices: readonly Loss[],
): void {
  const option = usedGeometryOption(request);
  if (option === null) return;
  for (const [source, opened] of groupBySource(layers)) {
    const sum = (of: "features" | "withGeometry") =>
      opened.reduce((total, open) => total + (counts.get(open)?.[of] ?? 0), 0);
    if (sum("features") === 0 || sum("withGeometry") > 0) continue;
    const reason = opened.map((open) => counts.get(open)?.reason).find((one) => one !== undefined);
    const names = new Set(opened.map(({ layer }) => layer.name));
    const advice = notices.find(({ code, layer }) => code === "zone-prefix" && names.has(layer))?.example;
    throw geometryMissingError(source, option, opened, reason && advice ? `${reason}; ${advice}` : reason);
  }
}
