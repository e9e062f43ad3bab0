/** Downloads the grids that a conversion needs, if downloads are allowed. */
import type { PublishedGrid } from "../../crs/grids/index.js";
import type { OperationOptions } from "../../crs/index.js";
import type { Extent } from "../../model/geometry.js";
import { type LayerSummary, Summarizer } from "../../model/index.js";
import type { Crs } from "../../model/layer.js";
import type { ConversionContext } from "../conversion-context.js";
import { processLayer } from "../execute/process-layer.js";
import type { OpenLayer } from "../input/open-inputs.js";
import { fetchGrid, type HostGrids } from "./grid-store.js";
import { areaInDegrees, findNeededGrids, mayNeedGrids } from "./needed-grids.js";

/**
 * Downloads the missing grids for the reprojection of a layer. Scans the layer if it declares no extent and a grid might
 * improve the accuracy.
 * @returns the downloaded grids
 * @throws grid-checksum-mismatch, input-download, input-unavailable, output-failed, interrupted … and what the reader throws
 */
export async function fetchMissingGrids(
  conversion: ConversionContext,
  open: OpenLayer,
  [from, to]: readonly [Crs, Crs],
  options: OperationOptions,
  store: HostGrids,
): Promise<PublishedGrid[]> {
  const { host } = conversion;
  if (!(await mayNeedGrids(from, to, options))) return [];
  const within = await areaInDegrees(from, await extentOf(conversion, open));
  const fetched: PublishedGrid[] = [];
  for (const grid of await findNeededGrids(from, to, within, options)) {
    const onProgress = (done: number, total: number) =>
      host.onProgress?.({ done, total, features: 0, phase: "download" });
    if (await fetchGrid(grid, store, { signal: host.signal, onProgress })) fetched.push(grid);
  }
  return fetched;
}

/** The extent in the coordinates that are reprojected. */
async function extentOf(conversion: ConversionContext, open: OpenLayer): Promise<Extent | null> {
  const extent = open.layer.extent ?? (await summaryOf(conversion, open)).extent;
  if (extent === null || !conversion.request.swapXy) return extent;
  const [minX, minY, maxX, maxY] = extent;
  return [minY, minX, maxY, maxX];
}

async function summaryOf(conversion: ConversionContext, open: OpenLayer): Promise<LayerSummary> {
  const summarizer = new Summarizer(false);
  const untouched = { stages: [], crs: null, isCrsAssumed: false };
  const outcome = { kind: "summary", refinesTypes: false } as const;
  for await (const { summary } of processLayer(conversion, open, untouched, outcome, Number.POSITIVE_INFINITY)) {
    if (summary) summarizer.merge(summary);
    conversion.progress.report("scan");
  }
  // The reader reports the same findings again when the layer is converted.
  open.context.takeFindings(0);
  return summarizer.summary();
}
