/** The reference system and the box that a service applies as it should: found out by a feature of it. */
import type { Extent, Geometry, SplitFilter } from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { boxAcross, chooseBox, extentOf, widen } from "../../shared/selection-probes.js";
import type { GmlElement } from "../gml/element.js";
import { GeometryReader } from "../gml/geometry.js";
import { geometryOf } from "../gml/properties.js";
import { systemNameOf } from "../gml/scan-document.js";
import { type ReferenceSystem, resolveSrsName } from "../gml/srs-name.js";
import { areAxesSwapped } from "../service/axis-check.js";
import { checkXml, type OgcClient, RequestRefused } from "../service/service-client.js";
import { xmlMedia } from "./capabilities.js";
import { addressOf, countFeatures, type WfsQuery } from "./feature-pages.js";
import type { WfsLayer } from "./layer-list.js";
import { parsePage } from "./page-parser.js";

interface Sample {
  readonly feature: GmlElement;
  readonly system: ReferenceSystem;
}

/** Forms of names whose order of axes is that of the authority. */
const isAuthorityForm = (name: string): boolean => /^(urn:|https?:\/\/www\.opengis\.net\/def\/crs)/i.test(name);

/** The names to request a layer by, the clearest first. */
function namesOf({ srsName, crs }: WfsLayer): string[] {
  if (srsName === null) return [];
  const code = /^EPSG:(\d+)$/.exec(crs?.id ?? "")?.[1];
  return isAuthorityForm(srsName) || code === undefined ? [srsName] : [`urn:ogc:def:crs:EPSG::${code}`, srsName];
}

/** The first feature of a query, with its system; null if there is none, or the service refuses the query. */
async function readSample(
  client: OgcClient,
  query: WfsQuery,
  axisOrder: "auto" | "xy" | "yx",
  context: ReadContext,
): Promise<Sample | null> {
  const one = { [query.version === "2.0.0" ? "COUNT" : "MAXFEATURES"]: "1" };
  try {
    const { body } = await client.request(addressOf(query, one), xmlMedia, checkXml(/FeatureCollection$/));
    const page = await parsePage(client.source, body, context);
    const [found] = page.features;
    if (!found) return null;
    const name = systemNameOf(found[0], found[1]);
    return name === null
      ? null
      : {
          feature: found[0],
          system: await resolveSrsName(name, page.isMapServer11 ? "authority" : axisOrder, context.crs),
        };
  } catch (error) {
    if (error instanceof RequestRefused) return null;
    throw error;
  }
}

/** The query with the reference system that the service applies, and with a box if it selects by it correctly. */
export async function negotiate(
  client: OgcClient,
  layer: WfsLayer,
  query: WfsQuery,
  filter: SplitFilter | undefined,
  axisOrder: "auto" | "xy" | "yx",
  context: ReadContext,
): Promise<WfsQuery> {
  for (const srsName of namesOf(layer)) {
    const asked = { ...query, srsName };
    const sample = await readSample(client, asked, axisOrder, context);
    if (!sample?.system.crs || sample.system.crs.definition !== layer.crs?.definition) continue;
    if (axisOrder === "auto" && !context.swapsXy) await refuseSwapped(client, layer, sample, context);
    return withBox(client, layer, asked, sample, filter?.boxes ?? [], context);
  }
  return query;
}

/**
 * Whether a feature of a page is plausible only after swapping the axes; a service may have their order right on some
 * pages only.
 */
export async function isPageSwapped(
  layer: WfsLayer,
  feature: GmlElement,
  system: ReferenceSystem,
  context: ReadContext,
): Promise<boolean> {
  const geometry = geometryIn(feature, layer, system);
  return (
    geometry !== null && system.crs !== null && areAxesSwapped(system.crs, layer.bounds, extentOf(geometry), context)
  );
}

/** @throws unsupported for coordinates that are plausible only after swapping the axes */
async function refuseSwapped(
  client: OgcClient,
  layer: WfsLayer,
  { feature, system }: Sample,
  context: ReadContext,
): Promise<void> {
  const geometry = geometryIn(feature, layer, system);
  if (geometry === null || system.crs === null) return;
  if (!(await areAxesSwapped(system.crs, layer.bounds, extentOf(geometry), context))) return;
  throw createError("unsupported", {
    source: client.source,
    reason: `the coordinates of "${layer.name}" are in another order than "${system.srsName}" means, since they are plausible only after swapping the axes; set the order with --in axisOrder=${system.isNorthFirst ? "xy" : "yx"}`,
  });
}

const bboxOf = ([west, south, east, north]: Extent, isNorthFirst: boolean, srsName: string): string =>
  [...(isNorthFirst ? [south, west, north, east] : [west, south, east, north]), srsName].join(",");

async function withBox(
  client: OgcClient,
  layer: WfsLayer,
  query: WfsQuery,
  { feature, system }: Sample,
  boxes: readonly Extent[],
  context: ReadContext,
): Promise<WfsQuery> {
  if (boxes.length === 0) return query;
  const geometry = geometryIn(feature, layer, system);
  if (geometry === null) return query;
  const around = widen(extentOf(geometry));
  const { isNorthFirst } = await resolveSrsName(query.srsName!, "auto", context.crs);
  const count = async (box: Extent, order = isNorthFirst): Promise<number | null> => {
    try {
      return await countFeatures(client, { ...query, bbox: bboxOf(box, order, query.srsName!) }, context);
    } catch (error) {
      if (error instanceof RequestRefused) return null;
      throw error;
    }
  };
  // A service that takes the axes in another order finds nothing around its own feature, or something at the other place.
  if (!(await count(around)) || (await count(around, !isNorthFirst))) return query;
  const across = boxAcross(geometry);
  if (across && !(await count(across))) return query;
  const box = await chooseBox(boxes, (each) => count(each));
  return box === null ? query : { ...query, bbox: bboxOf(box, isNorthFirst, query.srsName!) };
}

function geometryIn(feature: GmlElement, layer: WfsLayer, { isNorthFirst }: ReferenceSystem): Geometry | null {
  const property = feature.children.find(({ local }) => local === layer.geometryProperty);
  const element = property
    ? geometryOf(property)
    : feature.children
        .filter(({ local }) => local !== "boundedBy")
        .map(geometryOf)
        .find((each) => each !== undefined);
  if (!element) return null;
  try {
    return new GeometryReader({ add: () => undefined }).read(element, { isNorthFirst, dimension: null });
  } catch (error) {
    if (error instanceof GeometryParseError) return null;
    throw error;
  }
}
