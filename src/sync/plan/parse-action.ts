import { parseWithExactFeatures } from "../../remote/exact-properties.js";
import type { PlanAction } from "./plan.js";

/** Parses an action that this program has written, with exact properties (src/remote/exact-properties.ts). */
export const parseAction = (text: string): PlanAction =>
  parseWithExactFeatures(text, ["before", "feature"]) as PlanAction;
