/** What a job stores about a finished conversion. */

import type { StagedFile } from "../../io/output/staged-file.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { Extent } from "../../model/geometry.js";
import { unionExtents } from "../../model/geometry-extent.js";
import type { ConvertReport, OutputReport } from "../../pipeline/report.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import type { Registry } from "../../plugin/registry.js";
import { comparedFields, emptyFindings, type Findings, toFindingLists } from "../report/findings.js";
import type { OutputRecord } from "../run/job-state.js";
import { listOutputFiles, readOutputStamp } from "./source-stat.js";

export interface ConversionRecord {
  readonly upToDate: boolean;
  readonly findings: Findings;
  /** Output files with their stamps. */
  readonly files: OutputRecord["files"];
}

/** The record of an output that is up to date. */
export const upToDateRecord: ConversionRecord = {
  upToDate: true,
  findings: { counts: {}, ...emptyFindings },
  files: [],
};

/**
 * Call after the outputs have their final names.
 * @param committed files as reported before the rename; for objects in a bucket, the only source of their stamps
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
  // Other programs may change a file that is appended to, so only its main file counts.
  const paths = append ? mains : mains.flatMap((path) => listOutputFiles(path, registry));
  return withFiles(
    report,
    paths.map((path) => ({ path, stamp: readOutputStamp(path) ?? "" })),
  );
}

/** Stamps of staged files by their final paths. */
export const stampFiles = (files: readonly StagedFile[]): OutputRecord["files"] =>
  files.map(({ path, finalPath, stamp }) => ({ path: finalPath, stamp: stamp ?? readOutputStamp(path) ?? "" }));

export function withFiles(report: ConvertReport, files: OutputRecord["files"]): ConversionRecord {
  return { upToDate: report.upToDate, findings: toFindings(report), files };
}

/** The extent of all layers, if they have the same coordinate system. */
function comparedExtent(outputs: readonly OutputReport[]): Pick<Findings, "extent"> {
  const crs = outputs[0]?.crs;
  if (!crs || outputs.some((output) => output.crs !== crs)) return {};
  const box = outputs.reduce<Extent | null>((all, { extent }) => unionExtents(all, extent), null);
  return box === null ? {} : { extent: { crs, box } };
}

export const toFindings = ({
  read,
  written,
  rejected,
  withoutGeometry,
  sourceFields,
  sourceFormats,
  outputs,
  proof,
  ...report
}: ConvertReport): Findings => ({
  counts: {
    read,
    written,
    rejected,
    ...(withoutGeometry > 0 && { withoutGeometry }),
    ...(proof && { verified: proof.layers.reduce((sum, { features }) => sum + features, 0) }),
  },
  ...(sourceFormats.length > 0 && { formats: sourceFormats }),
  ...comparedExtent(outputs),
  ...(sourceFields && { fields: comparedFields(sourceFields) }),
  ...toFindingLists(report.losses, report.notices, report.skippedRanges),
  ...(rejected > 0 && report.rejects !== null && { rejects: report.rejects }),
});
