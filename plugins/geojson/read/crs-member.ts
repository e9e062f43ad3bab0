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
 * The reference system that the "crs" member of GeoJSON 2008 (section 3) names. Without one it is WGS84 (RFC 7946,
 * section 4). A member that is null says that there is none to be assumed: so does this, as of any file that names
 * none. null too where it names one that is not known, by a link or in words; the host has heard the name then.
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

/** What the member says in the place where a name stands, or all of it where there is none; null where it is null. */
function crsDefinition(member: string): string | null {
  try {
    const crs = JSON.parse(member) as CrsMember | null;
    if (crs === null) return null;
    const { name, code, urn, href } = crs.properties ?? {};
    const said = [name, urn, href].find((text): text is string => typeof text === "string" && text !== "");
    if (said !== undefined) return said;
    // Before 2008: {"type": "EPSG", "properties": {"code": 4326}}.
    return typeof code === "number" || typeof code === "string" ? `EPSG:${code}` : member;
  } catch {
    return member;
  }
}
