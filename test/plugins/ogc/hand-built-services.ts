/** Services whose answers have the shapes of the standards: WFS (OGC 09-025r2, 04-094) and OGC API Features (17-069r4, 18-058r1). */
import type { ArcgisRequest, GivenAnswer } from "../../support/servers/answering-server.js";

export interface Stop {
  readonly id: number;
  readonly name: string;
  /** Easting and northing in EPSG:31467, which declares the northing first. */
  readonly x: number;
  readonly y: number;
}

export const stops = (count: number): Stop[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: n + 1, name: `stop ${n + 1}` },
    ...{ x: 3_500_000 + n, y: 5_400_000 + 2 * n },
  }));

const gmlNamespaces =
  'xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:app="http://example.org/app"';

/** The value of a parameter in any case. */
export const parameter = ({ parameters }: ArcgisRequest, name: string): string | undefined =>
  [...parameters].find(([key]) => key.toLowerCase() === name)?.[1];

export const xml = (body: string, status = 200): GivenAnswer => ({
  ...{ status, headers: { "content-type": "application/xml" }, body },
});

export const exception = (code: string, text: string, status = 200): GivenAnswer =>
  xml(
    `<?xml version="1.0"?><ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1" version="2.0.0"><ows:Exception exceptionCode="${code}"><ows:ExceptionText>${text}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`,
    status,
  );

export interface WfsSettings {
  readonly hasPaging?: boolean;
  /** Most features of an answer. */
  readonly limit?: number;
  /** Whether the easting is first although the name means the northing. */
  readonly isSwapped?: boolean;
  /** Whether BBOX is understood with the easting first. */
  readonly hasSwappedBox?: boolean;
  /** Whether features have a date with a zone, as GeoServer writes dates. */
  readonly hasDate?: boolean;
  /** Text of numberMatched in answers to hits. */
  readonly matched?: string;
}

const member = ({ id, name, x, y }: Stop, { isSwapped, hasDate }: WfsSettings): string =>
  `<wfs:member><app:stop gml:id="stop.${id}"><app:geom><gml:Point gml:id="p.${id}" srsName="urn:ogc:def:crs:EPSG::31467"><gml:pos>${isSwapped ? `${x} ${y}` : `${y} ${x}`}</gml:pos></gml:Point></app:geom><app:id>${id}</app:id><app:name>${name}</app:name>${hasDate ? "<app:opened>2024-01-02Z</app:opened>" : ""}</app:stop></wfs:member>`;

/** Answers of a WFS 2.0.0 with one feature type, in the order of the features. */
export function answerWfs(asked: ArcgisRequest, all: readonly Stop[], settings: WfsSettings = {}): GivenAnswer {
  const { hasPaging = true, limit = 1000, hasSwappedBox = false } = settings;
  switch (parameter(asked, "request")) {
    case "GetCapabilities":
      return xml(`<?xml version="1.0"?><wfs:WFS_Capabilities version="2.0.0" xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:ows="http://www.opengis.net/ows/1.1">
<ows:OperationsMetadata><ows:Constraint name="ImplementsResultPaging"><ows:NoValues/><ows:DefaultValue>${hasPaging ? "TRUE" : "FALSE"}</ows:DefaultValue></ows:Constraint></ows:OperationsMetadata>
<wfs:FeatureTypeList><wfs:FeatureType><wfs:Name>app:stop</wfs:Name><wfs:DefaultCRS>urn:ogc:def:crs:EPSG::31467</wfs:DefaultCRS></wfs:FeatureType></wfs:FeatureTypeList></wfs:WFS_Capabilities>`);
    case "DescribeFeatureType":
      return xml(
        `<?xml version="1.0"?><schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:gml="http://www.opengis.net/gml/3.2"><element name="stop" type="app:stopType"/><complexType name="stopType"><sequence><element name="geom" type="gml:PointPropertyType"/><element name="id" type="int"/><element name="name" type="string"/>${settings.hasDate ? '<element name="opened" type="date"/>' : ""}</sequence></complexType></schema>`,
      );
    case "GetFeature": {
      const box = parameter(asked, "bbox")?.split(",").slice(0, 4).map(Number);
      const found = box ? all.filter((stop) => isInBox(stop, box, hasSwappedBox)) : all;
      if (parameter(asked, "resulttype") === "hits")
        return xml(
          `<wfs:FeatureCollection ${gmlNamespaces} numberMatched="${settings.matched ?? found.length}" numberReturned="0"/>`,
        );
      const start = Number(parameter(asked, "startindex") ?? 0);
      const page = found.slice(start, start + Math.min(limit, Number(parameter(asked, "count") ?? limit)));
      return xml(
        `<?xml version="1.0"?>\n<wfs:FeatureCollection ${gmlNamespaces} numberMatched="unknown" numberReturned="${page.length}">${page.map((stop) => member(stop, settings)).join("")}</wfs:FeatureCollection>`,
      );
    }
    default:
      return exception("OperationNotSupported", "Unknown request", 400);
  }
}

