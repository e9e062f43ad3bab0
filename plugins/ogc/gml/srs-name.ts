/** Names of reference systems, and the order of axes that each form of a name means. */
import { GeoferryError } from "../../../src/errors.js";
import type { Crs } from "../../../src/model/index.js";
import type { CrsContext } from "../../../src/plugin/index.js";
import { attributeOf, type GmlElement } from "./element.js";

/** What a name means. Plain data. */
export interface ReferenceSystem {
  readonly srsName: string;
  /** Null if the name is not known. */
  readonly crs: Crs | null;
  /** Whether the latitude or northing comes first. */
  readonly isNorthFirst: boolean;
}

/**
 * Forms whose coordinates are in the order of the authority: URNs (OGC 07-092r3) and http URIs (OGC 09-048r5). The older
 * forms, `EPSG:4326` and `…/gml/srs/epsg.xml#4326` (OGC 05-096r1, 3), mean longitude or easting first.
 */
const authorityOrder = /^(urn:(x-)?ogc:def:crs[:,]|https?:\/\/www\.opengis\.net\/def\/crs)/i;
/** Names of the German surveying authorities (GeoInfoDok 6.0, 7), easting first. */
const advNames: Readonly<Record<string, string>> = {
  ETRS89_UTM31: "EPSG:25831",
  ETRS89_UTM32: "EPSG:25832",
  ETRS89_UTM33: "EPSG:25833",
  DE_DHDN_3GK2: "EPSG:31466",
  DE_DHDN_3GK3: "EPSG:31467",
  DE_DHDN_3GK4: "EPSG:31468",
  DE_DHDN_3GK5: "EPSG:31469",
};
const advName = /^urn:(?:x-)?adv:(?:def:)?crs:([^*]+)/i;
const crs84 = /CRS:?84h?$/i;

/** The horizontal part of a compound system in a URN: `urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::5783`. */
function horizontalPart(name: string): string {
  const urn = /^urn:ogc:def:crs,crs:([^,]+)/i.exec(name)?.[1];
  if (urn !== undefined) return `urn:ogc:def:crs:${urn}`;
  return /^https?:\/\/www\.opengis\.net\/def\/crs-compound\?1=([^&]+)/i.exec(name)?.[1] ?? name;
}

async function parseOrNull(crs: CrsContext, definition: string): Promise<Crs | null> {
  try {
    return await crs.parse(definition);
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "crs-unknown") return null;
    throw error;
  }
}

/**
 * What decides the order of axes: the form of the name; the authority also for `EPSG:4326`, as MapServer's WFS 1.1.0
 * means it; or the option of the reader.
 */
export type AxisOrder = "auto" | "authority" | "xy" | "yx";

export async function resolveSrsName(
  srsName: string,
  axisOrder: AxisOrder,
  context: CrsContext,
): Promise<ReferenceSystem> {
  const adv = advName.exec(srsName)?.[1];
  const crs =
    (await parseOrNull(context, (adv === undefined ? undefined : advNames[adv]) ?? srsName)) ??
    (await parseOrNull(context, horizontalPart(srsName)));
  if (axisOrder === "xy" || axisOrder === "yx") return { srsName, crs, isNorthFirst: axisOrder === "yx" };
  const isByAuthority = authorityOrder.test(srsName) || (axisOrder === "authority" && /^EPSG:\d+$/i.test(srsName));
  if (!isByAuthority || crs84.test(srsName)) return { srsName, crs, isNorthFirst: false };
  const horizontal = horizontalPart(srsName);
  const declared = horizontal === srsName ? crs : await parseOrNull(context, horizontal);
  return { srsName, crs, isNorthFirst: declared !== null && (await context.isNorthFirst(declared)) };
}

/** The `srsName` of an element, or of the first element in it that has one; null if none has. */
export function srsNameIn(element: GmlElement): string | null {
  const own = attributeOf(element, "srsName")?.trim();
  if (own) return own;
  for (const child of element.children) {
    const found = srsNameIn(child);
    if (found !== null) return found;
  }
  return null;
}
