/** A conversion whose output, or whose rejects, go into a bucket. */
import { isDiskFull } from "../../errors/disk-full.js";
import { createError, GeoferryError } from "../../errors.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import { WorkingCopy } from "../../io/s3/working-copy.js";
import { Tally } from "../../model/report.js";
import type { OutputReservations } from "../plan/path-plan.js";
import type { ConvertReport } from "../report.js";
import type { ConvertRequest, Host } from "../request.js";

const unconditionalWriteNotice =
  "the store takes no conditions (If-Match, If-None-Match): what another program wrote there in the same moment is lost";

type ConvertFunction = (request: ConvertRequest, host: Host, claims: OutputReservations) => Promise<ConvertReport>;

/** Made here, on the disk of this machine. */
const temporaryFolderHint = "; what goes into a bucket is made in the folder that TMPDIR names";

/**
 * Converts into a working copy of what stands there, whose changes become objects when all is done: whole, or not at all.
 * @throws as `convert` does, and bucket-forbidden, bucket-unavailable, bucket-settings, output-not-restored
 */
export async function convertToBucket(
  request: ConvertRequest,
  host: Host,
  claims: OutputReservations,
  convert: ConvertFunction,
): Promise<ConvertReport> {
  const { output, rejects, append, replaceLayer } = request;
  const { registry, signal } = host;
  await using copy = new WorkingCopy(signal);
  const inside = (name: string) => (isBucketAddress(name) ? copy.pathOf(name) : name);
  const decisive = inside(isBucketAddress(output) ? output : rejects!);
  const notices = new Tally();
  const onCommitted = async (report: ConvertReport) => {
    const unconditional = await copy.publish(
      decisive,
      (name) => registry.isCompanion(name),
      (files) => host.onCommit?.(output, files, copy.displayName(report)),
    );
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
      await copy.materialize(name, { content, folder: registry.isDatasetFolder(name) });
    }
    const asked = {
      ...request,
      output: inside(output),
      ...(rejects === undefined ? {} : { rejects: inside(rejects) }),
    };
    const report = copy.displayName(await convert(asked, { ...others, onCommitted, originalPath }, own));
    return { ...report, notices: [...report.notices, ...notices.list()] };
  } catch (error) {
    throw withAddresses(error, copy);
  }
}

/** An error in the words of who asked: with addresses for the paths of the working copy. */
function withAddresses(error: unknown, copy: WorkingCopy): unknown {
  if (!(error instanceof GeoferryError)) return error;
  const details = copy.displayName(error.details);
  if (JSON.stringify(details) === JSON.stringify(error.details)) return error;
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const reason = isDiskFull(code) ? { reason: `${String(details.reason)}${temporaryFolderHint}` } : {};
  return createError(error.code, { ...details, ...reason } as never, error.cause);
}
