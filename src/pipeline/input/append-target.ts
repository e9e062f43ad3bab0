import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { crsContext } from "../../crs/index.js";
import { createError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import type { Crs } from "../../model/layer.js";
import { isSameCrs, isUpdatedInPlace } from "../plan/in-place-update.js";
import type { ChosenWriter } from "../plan/plan-outputs.js";
import { targetCrs } from "../plan/plan-stages.js";
import type { ConvertRequest, Host } from "../request.js";
import { type OpenInputs, openInputs } from "./open-inputs.js";

/**
 * The output that `--append` adds to: its features are read again and written before the new ones, untouched, so that
 * the file is replaced whole like any other, and fields and types unite. Null where there is none, or where the writer
 * adds to it in place.
 */
export async function openAppendTarget(
  request: ConvertRequest,
  writer: ChosenWriter,
  host: Host,
  spool: Spool,
): Promise<OpenInputs | null> {
  const { output } = request;
  if (!request.append || output === "-" || !existsSync(output) || isUpdatedInPlace(request, writer)) return null;
  const refuse = (reason: string) => createError("unsupported", { source: output, reason });
  if (writer.capabilities.layers === "many") throw refuse(`appending to ${writer.format.label} is not possible`);
  const { onePointLines = false } = writer.capabilities;
  const open = await openInputs([output], { from: writer.format.id, onePointLines }, host, spool, true);
  if (open.layers.length === 1) return open;
  await open[Symbol.asyncDispose]();
  throw refuse("it has several layers; appending needs one");
}

/** The CRS of what comes out. What is appended comes into that of the file. @throws crs-unknown, usage */
export async function outputCrs(request: ConvertRequest, existing: OpenInputs | null): Promise<Crs | null> {
  const wanted = await targetCrs(request);
  if (!existing || wanted === null) return wanted;
  const held = existing.layers[0]!.layer.crs ?? crsContext.wgs84;
  if (request.targetCrs === undefined) return held;
  if (await isSameCrs(held, wanted)) return held;
  const reason = `${request.output} is in ${held.id ?? held.name}, and what is appended comes into that; leave --target-crs away`;
  throw createError("usage", { reason });
}

/** When a file, or one that belongs to it (of the same name but for the extension), was changed last. */
function lastModifiedMs(path: string): number {
  const folder = dirname(path);
  const stem = basename(path, extname(path));
  const names = readdirSync(folder).filter((name) => name.startsWith(`${stem}.`));
  return Math.max(...names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** Whether the output is there and newer than every input that is a file. */
export function isUpToDate(output: string, inputs: readonly string[]): boolean {
  const written = statSync(output, { throwIfNoEntry: false });
  if (!written) return false;
  return inputs.every((input) => {
    if (!statSync(input, { throwIfNoEntry: false })) return false;
    return dirname(input) === dirname(output) && basename(input, extname(input)) === basename(output, extname(output))
      ? statSync(input).mtimeMs < written.mtimeMs
      : lastModifiedMs(input) < written.mtimeMs;
  });
}
