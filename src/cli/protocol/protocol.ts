/** The protocol of a migration: what was converted, how, what was lost, and what was proven. See docs/report.schema.json. */
import type { VerifiedDifference } from "../../errors/verify-errors.js";
import { GeoferryError } from "../../errors.js";
import type { Outcome } from "../../pipeline/convert-many.js";
import type { Proof } from "../../pipeline/proof/proof.js";
import { type ConvertReport, describeSkippedRange } from "../../pipeline/report.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import { version } from "../../version.js";

/** A file with its checksum. */
export interface ProtocolFile {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

/** An input; `files` is null for inputs other than local files: addresses, databases, stdin. */
export interface ProtocolInput {
  readonly name: string;
  readonly files: readonly ProtocolFile[] | null;
}

type Reported = Pick<ConvertReport, "outputs" | "operations" | "losses" | "notices">;

export interface ProtocolConversion extends Reported {
  readonly result: "converted" | "up-to-date" | "failed";
  readonly inputs: readonly ProtocolInput[];
  readonly output: string;
  /** The files of the output with their checksums; null if it is not local files. */
  readonly files: readonly ProtocolFile[] | null;
  readonly formats: readonly string[];
  readonly counts: Pick<ConvertReport, "read" | "written" | "rejected" | "kept" | "withoutGeometry">;
  readonly rejects: ConvertReport["rejectSummaries"];
  readonly rejectsFile: string | null;
  readonly skippedRanges: readonly string[];
  readonly proof: Proof | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Of a failed verification, the first ones. */
    readonly differences: readonly VerifiedDifference[];
  } | null;
}

export interface Protocol {
  readonly type: "geoferry-migration-protocol";
  readonly version: 1;
  readonly geoferry: string;
  readonly node: string;
  readonly system: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly exitStatus: number;
  /** The options of the conversion, as in the library. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly conversions: readonly ProtocolConversion[];
}

/** What was recorded while a conversion ran. */
export interface RecordedFiles {
  readonly inputs: readonly ProtocolInput[];
  readonly files: readonly ProtocolFile[] | null;
}

const noCounts = { read: 0, written: 0, rejected: 0, kept: 0, withoutGeometry: 0 };

function differencesOf(error: GeoferryError): readonly VerifiedDifference[] {
  if (error.code !== "verify-failed") return [];
  return (error.details as { readonly differences: readonly VerifiedDifference[] }).differences;
}

export function toProtocolConversion(outcome: Outcome, recorded: RecordedFiles): ProtocolConversion {
  const { report, error, output } = outcome;
  const { read, written, rejected, kept, withoutGeometry } = report ?? noCounts;
  return {
    result: error ? "failed" : report.upToDate ? "up-to-date" : "converted",
    ...recorded,
    output,
    formats: report?.sourceFormats ?? [],
    outputs: report?.outputs ?? [],
    counts: { read, written, rejected, kept, withoutGeometry },
    operations: report?.operations ?? [],
    losses: report?.losses ?? [],
    notices: report?.notices ?? [],
    rejects: report?.rejectSummaries ?? [],
    rejectsFile: report?.rejects ?? null,
    skippedRanges: (report?.skippedRanges ?? []).map(describeSkippedRange),
    proof: report?.proof ?? null,
    error:
      error instanceof GeoferryError
        ? { code: error.code, message: error.message, differences: differencesOf(error) }
        : null,
  };
}

/** Options that say how fast, and not what, is converted. */
type Unrecorded = "inputs" | "output" | "workers" | "maxInputBytes" | "reproject";

export function createProtocol(
  { inputs: _, output: __, workers: ___, maxInputBytes: ____, reproject, ...options }: ConvertRequest,
  times: { readonly started: Date; readonly finished: Date },
  exitStatus: number,
  conversions: readonly ProtocolConversion[],
): Protocol {
  const recorded: Omit<ConvertRequest, Unrecorded> = options;
  return {
    type: "geoferry-migration-protocol",
    version: 1,
    geoferry: version,
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    startedAt: times.started.toISOString(),
    finishedAt: times.finished.toISOString(),
    exitStatus,
    options: { ...recorded, ...(reproject === false ? { reproject } : {}) },
    conversions,
  };
}
