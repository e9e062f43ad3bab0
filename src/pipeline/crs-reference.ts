/** The description of a layer's coordinate reference system in reports. */
import {
  type CrsDescription,
  crsContext,
  defaultAccuracyLimit,
  describeCrs,
  geographicBox,
  type Operation,
  type OperationOptions,
} from "../crs/index.js";
import { GeoferryError } from "../errors.js";
import type { Extent } from "../model/geometry.js";
import type { Crs } from "../model/layer.js";
import { findOperationWithAdvice } from "./plan/find-operation-with-advice.js";
import { type OperationReport, operationReport } from "./report.js";
import type { Host } from "./request.js";

export interface CrsReference extends CrsDescription {
  /** The operation that transforms coordinates to WGS 84, or why there is none. */
  readonly toWgs84:
    | Omit<OperationReport, "layer" | "used">
    | { readonly error: string; readonly better: OperationReport["better"] };
}

interface OperationChoice {
  readonly accuracy?: number | undefined;
  readonly grids?: readonly string[] | undefined;
}

async function operationOptions(
  crs: Crs,
  { accuracy = defaultAccuracyLimit, grids = [] }: OperationChoice,
  host: Pick<Host, "grids">,
  extent: Extent | null,
): Promise<OperationOptions> {
  const within = extent === null ? null : await geographicBox(crs, extent).catch(() => null);
  return { accuracy, grids, gridFolders: host.grids?.folders ?? [], ...(within === null ? {} : { within }) };
}

/** The operation with which a conversion transforms coordinates to WGS 84; null if there is none. */
export async function operationToWgs84(
  crs: Crs,
  choice: OperationChoice,
  host: Pick<Host, "grids">,
  extent: Extent | null,
): Promise<Operation | null> {
  try {
    return await findOperationWithAdvice(crs, crsContext.wgs84, await operationOptions(crs, choice, host, extent));
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "crs-no-operation") return null;
    throw error;
  }
}

/**
 * @param extent of the features in coordinates of the system, for choosing the operation; null if unknown
 * @throws grid-missing
 */
export async function describeReference(
  crs: Crs,
  choice: OperationChoice,
  host: Pick<Host, "grids">,
  extent: Extent | null,
): Promise<CrsReference> {
  const options = await operationOptions(crs, choice, host, extent);
  return { ...(await describeCrs(crs)), toWgs84: await toWgs84(crs, options) };
}

async function toWgs84(crs: Crs, options: OperationOptions): Promise<CrsReference["toWgs84"]> {
  try {
    const {
      layer: _,
      used: _u,
      ...operation
    } = operationReport("", await findOperationWithAdvice(crs, crsContext.wgs84, options));
    return operation;
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "crs-no-operation") {
      const { better = [] } = error.details as Partial<Pick<OperationReport, "better">>;
      return { error: error.message, better };
    }
    throw error;
  }
}
