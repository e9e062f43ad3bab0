/**
 * The ogr2ogr commands of the benchmarks: drivers for each format, and options that depend on the geometry type.
 */

const fromCsv = {
  points: ["-oo", "X_POSSIBLE_NAMES=lon", "-oo", "Y_POSSIBLE_NAMES=lat"],
  lines: ["-oo", "GEOM_POSSIBLE_NAMES=wkt"],
  polygons: ["-oo", "GEOM_POSSIBLE_NAMES=wkt"],
};

/**
 * By format: the extension, and its drivers with what stands before the output, before the input and behind it.
 * `share` is the part of the features that a bench with this format takes.
 */
export const formats = {
  csv: {
    extension: "csv",
    drivers: [
      {
        name: "CSV",
        reading: (geometry) => [
          ...["-oo", "AUTODETECT_TYPE=YES", "-oo", "KEEP_GEOM_COLUMNS=NO"],
          ...fromCsv[geometry],
          ...["-a_srs", "EPSG:4326"],
        ],
        writing: (geometry) => ["-lco", geometry === "points" ? "GEOMETRY=AS_XY" : "GEOMETRY=AS_WKT"],
      },
    ],
  },
  geojson: { extension: "geojson", drivers: [{ name: "GeoJSON", writing: () => ["-lco", "RFC7946=YES"] }] },
  shp: { extension: "shp", drivers: [{ name: "ESRI Shapefile", writing: () => ["-lco", "ENCODING=UTF-8"] }] },
  gpkg: { extension: "gpkg", drivers: [{ name: "GPKG" }] },
  fgb: { extension: "fgb", drivers: [{ name: "FlatGeobuf" }] },
  kml: {
    extension: "kml",
    share: 0.2,
    drivers: [
      { name: "LIBKML" },
      // LIBKML reads a KML first, unless it is left out.
      { name: "KML", reading: () => ["--config", "OGR_SKIP", "LIBKML"] },
    ],
  },
  gpx: {
    extension: "gpx",
    share: 0.2,
    geometries: ["points", "lines"],
    drivers: [
      {
        name: "GPX",
        writing: (geometry) => [
          ...["-dsco", "GPX_USE_EXTENSIONS=YES", "-lco", "FORCE_GPX_TRACK=YES"],
          // A KML does not say what kind of geometry a layer has.
          ...["-nlt", geometry === "points" ? "POINT" : "MULTILINESTRING"],
        ],
        layer: (geometry) => (geometry === "points" ? "waypoints" : "tracks"),
      },
    ],
  },
};

/** The arguments with which ogr2ogr converts `input` to `output` by the drivers given. */
export function ogrArguments(from, to, geometry, input, output) {
  return [
    ...["-f", to.name, ...(to.writing?.(geometry) ?? [])],
    ...(from.reading?.(geometry) ?? []),
    ...[output, input],
    ...(from.layer ? [from.layer(geometry)] : []),
  ];
}
