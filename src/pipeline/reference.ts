/** What is told of the coordinate reference system of a layer. */
import { type CrsDescription, crsContext, describeCrs, findOperation, type OperationOptions } from "../crs/index.js";
import { GeoferryError } from "../errors.js";
import type { Crs } from "../model/layer.js";
import { type OperationReport, operationReport } from "./report.js";
import type { Host } from "./request.js";

export interface Reference extends CrsDescription {
  /** How coordinates become longitudes and latitudes in WGS 84. */
  readonly toWgs84:
    | Omit<OperationReport, "layer" | "used">
    | { readonly refused: string; readonly better: OperationReport["better"] };
}

/** @throws grid-missing */
export async function referenceOf(
  crs: Crs,
  {
    accuracy = 5,
    grids = [],
  }: { readonly accuracy?: number | undefined; readonly grids?: readonly string[] | undefined },
  host: Pick<Host, "grids">,
): Promise<Reference> {
  const options = { accuracy, grids, gridFolders: host.grids?.folders ?? [] };
  return { ...(await describeCrs(crs)), toWgs84: await toWgs84(crs, options) };
}

async function toWgs84(crs: Crs, options: OperationOptions): Promise<Reference["toWgs84"]> {
  try {
    const {
      layer: _,
      used: _u,
      ...operation
    } = operationReport("", await findOperation(crs, crsContext.wgs84, options));
    return operation;
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "crs-no-operation") {
      const { better = [] } = error.details as Partial<Pick<OperationReport, "better">>;
      return { refused: error.message, better };
    }
    throw error;
  }
}