/** @param box in the order of the authority: northing first */
function isInBox({ x, y }: Stop, box: readonly number[], isSwapped: boolean): boolean {
  const [a, b, c, d] = box as [number, number, number, number];
  const [west, south, east, north] = isSwapped ? [a, b, c, d] : [b, a, d, c];
  return x >= west && x <= east && y >= south && y <= north;
}

const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
export const gaussKrueger = "http://www.opengis.net/def/crs/EPSG/0/31467";

export interface FeaturesSettings {
  /** Whether the service has reference systems (part 2). */
  readonly hasCrs?: boolean;
  /** Whether the service has filters (part 3, CQL2 text). */
  readonly hasFilter?: boolean;
  readonly limit?: number;
  readonly isMatchedKnown?: boolean;
  readonly isSwapped?: boolean;
  /** Whether numbers in filters are compared as texts. */
  readonly comparesTexts?: boolean;
}

/**
 * Answers of an OGC API with one collection, `stops`. In longitude and latitude, its positions are numbers of the right
 * size, not those of the places.
 */
export function answerFeatures(
  asked: ArcgisRequest,
  origin: string,
  all: readonly Stop[],
  settings: FeaturesSettings = {},
): GivenAnswer | object {
  const { hasCrs = true, hasFilter = false, limit = 1000, isMatchedKnown = true, isSwapped = false } = settings;
  const compare = settings.comparesTexts
    ? (value: number, comparison: string, other: string) => isMet(String(value), comparison, other)
    : (value: number, comparison: string, other: string) => isMet(value, comparison, Number(other));
  const collection = {
    ...{ id: "stops", title: "Stops", itemType: "feature" },
    ...(hasCrs && { crs: [crs84, gaussKrueger], storageCrs: gaussKrueger }),
    links: [{ rel: "items", type: "application/geo+json", href: `${origin}/api/collections/stops/items` }],
  };
  switch (asked.path) {
    case "/api":
      return { links: [{ rel: "data", href: `${origin}/api/collections` }] };
    case "/api/conformance":
      return {
        conformsTo: [
          "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
          ...(hasCrs ? ["http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs"] : []),
          ...(hasFilter
            ? [
                "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter",
                "http://www.opengis.net/spec/cql2/1.0/conf/cql2-text",
              ]
            : []),
        ],
      };
    case "/api/collections":
      return { collections: [collection, { id: "books", itemType: "record", links: [] }], links: [] };
    case "/api/collections/stops":
      return collection;
    case "/api/collections/stops/queryables":
      return { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } };
    case "/api/collections/stops/items": {
      const { parameters } = asked;
      const isLocal = parameters.get("crs") === gaussKrueger;
      const filters = [...(parameters.get("filter") ?? "").matchAll(/id (>=|<=|=|<|>) (-?[\d.]+)/g)];
      const box = parameters.get("bbox")?.split(",").map(Number);
      const found = all.filter(
        (stop) =>
          filters.every(([, comparison, other]) => compare(stop.id, comparison!, other!)) &&
          (!box || parameters.get("bbox-crs") !== gaussKrueger || isInBox(stop, box, false)),
      );
      const start = Number(parameters.get("offset") ?? 0);
      const size = Math.min(limit, Number(parameters.get("limit") ?? 10));
      const page = found.slice(start, start + size);
      const next = new URL(`${origin}${asked.path}?${parameters}`);
      next.searchParams.set("offset", String(start + page.length));
      const hasNext = start + page.length < found.length;
      const body = {
        type: "FeatureCollection",
        ...(isMatchedKnown && { numberMatched: found.length }),
        numberReturned: page.length,
        links: hasNext ? [{ rel: "next", type: "application/geo+json", href: next.href }] : [],
        features: page.map(({ id, name, x, y }) => ({
          ...{ type: "Feature", id, properties: { id, name } },
          geometry: {
            type: "Point",
            coordinates: isLocal ? (isSwapped ? [x, y] : [y, x]) : [x / 1e6, y / 1e6],
          },
        })),
      };
      const headers = { "content-type": "application/geo+json", "content-crs": `<${isLocal ? gaussKrueger : crs84}>` };
      return { headers, body: JSON.stringify(body) };
    }
    default:
      return { status: 404, body: JSON.stringify({ code: "NotFound", description: "no such resource" }) };
  }
}

function isMet<T extends number | string>(value: T, comparison: string, other: T): boolean {
  if (comparison === "=") return value === other;
  if (comparison.startsWith(">")) return comparison === ">" ? value > other : value >= other;
  return comparison === "<" ? value < other : value <= other;
}
