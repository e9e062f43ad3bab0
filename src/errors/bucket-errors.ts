/** Errors of object stores: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

export const bucketErrors = {
  "bucket-forbidden": defineError<{ address: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.address}: the store denies access: ${e.reason}; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the role of the machine) and their permissions`,
  ),
  "bucket-unavailable": defineError<{ address: string; reason: string }>(
    "unavailable",
    (e) =>
      `${e.address}: the store cannot be reached now: ${e.reason}; try again later, or check AWS_ENDPOINT_URL_S3 and AWS_REGION`,
  ),
  "bucket-settings": defineError<{ address: string; reason: string }>("usage", (e) => `${e.address}: ${e.reason}`),
  "input-changed": defineError<{ source: string }>(
    "unavailable",
    (e) => `${e.source}: was modified while it was read, so the features may be of two versions; run again`,
  ),
  "output-not-restored": defineError<{ output: string; reason: string; kept: readonly string[] }>(
    "output",
    (e) =>
      `${e.output}: was not replaced, and what was there could not be put back: ${e.reason}; it is kept as ${e.kept.join(", ")}: run it again with --overwrite, or copy that back`,
  ),
  "upload-outcome-unknown": defineError<{ output: string; reason: string }>(
    "unknown-outcome",
    (e) =>
      `${e.output}: the store did not confirm the upload, and does not answer whether the object was written: ${e.reason}; it is either complete or as before: look at it when the store can be reached, before running again`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
