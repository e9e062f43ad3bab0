/** Advice for a source without a CRS whose eastings start with a zone number. */
import { zoneAdviceFor } from "../../crs/index.js";
import { createError, GeoferryError, type Place } from "../../errors.js";
import { failedInput, recordFailedInput } from "../input/failed-input.js";

/** Returns the error, with the names of the matching reference systems if there are any. */
export async function withUtmZoneAdvice(error: unknown): Promise<unknown> {
  if (!(error instanceof GeoferryError) || error.code !== "crs-missing") return error;
  const { source, place, reason, position } = error.details as {
    readonly source: string;
    readonly place?: Place;
    readonly reason: string;
    readonly position?: readonly [number, number];
  };
  const advice = position ? await zoneAdviceFor(...position) : "";
  if (advice === "") return error;
  const advised = createError(
    "crs-missing",
    { source, ...(place && { place }), reason: `${reason}; ${advice}` },
    error,
  );
  const input = failedInput(error);
  if (input !== undefined) recordFailedInput(advised, input);
  return advised;
}
