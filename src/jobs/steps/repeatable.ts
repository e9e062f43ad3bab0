import type { ErrorKind } from "../../errors.js";
import type { Step } from "../job.js";

/** What may be otherwise when it is tried again. */
export const transientKinds: readonly ErrorKind[] = ["unavailable", "locked", "unknown-outcome"];

/** Whose outcome no one knows is not tried again where that could do it twice. */
export const isRepeatable = (step: Step, kind: ErrorKind): boolean =>
  transientKinds.includes(kind) &&
  !(step.kind === "synchronisation" && step.request.mode === "append" && kind !== "locked");
