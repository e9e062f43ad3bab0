/**
 * Differences that are inherent to a format and lose no value, so that they are not reported. All other differences
 * after a round trip must be reported.
 */
interface Exemption {
  /** Ids of the formats; the exemption applies to round trips that involve one of them. */
  readonly formats: readonly string[];
  readonly because: string;
}

export const exemptions = {
  "integer width": {
    formats: ["csv", "geojson", "geojsonseq", "ods", "shapefile", "topojson", "xlsx"],
    because:
      "CSV, GeoJSON, TopoJSON and spreadsheets have one kind of number, a .dbf so many digits: int32 or int64 is inferred from the values; if GeoJSON has some as text, all are json",
  },
  "no value": {
    formats: ["csv", "geojson", "geojsonseq", "ods", "shapefile", "topojson", "xlsx"],
    because:
      "CSV, GeoJSON, TopoJSON and spreadsheets tell a type by the values: a column without any comes back as text, or not at all; a .dbf has few types, and casts nothing where there is nothing",
  },
  "ISO text": {
    formats: ["csv", "geojson", "geojsonseq", "topojson"],
    because:
      "GeoJSON, TopoJSON and CSV have no dates: text that is an ISO date (time, datetime) in every feature is taken for one",
  },
  "plain json": {
    formats: ["geojson", "geojsonseq", "topojson"],
    because:
      "a property of GeoJSON or TopoJSON is JSON: where all values of a json field are numbers, texts, or true or false, it is a field of these",
  },
  absent: {
    formats: ["csv", "flatgeobuf", "geopackage", "geoparquet", "gpx", "kml", "ods", "shapefile", "xlsx"],
    because:
      "a table has a cell for each field of each feature, and a Schema of KML is one: a property that is absent comes back as null; a GPX has elements and no cells: null comes back as absent",
  },
  "value as text": {
    formats: ["ods", "xlsx"],
    because:
      "dates before 1900 and long integers are text in a spreadsheet, which is reported; readers that tell types by the values take them for dates and integers again",
  },
  zone: {
    formats: ["ods", "xlsx"],
    because:
      "a spreadsheet has no time zones, a GeoPackage takes times without one for UTC: two losses, both reported, of which the second may undo the first",
  },
  "single and multi": {
    formats: ["shapefile"],
    because: "a Shapefile has one type for a line or polygon of one part and of several",
  },
  "null and empty": {
    formats: ["shapefile"],
    because:
      "a .dbf has no empty text, a CSV of one column no null: two losses, both reported, of which the second undoes the first",
  },
  ids: {
    formats: ["geopackage"],
    because: "a GeoPackage has a number for every feature: one without an id gets one",
  },
  "mixed column": {
    formats: ["geojson", "geojsonseq", "topojson"],
    because:
      "GeoJSON and TopoJSON have no type for a column: where one number became text, which is reported, all come back as json",
  },
  "field order": {
    formats: ["geojson", "geojsonseq", "topojson"],
    because: "GeoJSON and TopoJSON have no table of fields: they are in the order in which features have them first",
  },
  "kind of feature": {
    formats: ["gpx"],
    because: "every feature of a GPX is a waypoint, a route or a track, which its reader stores in a field _gpxType",
  },
  order: {
    formats: ["gpx"],
    because: "a GPX has its waypoints before its routes, and those before its tracks (GPX 1.1, gpxType)",
  },
} as const satisfies Readonly<Record<string, Exemption>>;

export type ExemptionName = keyof typeof exemptions;

/** The exemptions of the formats in a round trip. */
export class TripExemptions {
  constructor(private readonly formats: readonly string[]) {}

  has(name: ExemptionName): boolean {
    const { formats }: Exemption = exemptions[name];
    return this.formats.some((format) => formats.includes(format));
  }
}
