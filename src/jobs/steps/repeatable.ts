import type { ErrorKind } from "../../errors.js";
import type { Step } from "../job.js";

/** Errors that a retry may resolve. */
export const transientKinds: readonly ErrorKind[] = ["unavailable", "locked", "unknown-outcome"];

/** Whether a retry might add the same features twice. */
function mayDouble(step: Step, kind: ErrorKind): boolean {
  // Files and databases are written completely or not at all, and say which; a map may have a part.
  if (step.kind === "conversion") return step.request.append === true && kind === "unknown-outcome";
  return step.request.mode === "append" && kind !== "locked";
}

export const isRepeatable = (step: Step, kind: ErrorKind): boolean =>
  transientKinds.includes(kind) && !mayDouble(step, kind);
