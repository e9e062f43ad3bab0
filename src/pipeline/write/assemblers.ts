import type { Assembler } from "../../plugin/format.js";
import type { ConversionContext } from "../conversion-context.js";
import { HostContext } from "../execute/host-context.js";
import type { PlannedPart } from "../plan/plan-layer.js";
import { isDatasetFolderName, zipOptions } from "../plan/plan-outputs.js";

/** An open output file of one or more parts. */
export interface OpenAssembler {
  readonly assembler: Assembler;
  readonly isInPlace: boolean;
  readonly parts: readonly PlannedPart[];
  /** Collects what the writer reports. */
  readonly context: HostContext;
}

/**
 * Opens one file for all parts, or one for each part.
 * @param onOpened called for each open file, so that the caller can close all of them if one fails
 */
export async function openAssemblers(
  conversion: ConversionContext,
  path: string,
  parts: readonly PlannedPart[],
  onOpened: (assembler: OpenAssembler) => void,
): Promise<void> {
  if (conversion.writer.capabilities.layers === "many") onOpened(await openAssembler(conversion, path, parts));
  else for (const part of parts) onOpened(await openAssembler(conversion, part.path, [part]));
}

async function openAssembler(
  { request, host, writer: { format, formatRef, fileStem }, inPlaceUpdate, pathPlan, outputs }: ConversionContext,
  path: string,
  parts: readonly PlannedPart[],
): Promise<OpenAssembler> {
  const context = new HostContext(parts[0]?.layer.name ?? "", host.signal, false, undefined, host.now);
  const isAppended = request.append === true && path === pathPlan.outputName;
  const sink = await outputs.create(path, {
    overwrite: pathPlan.mayReplace || isAppended,
    now: host.now,
    ...(inPlaceUpdate
      ? { update: { path: inPlaceUpdate.path, mode: inPlaceUpdate.mode, isAddress: fileStem !== null } }
      : {}),
    ...(isDatasetFolderName(path, format) ? { folder: true } : fileStem === null ? zipOptions(path, format) : {}),
    ...(format.companionExtensions ? { companions: format.companionExtensions } : {}),
  });
  const module = await format.writer!.load();
  const layers = parts.map((part) => part.layer);
  const assembler = await module.createAssembler(sink, layers, formatRef.options, context);
  return { assembler, isInPlace: inPlaceUpdate !== null, parts, context };
}
