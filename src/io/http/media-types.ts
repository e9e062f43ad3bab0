/** Media types (IANA registry) by file extension. */
import { extname } from "node:path";

/** If several extensions have one type, the first is used for files without a name. */
const mediaTypesByExtension: ReadonlyMap<string, string> = new Map(
  Object.entries({
    geojson: "application/geo+json",
    json: "application/json",
    topojson: "application/json",
    geojsonl: "application/x-ndjson",
    ndjson: "application/x-ndjson",
    geojsons: "application/geo+json-seq",
    // geoferry writes text as UTF-8.
    csv: "text/csv; charset=utf-8",
    tsv: "text/tab-separated-values; charset=utf-8",
    gpx: "application/gpx+xml",
    kml: "application/vnd.google-earth.kml+xml",
    kmz: "application/vnd.google-earth.kmz",
    gml: "application/gml+xml",
    gpkg: "application/geopackage+sqlite3",
    sqlite: "application/vnd.sqlite3",
    parquet: "application/vnd.apache.parquet",
    shp: "application/vnd.shp",
    shx: "application/vnd.shx",
    dbf: "application/vnd.dbf",
    zip: "application/zip",
  }),
);

/** Other media types that servers send. */
const mediaTypeAliases: Readonly<Record<string, string>> = {
  "application/vnd.geo+json": "geojson",
  "application/vnd.garmin.tcx+xml": "tcx",
  "application/x-sqlite3": "gpkg",
  "application/x-zip-compressed": "zip",
};

const withoutParameters = (type: string): string => type.split(";")[0]!.trim().toLowerCase();

const extensionsByMediaType = new Map([
  ...Object.entries(mediaTypeAliases),
  ...[...mediaTypesByExtension].reverse().map(([extension, type]) => [withoutParameters(type), extension] as const),
]);

/** The media type with its charset; `application/octet-stream` for unknown extensions. */
export const mediaTypeOf = (name: string): string =>
  mediaTypesByExtension.get(extname(name).slice(1).toLowerCase()) ?? "application/octet-stream";

/** @param type as in a Content-Type header, with parameters or without */
export const extensionForMediaType = (type: string): string | undefined =>
  extensionsByMediaType.get(withoutParameters(type));
