/** The data of a plan page, shared with its script. */
import type { PlannedFeature } from "../../sync/plan/plan.js";

/** Classes that the map draws. */
export const drawnClasses = ["create", "update", "delete", "unmanaged"] as const;
export type DrawnClass = (typeof drawnClasses)[number];

/** Classes of the page of a diff, which has the same map. */
export const changeClasses = ["added", "removed", "changed", "moved"] as const;
export const pageClasses = [...drawnClasses, ...changeClasses] as const;
export type PageClass = (typeof pageClasses)[number];

export type DrawnMembers = Pick<PlannedFeature, "geometry" | "properties">;

export interface PageRow<C extends PageClass = PageClass> {
  readonly class: C;
  /** Key, id or location. */
  readonly name: string;
  /** State on the map; null for a new feature. */
  readonly before: DrawnMembers | null;
  /** State after the plan; null for a deleted feature. */
  readonly after: DrawnMembers | null;
}
