import type * as Engine from "./crs-engine.js";
import type { ProjReference } from "./proj-reference.mjs";

export type Verdict = "agree" | "home" | "partly" | "close" | "off" | "refused" | "grid" | "ballpark" | "none";

export interface Compared {
  readonly id: string;
  readonly method: string;
  readonly verdict: Verdict;
  /** Metres. */
  readonly worst: number;
  readonly why?: string;
}

export function systems(engine: typeof Engine, authority: "EPSG" | "ESRI"): { id: string; deprecated: boolean }[];
export function compareSystem(
  engine: typeof Engine,
  proj: ProjReference,
  id: string,
  points?: number,
): Promise<Compared>;
export function bundledEngine(): Promise<{ engine: typeof Engine; remove(): void }>;
