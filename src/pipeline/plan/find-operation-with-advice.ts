/** Finds the operation of a conversion; an error always contains advice that works. */
import { findOperation, type Operation, type OperationOptions } from "../../crs/index.js";
import { createError, GeoferryError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";

const noReprojectHint =
  "--no-reproject copies the coordinates unchanged into a format that declares any reference system (GeoPackage, Shapefile); local and geocentric systems only CSV declares, the others hold such coordinates without a system if --source-crs is omitted";

/** @throws crs-no-operation */
export async function findOperationWithAdvice(from: Crs, to: Crs, options: OperationOptions): Promise<Operation> {
  try {
    return await findOperation(from, to, options);
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "crs-no-operation") throw error;
    const details = error.details as { from: string; to: string; reason: string; better?: readonly object[] };
    // The reason already names an option, or a command that downloads a grid.
    if (/ --[a-z]|geoferry /.test(details.reason)) throw error;
    throw createError("crs-no-operation", { ...details, reason: `${details.reason}; ${noReprojectHint}` }, error);
  }
}
