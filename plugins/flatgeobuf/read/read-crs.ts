import type { Crs } from "../../../src/model/index.js";
import { GeoferryError, type ReadContext } from "../../../src/plugin/index.js";
import type { HeaderCrs } from "../header/header.js";

/**
 * The reference system by its code (an organization that is not named is EPSG), else by its WKT. Null if none is
 * declared, or, with a notice, if it cannot be parsed.
 */
export async function readCrs({ org, code, codeString, wkt }: HeaderCrs, context: ReadContext): Promise<Crs | null> {
  const organization = (org?.trim() || "EPSG").toUpperCase();
  const ownCode = code !== 0 ? String(code) : (codeString?.trim() ?? "");
  const { definition, epoch } = withoutEpoch(wkt?.trim() ?? "");
  const definitions = [
    ...(ownCode === "" ? [] : [`${organization}:${ownCode}`]),
    ...(definition === "" ? [] : [definition]),
  ];
  if (definitions.length === 0) return null;
  if (epoch !== null)
    context.reportNotice("epoch-ignored", undefined, `the coordinates are of the epoch ${epoch}, which is not used`);
  for (const each of definitions) {
    try {
      return await context.crs.parse(each);
    } catch (error) {
      if (!(error instanceof GeoferryError)) throw error;
    }
  }
  const example = `its definition cannot be parsed: ${definitions.at(-1)!.slice(0, 80)}`;
  context.reportNotice("crs-unreadable", undefined, example);
  return null;
}

/** Takes a definition out of COORDINATEMETADATA, which adds an epoch (OGC 18-010r7, "Coordinate metadata"). */
function withoutEpoch(wkt: string): { readonly definition: string; readonly epoch: string | null } {
  const found = /^COORDINATEMETADATA\s*\[(.*),\s*EPOCH\s*\[\s*([\d.]+)\s*\]\s*\]$/is.exec(wkt);
  return found ? { definition: found[1]!.trim(), epoch: found[2]! } : { definition: wkt, epoch: null };
}
