/** A request that speaks of coordinates, and an input that has none, is a mistake and no success. */
import { fault } from "../errors.js";
import type { Loss } from "../model/report.js";
import { blame } from "./blame.js";
import type { OpenLayer } from "./inputs.js";
import type { ConvertRequest } from "./request.js";

type Asked = Pick<ConvertRequest, "sourceCrs" | "swapXy">;

const optionOf = ({ sourceCrs, swapXy }: Asked): string | null =>
  sourceCrs !== undefined ? "--source-crs" : swapXy ? "--swap-xy" : null;

/** The layers of each input, those of what is added to left out. */
function bySource(layers: readonly OpenLayer[]): Map<string, OpenLayer[]> {
  const sources = new Map<string, OpenLayer[]>();
  for (const open of layers) {
    if (open.existing) continue;
    const known = sources.get(open.source.name);
    if (known) known.push(open);
    else sources.set(open.source.name, [open]);
  }
  return sources;
}

function missing(source: string, option: string, layers: readonly OpenLayer[], reason: string | null = null): Error {
  const candidates = layers.flatMap(({ layer }) => layer.likelyCoordinates ?? []);
  // Only readers that tell likely columns take some by options.
  const tables = layers.filter(({ layer }) => layer.likelyCoordinates !== undefined);
  const fields = tables.flatMap(({ layer }) => (layer.fields ?? []).map(({ name }) => name));
  const error = fault("geometry-missing", { source, option, candidates, fields, reason });
  blame(error, layers[0]!.address);
  return error;
}

/** What a conversion would refuse a layer for that was read without one geometry; null where it would not. */
export function geometryMissing(open: OpenLayer, request: Asked): string | null {
  const option = optionOf(request);
  if (option === null) return null;
  const { name } = open.source;
  return missing(name, option, [open]).message.replace(`${name}: `, "");
}

/** Before anything is read: an input all of whose layers are tables without geometry. @throws geometry-missing */
export function checkGeometryDeclared(layers: readonly OpenLayer[], request: Asked): void {
  const option = optionOf(request);
  if (option === null) return;
  for (const [source, opened] of bySource(layers)) {
    const isBare = ({ layer }: OpenLayer) => layer.geometryTypes?.length === 0 && layer.featureCount !== 0;
    if (opened.every(isBare)) throw missing(source, option, opened);
  }
}

/** Features that went into outputs, and those of them that have a geometry. */
export interface Located {
  features: number;
  located: number;
  /** Why the first of the features whose geometries could not be carried has none now. */
  reason?: string;
}

/**
 * After everything was read: an input none of whose features has a geometry.
 * @param notices said of all features at once; what eastings tell belongs to the reason
 * @throws geometry-missing
 */
export function checkGeometryFound(
  layers: readonly OpenLayer[],
  counts: ReadonlyMap<OpenLayer, Located>,
  request: Asked,
  notices: readonly Loss[],
): void {
  const option = optionOf(request);
  if (option === null) return;
  for (const [source, opened] of bySource(layers)) {
    const sum = (of: "features" | "located") =>
      opened.reduce((total, open) => total + (counts.get(open)?.[of] ?? 0), 0);
    if (sum("features") === 0 || sum("located") > 0) continue;
    const reason = opened.map((open) => counts.get(open)?.reason).find((one) => one !== undefined);
    const names = new Set(opened.map(({ layer }) => layer.name));
    const advice = notices.find(({ code, layer }) => code === "zone-prefix" && names.has(layer))?.example;
    throw missing(source, option, opened, reason && advice ? `${reason}; ${advice}` : reason);
  }
}
