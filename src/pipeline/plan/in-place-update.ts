/** Updates of an existing database or file in place: its layers, and the CRS that added features need. */
import { existsSync } from "node:fs";
import { isSameCrs } from "../../crs/index.js";
import { createError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { resolveSymlinks } from "../../io/output/temporary-names.js";
import type { Crs, LayerInfo } from "../../model/layer.js";
import type { InPlaceTarget } from "../../plugin/format.js";
import { openInputs } from "../input/open-inputs.js";
import type { ConvertRequest, Host } from "../request.js";
import { type ChosenWriter, zipOptions } from "./plan-outputs.js";

/** An existing file or database that is changed in place, and its layers. */
export interface InPlaceUpdate extends InPlaceTarget {
  readonly layers: readonly LayerInfo[];
}

/** Whether the output is changed in place and not rewritten. */
export function isUpdatedInPlace(request: ConvertRequest, { capabilities, format, fileStem }: ChosenWriter): boolean {
  if (fileStem !== null) return true;
  const { append, replaceLayer, overwrite, output } = request;
  if (!capabilities.updatesInPlace || overwrite || !(append || replaceLayer)) return false;
  return output !== "-" && existsSync(output) && zipOptions(output, format).zip === undefined;
}

/** Reads the layers of the existing output; null if it is not changed in place. @throws what the reader throws */
export async function openInPlaceUpdate(
  request: ConvertRequest,
  writer: ChosenWriter,
  host: Host,
  spool: Spool,
): Promise<InPlaceUpdate | null> {
  if (!isUpdatedInPlace(request, writer)) return null;
  // Closed before the writer opens the file, since a reader may hold a lock.
  await using existing = await openInputs([request.output], { from: writer.format.id }, host, spool, false, true);
  const layers = existing.layers.map(
    ({ layer: { name, crs, fields, geometryTypes, featureCount, extent, aliases } }) => {
      return { name, crs, fields, geometryTypes, featureCount, extent, ...(aliases ? { aliases } : {}) };
    },
  );
  const { append, replaceLayer, overwrite, output } = request;
  if (writer.fileStem === null) return { path: resolveSymlinks(output), mode: append ? "append" : "replace", layers };
  return { path: output, mode: append ? "append" : replaceLayer || overwrite ? "replace" : "add", layers };
}

/**
 * The names of the layers that an output has which `--overwrite` replaces as a whole; none if the format's writer could
 * not keep them, or if the file cannot be read.
 */
export async function replacedLayerNames(
  request: ConvertRequest,
  { capabilities, format, fileStem }: ChosenWriter,
  host: Host,
  spool: Spool,
): Promise<string[]> {
  const { output, overwrite } = request;
  if (!overwrite || !capabilities.updatesInPlace || fileStem !== null || !existsSync(output)) return [];
  if (zipOptions(output, format).zip !== undefined) return [];
  try {
    await using existing = await openInputs([output], { from: format.id }, host, spool, false, true);
    return existing.layers.map(({ layer }) => layer.name);
  } catch {
    return [];
  }
}

/** The existing layer of this name, or one whose name differs only in case. */
export function findExistingLayer(update: InPlaceUpdate | null, name: string): LayerInfo | null {
  if (!update) return null;
  const namesOf = (layer: LayerInfo) => [layer.name, ...(layer.aliases ?? [])];
  const exact = update.layers.find((layer) => namesOf(layer).includes(name));
  const alike = (other: string) => other.toLowerCase() === name.toLowerCase();
  return exact ?? update.layers.find((layer) => namesOf(layer).some(alike)) ?? null;
}

/**
 * The CRS of an existing layer, to which added features are reprojected.
 * @throws usage if the request asks for another CRS, or the layer declares none
 */
export async function existingLayerCrs(
  existing: LayerInfo,
  request: ConvertRequest,
  wanted: Crs | null,
): Promise<Crs | null> {
  if (wanted === null || existing.geometryTypes?.length === 0) return wanted;
  const place = `${request.output}: the layer "${existing.name}"`;
  if (existing.crs === null) {
    const reason = `${place} declares no coordinate reference system; --no-reproject adds coordinates unchanged`;
    throw createError("usage", { reason });
  }
  if (request.targetCrs === undefined || (await isSameCrs(existing.crs, wanted))) return existing.crs;
  const name = existing.crs.id ?? existing.crs.name;
  throw createError("usage", {
    reason: `${place} is in ${name}, and added features are reprojected to it; omit --target-crs`,
  });
}
