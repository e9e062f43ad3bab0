import { GeoferryError } from "../../src/errors.js";
import type { Crs } from "../../src/model/index.js";
import type { ReadContext } from "../../src/plugin/format.js";

interface CrsMember {
  readonly type?: unknown;
  readonly properties?: { readonly name?: unknown; readonly code?: unknown; readonly urn?: unknown };
}

/**
 * The reference system that the "crs" member of GeoJSON 2008 (section 3) names. Without one it is WGS84 (RFC 7946,
 * section 4); null where the member is null, a link, or says something unknown: then nobody knows.
 */
export async function crsOf(member: string | undefined, context: ReadContext): Promise<Crs | null> {
  if (member === undefined) return context.crs.wgs84;
  const definition = definitionOf(member);
  if (definition !== null) {
    try {
      return await context.crs.parse(definition);
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code !== "crs-unknown") throw error;
    }
  }
  context.notice("crs-member", undefined, `the crs member does not name a known system: ${member.slice(0, 200)}`);
  return null;
}

function definitionOf(member: string): string | null {
  try {
    const crs = JSON.parse(member) as CrsMember | null;
    const { name, code, urn } = crs?.properties ?? {};
    if (typeof name === "string") return name;
    if (typeof urn === "string") return urn;
    // Before 2008: {"type": "EPSG", "properties": {"code": 4326}}.
    return typeof code === "number" || typeof code === "string" ? `EPSG:${code}` : null;
  } catch {
    return null;
  }
}
