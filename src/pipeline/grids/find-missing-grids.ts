/** Finds the grids that a conversion of an input would use and that this machine lacks. */
import type { PublishedGrid } from "../../crs/grids/index.js";
import { crsContext } from "../../crs/index.js";
import { inspect } from "../inspect.js";
import { parseCrsOption } from "../plan/parse-crs-option.js";
import type { Host } from "../request.js";
import { areaInDegrees, findNeededGrids } from "./needed-grids.js";

export interface MissingGridsRequest {
  readonly input: string;
  readonly sourceCrs?: string | undefined;
  /** By default WGS 84. */
  readonly targetCrs?: string | undefined;
}

/** The missing grids of a layer. */
export interface MissingLayerGrids {
  readonly layer: string;
  /** Codes or names of the reference systems. */
  readonly from: string;
  readonly to: string;
  readonly grids: readonly PublishedGrid[];
}

/**
 * Reads the input to find the extent of its features.
 * @param host its grid folders are searched
 * @throws crs-option-invalid, and what reading the input throws
 */
export async function findMissingGrids(
  { input, sourceCrs, targetCrs }: MissingGridsRequest,
  host: Host,
): Promise<MissingLayerGrids[]> {
  const target = targetCrs === undefined ? crsContext.wgs84 : await parseCrsOption("--target-crs", targetCrs);
  const request = { inputs: [input], ...(sourceCrs === undefined ? {} : { sourceCrs }) };
  const found: MissingLayerGrids[] = [];
  for (const { layer, crs, extent } of (await inspect(request, host, false)).layers) {
    const source = crs ?? crsContext.wgs84;
    const options = { gridFolders: host.grids?.folders ?? [] };
    const grids = await findNeededGrids(source, target, await areaInDegrees(source, extent), options);
    found.push({ layer, from: source.id ?? source.name, to: target.id ?? target.name, grids });
  }
  return found;
}
