/** What goes wrong with stores of objects: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

export const bucketErrors = {
  "bucket-forbidden": defineError<{ address: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.address}: the store refuses it: ${e.reason}; check the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the role of the machine) and what they may do`,
  ),
  "bucket-unavailable": defineError<{ address: string; reason: string }>(
    "unavailable",
    (e) =>
      `${e.address}: the store cannot be reached now: ${e.reason}; try again later, or check AWS_ENDPOINT_URL_S3 and AWS_REGION`,
  ),
  "bucket-settings": defineError<{ address: string; reason: string }>("usage", (e) => `${e.address}: ${e.reason}`),
  "input-changed": defineError<{ source: string }>(
    "unavailable",
    (e) => `${e.source}: was changed while it was read, and what was read may be of two versions; run it again`,
  ),
  "output-not-restored": defineError<{ output: string; reason: string; kept: readonly string[] }>(
    "output",
    (e) =>
      `${e.output}: was not replaced, and what was there could not be put back: ${e.reason}; it is kept as ${e.kept.join(", ")}: run it again with --overwrite, or copy that back`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
