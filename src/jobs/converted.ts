/** What a job keeps of a conversion that was done. */
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest } from "../pipeline/request.js";
import type { Registry } from "../plugin/registry.js";
import { filesWritten, outputStampOf } from "./fingerprint.js";
import type { Written } from "./job-state.js";

export interface Converted {
  readonly upToDate: boolean;
  readonly read: number;
  readonly written: number;
  readonly rejected: number;
  /** Stretches of the inputs that were given up. */
  readonly gaps: number;
  /** Every file that it became, with its stamp. */
  readonly files: Written["files"];
}

/** As soon as the outputs have their names. */
export function convertedOf(report: ConvertReport, { append }: ConvertRequest, registry: Registry): Converted {
  const mains = [...new Set(report.outputs.map(({ path }) => path))];
  // What others add to is known by its name.
  const paths = append ? mains : mains.flatMap((path) => filesWritten(path, registry));
  return withFiles(
    report,
    paths.map((path) => ({ path, stamp: outputStampOf(path) ?? "" })),
  );
}

export function withFiles(
  { upToDate, read, written, rejected, gaps }: ConvertReport,
  files: Written["files"],
): Converted {
  return { upToDate, read, written, rejected, gaps: gaps.length, files };
}
