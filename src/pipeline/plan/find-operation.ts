/** The operation of a conversion, or an error whose advice works: where no option leads from one system to the other, too. */
import { findOperation, type Operation, type OperationOptions } from "../../crs/index.js";
import { createError, GeoferryError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";

const noReprojectHint =
  "--no-reproject carries the coordinates as they are, and a format that holds any reference system (GeoPackage, Shapefile) says what they are in";

/** @throws crs-no-operation */
export async function findOperationWithAdvice(from: Crs, to: Crs, options: OperationOptions): Promise<Operation> {
  try {
    return await findOperation(from, to, options);
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "crs-no-operation") throw error;
    const details = error.details as { from: string; to: string; reason: string; better?: readonly object[] };
    // An option, or a command that gets a grid.
    if (/ --[a-z]|geoferry /.test(details.reason)) throw error;
    throw createError("crs-no-operation", { ...details, reason: `${details.reason}; ${noReprojectHint}` }, error);
  }
}
