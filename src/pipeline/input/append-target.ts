import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { crsContext, isSameCrs } from "../../crs/index.js";
import { createError, type GeoferryError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { findCompanions } from "../../io/output/temporary-names.js";
import type { Crs } from "../../model/layer.js";
import type { Format } from "../../plugin/format.js";
import type { Registry } from "../../plugin/registry.js";
import { isUpdatedInPlace } from "../plan/in-place-update.js";
import type { ChosenWriter } from "../plan/plan-outputs.js";
import { targetCrs } from "../plan/plan-stages.js";
import type { ConvertRequest, Host } from "../request.js";
import { type OpenInputs, openInputs } from "./open-inputs.js";

/**
 * Opens the existing output that `--append` adds to. Its features are copied unchanged before the new ones into a new
 * file, so that the output is replaced atomically and the fields of both are merged. Null if there is no such file, or if
 * the writer appends in place. Text of which the encoding is only assumed would be rewritten for good, so it is refused.
 * @throws append-encoding-unknown, append-header-unknown, append-would-remove, unsupported, and what the reader throws
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
  const obstacle =
    open.layers.length === 1
      ? findObstacle(output, open)
      : refuse("the file has several layers, and only a file of one layer can be appended to");
  if (obstacle === null) return open;
  await open[Symbol.asyncDispose]();
  throw obstacle;
}

/** By the codes of notes: what a new file with the same features would lack. */
const removedContent: Readonly<Record<string, string>> = {
  "rows-left-out": "lines above or below the names of its columns",
  "zip-entries-ignored": "other files in the archive",
};

function findObstacle(output: string, { findings }: OpenInputs): GeoferryError | null {
  const codes = findings.flatMap(({ notices }) => notices.map(({ code }) => code));
  if (codes.includes("encoding-assumed")) return createError("append-encoding-unknown", { output });
  if (codes.includes("header-missing")) return createError("append-header-unknown", { output });
  const code = codes.find((each) => Object.hasOwn(removedContent, each));
  return code === undefined ? null : createError("append-would-remove", { output, what: removedContent[code]! });
}

/** The CRS of the output; appended features are reprojected to the CRS of the existing file. @throws crs-unknown, usage */
export async function outputCrs(request: ConvertRequest, existing: OpenInputs | null): Promise<Crs | null> {
  const wanted = await targetCrs(request);
  if (!existing || wanted === null) return wanted;
  const existingCrs = existing.layers[0]!.layer.crs ?? crsContext.wgs84;
  if (request.targetCrs === undefined) return existingCrs;
  if (await isSameCrs(existingCrs, wanted)) return existingCrs;
  const reason = `${request.output} is in ${existingCrs.id ?? existingCrs.name}, and appended features are reprojected to it; omit --target-crs`;
  throw createError("usage", { reason });
}

/** The latest modification time of a file and of the files beside it that differ only in extension. */
function lastModifiedMs(path: string): number {
  const folder = dirname(path);
  const stem = basename(path, extname(path));
  const names = readdirSync(folder).filter((name) => name.startsWith(`${stem}.`));
  return Math.max(...names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** The latest modification time of an input and its companions, without those of an output with the same stem. */
function lastModifiedBeside(input: string, { companionExtensions = [] }: Format, registry: Registry): number {
  const extensions = registry.findSiblingExtensions(input).filter((name) => !companionExtensions.includes(name));
  const files = [input, ...findCompanions(input, extensions)];
  return Math.max(...files.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** Whether the output exists and is newer than all inputs with their companions; false if an input is not a file. */
export function isUpToDate(output: string, inputs: readonly string[], format: Format, registry: Registry): boolean {
  const written = statSync(output, { throwIfNoEntry: false });
  if (!written) return false;
  return inputs.every((input) => {
    if (!statSync(input, { throwIfNoEntry: false })) return false;
    return dirname(input) === dirname(output) && basename(input, extname(input)) === basename(output, extname(output))
      ? lastModifiedBeside(input, format, registry) < written.mtimeMs
      : lastModifiedMs(input) < written.mtimeMs;
  });
}
