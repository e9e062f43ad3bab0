/** Statistics and checks of the features of a view, from its temporary files. */
import { join } from "node:path";
import { crsContext } from "../../crs/index.js";
import type { Spool } from "../../io/input/spool.js";
import type { Feature } from "../../model/batch.js";
import { packFeatures } from "../../model/pack-features.js";
import type { Reject } from "../../model/report.js";
import { inspect } from "../../pipeline/inspect.js";
import type { Host } from "../../pipeline/request.js";
import type { LayerAnalysis } from "../protocol.js";
import { withViewFormat } from "./read-input.js";
import { SpooledLayer } from "./spooled-layer.js";
import { encodeViewChunk, viewFormatId } from "./view-format.js";

export interface AnalyzedLayer {
  readonly analysis: LayerAnalysis;
  readonly problems: readonly Reject[];
}

/**
 * The same as `info --stats` and `check`.
 * @param isOnMap whether the coordinates are longitude and latitude; others are not checked
 * @throws interrupted
 */
export async function analyzeLayer(
  layer: SpooledLayer,
  isOnMap: boolean,
  workers: number | undefined,
  host: Host,
  spool: Spool,
): Promise<AnalyzedLayer> {
  const manifest = join(spool.folder(), `layer.${viewFormatId}`);
  layer.writeManifest(manifest, isOnMap ? crsContext.wgs84 : null);
  const { onProgress: _, ...quiet } = host;
  const { layers } = await inspect(
    { inputs: [manifest], from: viewFormatId, statistics: true, ...(workers === undefined ? {} : { workers }) },
    { ...quiet, registry: withViewFormat(host.registry), displayNames: new Map([[manifest, layer.name]]) },
    isOnMap,
  );
  const { statistics, warnings, problems } = layers[0]!;
  return {
    analysis: {
      fields: statistics?.fields ?? [],
      geometry: statistics?.geometry ?? null,
      warnings: isOnMap ? warnings : [],
      problems: problems.length,
    },
    problems,
  };
}

const rowsOfBatch = 1000;

/** The features with a problem, each at its place, with what the check found; null if there are none. */
export function problemLayer(
  found: readonly { readonly layer: SpooledLayer; readonly problems: readonly Reject[] }[],
  spool: Spool,
): SpooledLayer | null {
  if (found.every(({ problems }) => problems.length === 0)) return null;
  const all = new SpooledLayer(spool.folder(), "Problems", null);
  let features: Feature[] = [];
  const flush = () => {
    if (features.length > 0) all.add(encodeViewChunk(packFeatures(features, 1)));
    features = [];
  };
  for (const { layer, problems } of found) {
    for (const { code, reason, place } of problems) {
      const row = (place.record ?? 1) - 1;
      const properties = { reason, layer: layer.name, feature: row + 1, code };
      features.push({ type: "Feature", geometry: layer.geometry(row), properties });
      if (features.length === rowsOfBatch) flush();
    }
  }
  flush();
  all.finish();
  return all;
}
