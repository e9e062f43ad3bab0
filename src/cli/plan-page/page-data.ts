/** What the page of a plan shows, as its script reads it. */
import type { PlannedFeature } from "../../sync/plan/plan.js";

/** Classes that have a geometry to be drawn. */
export const drawnClasses = ["create", "update", "delete", "unmanaged"] as const;
export type DrawnClass = (typeof drawnClasses)[number];

type DrawnMembers = Pick<PlannedFeature, "geometry" | "properties">;

export interface PageRow {
  readonly class: DrawnClass;
  /** Its key, id or place. */
  readonly name: string;
  /** On the map now; null where it is new. */
  readonly before: DrawnMembers | null;
  /** On the map afterwards; null where it goes. */
  readonly after: DrawnMembers | null;
}
