import { existsSync } from "node:fs";
import type { HostSink } from "../../io/output/create-sink.js";
import type { Assembler, Format } from "../../plugin/format.js";
import type { Registry } from "../../plugin/registry.js";
import type { ConversionContext } from "../conversion-context.js";
import { HostContext } from "../execute/host-context.js";
import type { PlannedPart } from "../plan/plan-layer.js";
import { isDatasetFolderName, splitExtension, zipOptions } from "../plan/plan-outputs.js";
import { AppendCheck } from "./append-check.js";

/** An open output file of one or more parts. */
export interface OpenAssembler {
  readonly assembler: Assembler;
  readonly isInPlace: boolean;
  readonly sink: HostSink;
  readonly parts: readonly PlannedPart[];
  /** Collects what the writer reports. */
  readonly context: HostContext;
  /** Compares with the existing file that rows are appended to. */
  readonly appendCheck: AppendCheck | null;
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

/** Extensions of the companions of an output, apart from those that another dataset of the same name uses. */
function companionsOf(path: string, format: Format, registry: Registry): string[] {
  const [stem] = splitExtension(path, format);
  const isUsed = (extension: string) =>
    registry.all().some(({ companionExtensions, reader, extensions }) => {
      if (!companionExtensions?.includes(extension) && !reader?.siblingExtensions?.includes(extension)) return false;
      return extensions.some((main) => `${stem}.${main}` !== path && existsSync(`${stem}.${main}`));
    });
  const shared = (format.sharedCompanionExtensions ?? []).filter((extension) => !isUsed(extension));
  return [...(format.companionExtensions ?? []), ...shared];
}

async function openAssembler(
  { request, host, writer, inPlaceUpdate, pathPlan, outputs }: ConversionContext,
  path: string,
  parts: readonly PlannedPart[],
): Promise<OpenAssembler> {
  const { format, formatRef, fileStem, capabilities } = writer;
  const context = new HostContext(parts[0]?.layer.name ?? "", host.signal, false, undefined, host.now);
  const isAppended = request.append === true && path === pathPlan.outputName;
  const sink = await outputs.create(path, {
    overwrite: pathPlan.mayReplace || isAppended,
    now: host.now,
    ...(inPlaceUpdate
      ? { update: { path: inPlaceUpdate.path, mode: inPlaceUpdate.mode, isAddress: fileStem !== null } }
      : {}),
    ...(isDatasetFolderName(path, format) ? { folder: true } : fileStem === null ? zipOptions(path, format) : {}),
    companions: companionsOf(path, format, host.registry).filter(
      (extension) => !isAppended || !format.lastingCompanionExtensions?.includes(extension),
    ),
  });
  const module = await format.writer!.load();
  const layers = parts.map((part) => part.layer);
  const appendCheck = isAppended && capabilities.hasDialects && existsSync(path) ? new AppendCheck(path) : null;
  try {
    const watched = appendCheck ? appendCheck.watch(sink) : sink;
    const assembler = await module.createAssembler(watched, layers, formatRef.options, context);
    return { assembler, isInPlace: inPlaceUpdate !== null, sink, parts, context, appendCheck };
  } catch (error) {
    appendCheck?.close();
    throw error;
  }
}
