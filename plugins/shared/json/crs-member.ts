import { GeoferryError } from "../../../src/errors.js";
import type { Crs } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";

interface CrsMember {
  readonly type?: unknown;
  readonly properties?: {
    readonly name?: unknown;
    readonly code?: unknown;
    readonly urn?: unknown;
    readonly href?: unknown;
  } | null;
}

/**
 * The CRS in the "crs" member of GeoJSON 2008 (section 3). Without the member it is WGS84 (RFC 7946, section 4). A null
 * member means that no CRS can be assumed, as for any file that names none; the result is null. The result is also
 * null, with a notice, if the member names an unknown CRS or links to one.
 */
export async function readCrsMember(member: string | undefined, context: ReadContext): Promise<Crs | null> {
  if (member === undefined) return context.crs.wgs84;
  const definition = crsDefinition(member);
  if (definition === null) {
    context.reportNotice("crs-member", undefined, "the crs member is null: no reference system can be assumed");
    return null;
  }
  try {
    return await context.crs.parse(definition);
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "crs-unknown") throw error;
  }
  context.reportNotice("crs-member", undefined, `the crs member does not name a known system: ${member.slice(0, 200)}`);
  return null;
}

/** The member's name, or the whole member if it has none; null if it is null. */
function crsDefinition(member: string): string | null {
  try {
    const crs = JSON.parse(member) as CrsMember | null;
    if (crs === null) return null;
    const { name, code, urn, href } = crs.properties ?? {};
    const said = [name, urn, href].find((text): text is string => typeof text === "string" && text !== "");
    if (said !== undefined) return said;
    // The form used before 2008: {"type": "EPSG", "properties": {"code": 4326}}.
    return typeof code === "number" || typeof code === "string" ? `EPSG:${code}` : member;
  } catch {
    return member;
  }
}
