/** A conversion whose output or rejects file is in a bucket. */
import { isDiskFull } from "../../errors/disk-full.js";
import { createError, GeoferryError } from "../../errors.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import { WorkingCopy } from "../../io/s3/working-copy.js";
import { Tally } from "../../model/report.js";
import { type OutputReservations, rejectsSuffix } from "../plan/path-plan.js";
import type { ConvertReport } from "../report.js";
import type { ConvertRequest, Host } from "../request.js";

const unconditionalWriteNotice =
  "the store does not support conditional writes (If-Match, If-None-Match): a simultaneous write of another program may be lost";

type ConvertFunction = (request: ConvertRequest, host: Host, claims: OutputReservations) => Promise<ConvertReport>;

const temporaryFolderHint = "; outputs for a bucket are first written to the folder that TMPDIR names";

/**
 * Converts into a local working copy of the existing objects, and uploads the changed files when the conversion is
 * complete.
 * @throws as `convert` does, and bucket-forbidden, bucket-unavailable, bucket-settings, output-not-restored,
 * upload-outcome-unknown
 */
export async function convertToBucket(
  request: ConvertRequest,
  host: Host,
  claims: OutputReservations,
  convert: ConvertFunction,
): Promise<ConvertReport> {
  const { output, rejects, append, replaceLayer, overwrite } = request;
  const { registry, signal } = host;
  await using copy = new WorkingCopy(signal);
  const inside = (name: string) => (isBucketAddress(name) ? copy.pathOf(name) : name);
  const mainPath = inside(isBucketAddress(output) ? output : rejects!);
  const mayReplace = Boolean(append || replaceLayer || overwrite);
  const notices = new Tally();
  const onCommitted = async (report: ConvertReport) => {
    const unconditional = await copy
      .publish(
        mainPath,
        (name) => registry.isCompanion(name),
        (files) => host.onCommit?.(output, files, copy.displayName(report)),
      )
      .catch((error: unknown) => {
        throw mayReplace ? asLostRace(error) : error;
      });
    for (const address of unconditional)
      notices.add("unconditional-write", address, undefined, 1, unconditionalWriteNotice);
  };
  const { onCommit: _, ...others } = host;
  const own: OutputReservations = {
    has: (name) => claims.has(copy.reservation(name)),
    add: (name) => claims.add(copy.reservation(name)),
  };
  const originalPath = (input: string) => (isBucketAddress(input) && copy.localPath(input)) || input;
  try {
    for (const name of [output, rejects]) {
      if (name === undefined || !isBucketAddress(name)) continue;
      const content = name === output && Boolean(append || replaceLayer);
      // Only the rejects of an earlier run are replaced, which their content shows.
      const isRead = (address: string) => address === rejects || address.endsWith(rejectsSuffix);
      await copy.materialize(name, { content, isRead, folder: registry.isDatasetFolder(name) });
    }
    const localRequest = {
      ...request,
      output: inside(output),
      ...(rejects === undefined ? {} : { rejects: inside(rejects) }),
    };
    const report = copy.displayName(await convert(localRequest, { ...others, onCommitted, originalPath }, own));
    return { ...report, notices: [...report.notices, ...notices.list()] };
  } catch (error) {
    throw withAddresses(error, copy);
  }
}

/** The error if another program created an object that was missing when a run began that may change existing objects. */
function asLostRace(error: unknown): unknown {
  if (!(error instanceof GeoferryError) || error.code !== "output-exists") return error;
  const { output } = error.details as { readonly output: string };
  return createError("output-failed", { output, reason: lostRaceReason }, error);
}

const lostRaceReason = "another program has created it since this run began, and it is kept; run again";

/** Replaces paths of the working copy in an error by the addresses of the objects. */
function withAddresses(error: unknown, copy: WorkingCopy): unknown {
  if (!(error instanceof GeoferryError)) return error;
  const details = copy.displayName(error.details);
  if (JSON.stringify(details) === JSON.stringify(error.details)) return error;
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const reason = isDiskFull(code) ? { reason: `${String(details.reason)}${temporaryFolderHint}` } : {};
  return createError(error.code, { ...details, ...reason } as never, error.cause);
}
