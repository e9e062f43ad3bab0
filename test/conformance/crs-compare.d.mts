import type * as Engine from "./crs-engine.js";

export type Verdict = "agree" | "own way" | "partly" | "close" | "off" | "refused" | "grid" | "ballpark" | "none";

export interface Compared {
  readonly id: string;
  readonly method: string;
  readonly verdict: Verdict;
  /** Metres. */
  readonly worst: number;
  readonly why?: string;
}

export interface ProjReference {
  ask(request: object): Promise<unknown>;
  close(): void;
}

export function systems(engine: typeof Engine, authority: "EPSG" | "ESRI"): { id: string; deprecated: boolean }[];
export function projReference(): ProjReference;
export function compareSystem(
  engine: typeof Engine,
  proj: ProjReference,
  id: string,
  points?: number,
): Promise<Compared>;
export function bundledEngine(): Promise<{ engine: typeof Engine; remove(): void }>;
