/** What a job keeps of a conversion that was done. */
import { isBucketAddress } from "../io/s3-address.js";
import type { Unnamed } from "../io/unnamed.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest } from "../pipeline/request.js";
import type { Registry } from "../plugin/registry.js";
import { type Findings, listsOf, noFindings } from "./findings.js";
import { filesWritten, outputStampOf } from "./fingerprint.js";
import type { Written } from "./job-state.js";

export interface Converted {
  readonly upToDate: boolean;
  readonly found: Findings;
  /** Every file that it became, with its stamp. */
  readonly files: Written["files"];
}

/** Of an output that nothing was done about. */
export const leftAsItIs: Converted = { upToDate: true, found: { counts: {}, ...noFindings }, files: [] };

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

export function withFiles(report: ConvertReport, files: Written["files"]): Converted {
  return { upToDate: report.upToDate, found: foundIn(report), files };
}

export const foundIn = ({ read, written, rejected, withoutGeometry, ...report }: ConvertReport): Findings => ({
  counts: { read, written, rejected, ...(withoutGeometry > 0 && { withoutGeometry }) },
  ...listsOf(report.losses, report.notices, report.gaps),
  ...(rejected > 0 && report.rejects !== null && { rejects: report.rejects }),
});
