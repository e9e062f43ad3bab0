/** What a job keeps of a conversion that was done. */
import { isBucketAddress } from "../io/s3-address.js";
import type { Unnamed } from "../io/unnamed.js";
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

/**
 * As soon as the outputs have their names.
 * @param committed what was told before they had them: of objects in a bucket all that is to be known
 */
export function convertedOf(
  report: ConvertReport,
  { append, output }: ConvertRequest,
  registry: Registry,
  committed: Written["files"] = [],
): Converted {
  const mains = [...new Set(report.outputs.map(({ path }) => path))];
  if (isBucketAddress(output))
    return withFiles(report, append ? committed.filter(({ path }) => mains.includes(path)) : committed);
  // What others add to is known by its name.
  const paths = append ? mains : mains.flatMap((path) => filesWritten(path, registry));
  return withFiles(
    report,
    paths.map((path) => ({ path, stamp: outputStampOf(path) ?? "" })),
  );
}

/** Files that are whole and have no names yet, by those that they get. */
export const stampedFiles = (files: readonly Unnamed[]): Written["files"] =>
  files.map(({ path, final, stamp }) => ({ path: final, stamp: stamp ?? outputStampOf(path) ?? "" }));

export function withFiles(
  { upToDate, read, written, rejected, gaps }: ConvertReport,
  files: Written["files"],
): Converted {
  return { upToDate, read, written, rejected, gaps: gaps.length, files };
}
