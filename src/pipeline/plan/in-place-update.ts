/** Changing a database in place: what it holds, and what that asks of the features that come. */
import { existsSync } from "node:fs";
import { findOperation } from "../../crs/index.js";
import { createError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { resolveSymlinks } from "../../io/output/temporary-names.js";
import type { Crs, LayerInfo } from "../../model/layer.js";
import type { InPlaceTarget } from "../../plugin/format.js";
import { openInputs } from "../input/open-inputs.js";
import type { ConvertRequest, Host } from "../request.js";
import { type ChosenWriter, zipOptions } from "./plan-outputs.js";

/** An existing file or database that is changed in place, and the layers that it has. */
export interface InPlaceUpdate extends InPlaceTarget {
  readonly layers: readonly LayerInfo[];
}

/** Whether the output is changed in place; if not it is written again, whatever it was. */
export function isUpdatedInPlace(request: ConvertRequest, { capabilities, format, fileStem }: ChosenWriter): boolean {
  if (fileStem !== null) return true;
  const { append, replaceLayer, overwrite, output } = request;
  if (!capabilities.updatesInPlace || overwrite || !(append || replaceLayer)) return false;
  return output !== "-" && existsSync(output) && zipOptions(output, format).zip === undefined;
}

/** What the file holds, as its own format's reader tells; null where none is changed. @throws what the reader throws */
export async function openInPlaceUpdate(
  request: ConvertRequest,
  writer: ChosenWriter,
  host: Host,
  spool: Spool,
): Promise<InPlaceUpdate | null> {
  if (!isUpdatedInPlace(request, writer)) return null;
  // Closed again before the writer opens the file: a reader may hold a lock.
  await using held = await openInputs([request.output], { from: writer.format.id }, host, spool, false, true);
  const layers = held.layers.map(({ layer: { name, crs, fields, geometryTypes, featureCount, extent, aliases } }) => {
    return { name, crs, fields, geometryTypes, featureCount, extent, ...(aliases ? { aliases } : {}) };
  });
  const { append, replaceLayer, overwrite, output } = request;
  if (writer.fileStem === null) return { path: resolveSymlinks(output), mode: append ? "append" : "replace", layers };
  return { path: output, mode: append ? "append" : replaceLayer || overwrite ? "replace" : "add", layers };
}

/** The layer that is there already under this name, or one that differs in case only. */
export function findExistingLayer(update: InPlaceUpdate | null, name: string): LayerInfo | null {
  if (!update) return null;
  const namesOf = (layer: LayerInfo) => [layer.name, ...(layer.aliases ?? [])];
  const exact = update.layers.find((layer) => namesOf(layer).includes(name));
  const alike = (other: string) => other.toLowerCase() === name.toLowerCase();
  return exact ?? update.layers.find((layer) => namesOf(layer).some(alike)) ?? null;
}

/** The CRS that what is added to a layer comes into. @throws usage where another is asked for, or it does not say its own */
export async function existingLayerCrs(
  held: LayerInfo,
  request: ConvertRequest,
  wanted: Crs | null,
): Promise<Crs | null> {
  if (wanted === null || held.geometryTypes?.length === 0) return wanted;
  const place = `${request.output}: the layer "${held.name}"`;
  if (held.crs === null) {
    const reason = `${place} does not say its coordinate reference system; --no-reproject adds coordinates untouched`;
    throw createError("usage", { reason });
  }
  if (request.targetCrs === undefined || (await isSameCrs(held.crs, wanted))) return held.crs;
  const name = held.crs.id ?? held.crs.name;
  throw createError("usage", {
    reason: `${place} is in ${name}, and what is added comes into that; leave --target-crs away`,
  });
}

/** Whether coordinates pass from one to the other untouched. */
export async function isSameCrs(one: Crs, other: Crs): Promise<boolean> {
  const operation = await findOperation(one, other, { accuracy: Number.POSITIVE_INFINITY }).catch(() => null);
  return operation?.kind === "identity";
}
