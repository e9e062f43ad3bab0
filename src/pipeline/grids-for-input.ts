/** Which grids a conversion of an input would use. */
import type { PublishedGrid } from "../crs/grids.js";
import { crsContext } from "../crs/index.js";
import { askedCrs } from "./asked-crs.js";
import { inspect } from "./inspect.js";
import { degreesAround, neededGrids } from "./needed-grids.js";
import type { Host } from "./request.js";

export interface GridQuestion {
  readonly input: string;
  readonly sourceCrs?: string | undefined;
  /** WGS 84 where absent. */
  readonly targetCrs?: string | undefined;
}

/** What a layer lacks. */
export interface LayerGrids {
  readonly layer: string;
  /** Codes, or names, of the systems. */
  readonly from: string;
  readonly to: string;
  readonly grids: readonly PublishedGrid[];
}

/**
 * Reads the input to see where its features lie.
 * @param host grids in its folders are not missing
 * @throws crs-mistaken, and what reading the input throws
 */
export async function gridsForInput({ input, sourceCrs, targetCrs }: GridQuestion, host: Host): Promise<LayerGrids[]> {
  const target = targetCrs === undefined ? crsContext.wgs84 : await askedCrs("--target-crs", targetCrs);
  const request = { inputs: [input], ...(sourceCrs === undefined ? {} : { sourceCrs }) };
  const found: LayerGrids[] = [];
  for (const { layer, crs, extent } of (await inspect(request, host, false)).layers) {
    const source = crs ?? crsContext.wgs84;
    const options = { gridFolders: host.grids?.folders ?? [] };
    const grids = await neededGrids(source, target, await degreesAround(source, extent), options);
    found.push({ layer, from: source.id ?? source.name, to: target.id ?? target.name, grids });
  }
  return found;
}
