/** A conversion whose output, or whose rejects, go into a bucket. */
import { fault, GeoferryError } from "../errors.js";
import { isBucketAddress } from "../io/s3-address.js";
import { WorkingCopy } from "../io/s3-working-copy.js";
import type { ConvertReport } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";

type Convert = (request: ConvertRequest, host: Host) => Promise<ConvertReport>;

/** Made here, on the disk of this machine. */
const madeHere = "; what goes into a bucket is made in the folder that TMPDIR names";

/**
 * Converts into a working copy of what stands there, whose changes become objects when all is done: whole, or not at all.
 * @throws as `convert` does, and bucket-forbidden, bucket-unavailable, bucket-settings, output-not-put-back
 */
export async function convertIntoBucket(request: ConvertRequest, host: Host, convert: Convert): Promise<ConvertReport> {
  const { output, rejects, inputs, append, replaceLayer } = request;
  const { registry, signal } = host;
  await using copy = new WorkingCopy(signal);
  const inside = (name: string) => (isBucketAddress(name) ? copy.pathOf(name) : name);
  const read = inputs.find((input) => isBucketAddress(input) && [output, rejects].includes(input));
  if (read !== undefined) throw fault("output-is-input", { output: read });
  for (const name of [output, rejects]) {
    if (name === undefined || !isBucketAddress(name)) continue;
    const content = name === output && Boolean(append || replaceLayer);
    await copy.layOut(name, { content, folder: registry.isDatasetFolder(name) });
  }
  const decisive = inside(isBucketAddress(output) ? output : rejects!);
  const deliver = (report: ConvertReport) =>
    copy.publish(
      decisive,
      (name) => registry.isCompanion(name),
      (files) => host.onCommit?.(output, files, copy.told(report)),
    );
  const { onCommit: _, ...others } = host;
  try {
    const asked = {
      ...request,
      output: inside(output),
      ...(rejects === undefined ? {} : { rejects: inside(rejects) }),
    };
    return copy.told(await convert(asked, { ...others, deliver }));
  } catch (error) {
    throw told(error, copy);
  }
}

/** An error in the words of who asked: with addresses for the paths of the working copy. */
function told(error: unknown, copy: WorkingCopy): unknown {
  if (!(error instanceof GeoferryError)) return error;
  const details = copy.told(error.details);
  if (JSON.stringify(details) === JSON.stringify(error.details)) return error;
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const reason = isFull ? { reason: `${String(details.reason)}${madeHere}` } : {};
  return fault(error.code, { ...details, ...reason } as never, error.cause);
}
