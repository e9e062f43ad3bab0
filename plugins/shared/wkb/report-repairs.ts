import type { PluginContext } from "../../../src/plugin/index.js";
import { nonFinitePositionMessage } from "./cursor.js";

/** Number of repairs by `WkbReader`. */
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
  if (closedRings > 0)
    context.reportNotice(
      "ring-closed",
      undefined,
      "a ring was not closed; its first position was repeated",
      closedRings,
    );
  if (curves > 0)
    context.reportLoss("curve-linearized", undefined, "arcs were linearized with one position every 4 degrees", curves);
}
