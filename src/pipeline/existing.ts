import { existsSync, statSync } from "node:fs";
import { fault } from "../errors.js";
import type { Spool } from "../io/spool.js";
import type { Crs } from "../model/layer.js";
import { openInputs } from "./inputs.js";
import type { ChosenWriter } from "./outputs.js";
import type { ConvertRequest, Host } from "./request.js";

/**
 * The output that `--append` adds to: its features are read again and written before the new ones, so that the file is
 * replaced whole like any other, and fields and types unite. Null where there is none.
 * @returns the CRS that the new features must come into
 */
export async function existingTarget(
  request: ConvertRequest,
  writer: ChosenWriter,
  host: Host,
  spool: Spool,
): Promise<{ crs: Crs | null } | null> {
  if (!request.append || request.output === "-" || !existsSync(request.output)) return null;
  if (writer.accepts.layers === "many") {
    throw fault("unsupported", {
      source: request.output,
      reason: `appending to ${writer.format.label} is not possible`,
    });
  }
  await using open = await openInputs([request.output], { from: writer.format.id }, host, spool);
  if (open.layers.length !== 1)
    throw fault("unsupported", { source: request.output, reason: "it has several layers; appending needs one" });
  return { crs: open.layers[0]!.layer.crs };
}

/** Whether the output is there and newer than every input that is a file. */
export function isUpToDate(output: string, inputs: readonly string[]): boolean {
  const written = statSync(output, { throwIfNoEntry: false });
  if (!written) return false;
  return inputs.every((input) => {
    const read = statSync(input, { throwIfNoEntry: false });
    return read !== undefined && read.mtimeMs < written.mtimeMs;
  });
}
