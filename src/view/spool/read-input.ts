/** Reads an input through the pipeline into temporary files. */
import { join } from "node:path";
import { describePlace } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { readTextLines } from "../../io/input/text-lines.js";
import type { Feature } from "../../model/batch.js";
import type { Crs, LayerInfo } from "../../model/layer.js";
import { packFeatures } from "../../model/pack-features.js";
import { convert } from "../../pipeline/convert.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import type { Registry } from "../../plugin/registry.js";
import { noLevel } from "../world.js";
import { SpooledLayer } from "./spooled-layer.js";
import { createViewFormat, encodeViewChunk, type OpenConsumer, type ViewChunk, viewFormatId } from "./view-format.js";

export type ViewRequest = Omit<ConvertRequest, "output" | "inputs" | "to" | "rejects">;

export interface ReadLayer {
  readonly layer: SpooledLayer;
  /** As the source declares it, or the request names it. */
  readonly crs: Crs | null;
  /** Name of the format. */
  readonly format: string;
}

export interface ReadInput {
  readonly layers: readonly ReadLayer[];
  /** Features that could not be read or transformed, with reasons; null if there are none. */
  readonly rejects: SpooledLayer | null;
  readonly report: ConvertReport;
}

/** The format of temporary files beside those of the host. */
export function withViewFormat(registry: Registry, open?: OpenConsumer): Registry {
  const copy = registry.copy();
  copy.add(createViewFormat(open), "#view-format");
  return copy;
}

/** The chunk of features that are not on the map. */
const withoutPlace = (chunk: ViewChunk): ViewChunk => {
  chunk.shapes.levels.fill(noLevel);
  return chunk;
};

/**
 * @param isOnMap whether coordinates become longitude and latitude; otherwise features are not on the map
 * @throws errors of `convert`
 */
export async function readInput(
  request: ViewRequest,
  input: string,
  isOnMap: boolean,
  host: Host,
  spool: Spool,
): Promise<ReadInput> {
  const layers: SpooledLayer[] = [];
  let opened: readonly LayerInfo[] = [];
  let formats: readonly string[] = [];
  const registry = withViewFormat(host.registry, (targets) => {
    for (const { name, fields } of targets) layers.push(new SpooledLayer(spool.folder(), name, fields));
    return (chunk, layer) => layers[layer]!.add(isOnMap ? chunk : withoutPlace(chunk));
  });
  const onLayers: NonNullable<Host["onLayers"]> = (infos, ids) => {
    opened = infos;
    formats = ids;
  };
  const rejects = join(spool.folder(), "rejects.geojsonl");
  const output = join(spool.folder(), `layers.${viewFormatId}`);
  const base = { ...request, inputs: [input], output, to: viewFormatId, rejects, allowEmpty: true };
  const full = isOnMap ? base : { ...base, reproject: false };
  const report = await convert(full, { ...host, registry, onLayers });
  for (const layer of layers) layer.finish();
  return {
    layers: layers.map((layer, at) => ({
      layer,
      crs: opened[at]?.crs ?? null,
      format: host.registry.get(formats[at]!).label,
    })),
    rejects: report.rejected > 0 ? await readRejects(rejects, spool) : null,
    report,
  };
}

interface RejectLine extends Feature {
  readonly reject: {
    readonly code: string;
    readonly reason: string;
    readonly layer: string;
    readonly record?: number;
    readonly line?: number;
    readonly text?: string;
    readonly kept?: boolean;
  };
}

const rowsOfBatch = 1000;

/** Rejected features as a table. Their positions are not on the map: most have none that can be. */
async function readRejects(path: string, spool: Spool): Promise<SpooledLayer> {
  const layer = new SpooledLayer(spool.folder(), "Rejects", null);
  let features: Feature[] = [];
  const flush = () => {
    if (features.length > 0) layer.add(encodeViewChunk(packFeatures(features, 1)));
    features = [];
  };
  for await (const lines of readTextLines(path))
    for (const { text } of lines) {
      features.push(rejectFeature(JSON.parse(text) as RejectLine));
      if (features.length === rowsOfBatch) flush();
    }
  flush();
  layer.finish();
  return layer;
}

function rejectFeature({ reject, properties }: RejectLine): Feature {
  const { code, reason, layer, text, kept, ...place } = reject;
  const own = {
    reason,
    place: describePlace(place),
    layer,
    code,
    kept: kept ? "without its geometry" : "no",
    ...(text === undefined ? {} : { text }),
  };
  return { type: "Feature", geometry: null, properties: { ...own, ...renamed(properties, own) } };
}

/** Properties of the feature that have the name of one about the rejection get another. */
function renamed(properties: Feature["properties"], own: object): Record<string, unknown> {
  const names = Object.entries(properties).map(([name, value]) => [
    Object.hasOwn(own, name) ? `${name} *` : name,
    value,
  ]);
  return Object.fromEntries(names) as Record<string, unknown>;
}
