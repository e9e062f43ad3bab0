/** Opens an output that is complete but does not have its name yet. */
import { copyFileSync, linkSync, symlinkSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { GeoferryError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import type { HostSink } from "../../io/output/create-sink.js";
import type { ReadBack, WriterCapabilities } from "../../plugin/format.js";
import { type OpenInputs, openInputs } from "../input/open-inputs.js";
import type { ChosenWriter } from "../plan/plan-outputs.js";
import type { Host } from "../request.js";

/** Gives a file, or folder, another name: by a link, or else by a copy. */
function linkAs(path: string, name: string): void {
  for (const link of [symlinkSync, linkSync]) {
    try {
      link(resolve(path), name);
      return;
    } catch {
      // Windows allows links to some users only.
    }
  }
  copyFileSync(path, name);
}

/** The files of an output under their final names in a temporary folder, where a reader finds them together. */
export function linkOutput(sink: HostSink, spool: Spool): string {
  const folder = spool.folder();
  if (sink.folderPath !== undefined) {
    const name = join(folder, basename(sink.name.replace(/[/\\]+$/, "")));
    linkAs(sink.folderPath, name);
    return name;
  }
  const { parts = [] } = sink.files() ?? {};
  for (const { path, finalPath } of parts) linkAs(path, join(folder, basename(finalPath)));
  const main = parts.find(({ isMain }) => isMain) ?? parts[0];
  return join(folder, basename(main?.finalPath ?? sink.name));
}

/**
 * Opens the output with the reader of its own format.
 * @returns null if it has no byte, as one without features in formats that have no header
 */
export async function openOutput(
  path: string,
  { format, formatRef }: ChosenWriter,
  { readerOptions = {} }: ReadBack,
  { onePointLines = false }: WriterCapabilities,
  host: Host,
  spool: Spool,
): Promise<OpenInputs | null> {
  const known = Object.fromEntries(Object.entries(readerOptions).filter(([name]) => name in format.reader!.options));
  try {
    return await openInputs(
      [path],
      { from: formatRef.id, readerOptions: known, keepsBadGeometries: true, onePointLines },
      host,
      spool,
      false,
      true,
    );
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "input-empty") return null;
    throw error;
  }
}
