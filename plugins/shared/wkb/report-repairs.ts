import type { PluginContext } from "../../../src/plugin/index.js";
import { nonFinitePositionMessage } from "./cursor.js";

/** What reading WKB had to change, counted (`WkbReader`). */
export interface WkbRepairs {
  readonly closedRings: number;
  readonly curves: number;
  readonly unreadable: number;
}

export function reportWkbRepairs(
  { closedRings, curves, unreadable }: WkbRepairs,
  context: Pick<PluginContext, "reportLoss" | "reportNotice">,
): void {
  if (unreadable > 0) context.reportNotice("part-unreadable", undefined, nonFinitePositionMessage, unreadable);
  if (closedRings > 0) context.reportNotice("ring-closed", undefined, "a ring did not end where it began", closedRings);
  if (curves > 0)
    context.reportLoss("curve-linearized", undefined, "arcs became lines of one position each 4 degrees", curves);
}
