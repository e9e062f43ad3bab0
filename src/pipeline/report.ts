import type { Loss } from "../model/report.js";
import { Tally } from "../model/report.js";
import type { Findings } from "./context.js";

export interface OutputReport {
  readonly path: string;
  readonly layer: string;
  readonly features: number;
  /** "EPSG:4326", or what the coordinates are called; null where nothing is claimed. */
  readonly crs: string | null;
}

/** What a conversion did. */
export interface ConvertReport {
  readonly inputs: readonly string[];
  readonly outputs: readonly OutputReport[];
  /** Features read; those filtered out and rejected are among them. */
  readonly read: number;
  readonly written: number;
  readonly rejected: number;
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** The file with the rejected features, where there is one. */
  readonly rejects: string | null;
  /** True where `--update` found nothing to do. */
  readonly upToDate: boolean;
}

/** Gathers what every thread found. */
export class Gathered {
  readonly losses = new Tally();
  readonly notices = new Tally();
  read = 0;
  rejected = 0;

  add(findings: Pick<Findings, "losses" | "notices">): void {
    this.losses.merge(findings.losses);
    this.notices.merge(findings.notices);
  }
}

/** "text-cut: name (12 values): …" */
export function describeLoss(loss: Loss): string {
  const where = loss.field === undefined ? "" : ` ${loss.field}`;
  return `${loss.code}${where} (${loss.count}): ${loss.example}`;
}
