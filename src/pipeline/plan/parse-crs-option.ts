import { crsContext } from "../../crs/index.js";
import { createError, GeoferryError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";

/** Parses a CRS option. An unknown CRS is a usage error, not an error of the input. @throws crs-option-invalid */
export async function parseCrsOption(option: "--source-crs" | "--target-crs", text: string): Promise<Crs> {
  try {
    return await crsContext.parse(text);
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "crs-unknown") throw error;
    const { reason } = error.details as { reason?: string };
    throw createError("crs-option-invalid", { option, text, ...(reason === undefined ? {} : { reason }) }, error);
  }
}
