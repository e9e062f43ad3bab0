import type { ErrorKind } from "../../errors.js";
import type { Step } from "../job.js";

/** Errors that a retry may resolve. */
export const transientKinds: readonly ErrorKind[] = ["unavailable", "locked", "unknown-outcome"];

/** An append whose outcome is unknown is not retried, since it might add the same features twice. */
export const isRepeatable = (step: Step, kind: ErrorKind): boolean =>
  transientKinds.includes(kind) && !(step.kind === "sync" && step.request.mode === "append" && kind !== "locked");
