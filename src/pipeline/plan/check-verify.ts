import { createError } from "../../errors.js";
import { isStream } from "../../io/output/create-sink.js";
import { redact } from "../../io/redact.js";
import type { ConvertRequest, Host } from "../request.js";
import { isUpdatedInPlace } from "./in-place-update.js";
import type { ChosenWriter } from "./plan-outputs.js";

/**
 * Refuses to verify an output that cannot be read before it is complete, or not at all.
 * @throws usage
 */
export function checkVerifiable(request: ConvertRequest, writer: ChosenWriter, { registry }: Host): void {
  if (!request.verify) return;
  const output = redact(request.output, registry);
  const refuse = (reason: string) => {
    throw createError("usage", { reason: `${output}: --verify ${reason}` });
  };
  if (isStream(request.output))
    refuse("reads the output again, and a stream cannot be read: write to a file with --verify, and pass that on");
  if (!writer.format.reader) refuse(`needs a reader, and ${writer.format.label} is a format that geoferry only writes`);
  if (writer.fileStem !== null)
    refuse(
      "reads the output before it is published, which a database transaction does not allow: convert without it, and compare with geoferry diff INPUT OUTPUT",
    );
  if (isUpdatedInPlace(request, writer))
    refuse(
      `cannot undo what ${request.append ? "--append" : "--replace-layer"} changes in an existing file of ${writer.format.label}: write to a new file with --verify`,
    );
}
