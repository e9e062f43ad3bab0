/** Errors of web services with features as sources: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

type SourceDetails = { readonly source: string; readonly reason: string };

export const featureServiceErrors = {
  /** The service answered a request with an error that another attempt does not change. */
  "feature-service-refused": defineError<SourceDetails>(
    "input",
    (e) => `${e.source}: the service refuses a request: ${e.reason}`,
  ),
  /** `advice`: how to get access. */
  "feature-service-forbidden": defineError<SourceDetails & { advice: string }>(
    "authentication",
    (e) => `${e.source}: the service denies access: ${e.reason}; ${e.advice}`,
  ),
  "feature-service-incomplete": defineError<SourceDetails>(
    "unavailable",
    (e) =>
      `${e.source}: the service did not deliver all features: ${e.reason}; nothing was written from it; run again later, or ask the operator of the service`,
  ),
  "feature-service-changed": defineError<SourceDetails & { tries: number }>(
    "unavailable",
    (e) =>
      `${e.source}: features were changed during each of ${e.tries} attempts to read them: ${e.reason}; nothing was written from it; run again when the layer is not being edited`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
