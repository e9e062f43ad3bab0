/** What a job keeps of a conversion that was done. */

import type { StagedFile } from "../../io/output/staged-file.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import type { Registry } from "../../plugin/registry.js";
import { emptyFindings, type Findings, toFindingLists } from "../report/findings.js";
import type { OutputRecord } from "../run/job-state.js";
import { listOutputFiles, readOutputStamp } from "./source-stat.js";

export interface ConversionRecord {
  readonly upToDate: boolean;
  readonly findings: Findings;
  /** Every file that it became, with its stamp. */
  readonly files: OutputRecord["files"];
}

/** Of an output that nothing was done about. */
export const upToDateRecord: ConversionRecord = {
  upToDate: true,
  findings: { counts: {}, ...emptyFindings },
  files: [],
};

/**
 * As soon as the outputs have their names.
 * @param committed what was told before they had them: of objects in a bucket all that is to be known
 */
export function toConversionRecord(
  report: ConvertReport,
  { append, output }: ConvertRequest,
  registry: Registry,
  committed: OutputRecord["files"] = [],
): ConversionRecord {
  const mains = [...new Set(report.outputs.map(({ path }) => path))];
  if (isBucketAddress(output))
    return withFiles(report, append ? committed.filter(({ path }) => mains.includes(path)) : committed);
  // What others add to is known by its name.
  const paths = append ? mains : mains.flatMap((path) => listOutputFiles(path, registry));
  return withFiles(
    report,
    paths.map((path) => ({ path, stamp: readOutputStamp(path) ?? "" })),
  );
}

/** Files that are whole and have no names yet, by those that they get. */
export const stampFiles = (files: readonly StagedFile[]): OutputRecord["files"] =>
  files.map(({ path, finalPath, stamp }) => ({ path: finalPath, stamp: stamp ?? readOutputStamp(path) ?? "" }));

export function withFiles(report: ConvertReport, files: OutputRecord["files"]): ConversionRecord {
  return { upToDate: report.upToDate, findings: toFindings(report), files };
}

export const toFindings = ({ read, written, rejected, withoutGeometry, ...report }: ConvertReport): Findings => ({
  counts: { read, written, rejected, ...(withoutGeometry > 0 && { withoutGeometry }) },
  ...toFindingLists(report.losses, report.notices, report.skippedRanges),
  ...(rejected > 0 && report.rejects !== null && { rejects: report.rejects }),
});
