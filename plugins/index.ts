/** The built-in formats, and the modules from which workers load them. */
import type { Format } from "../src/plugin/format.js";
import arcgis from "./arcgis/index.js";
import csv from "./csv/index.js";
import flatgeobuf from "./flatgeobuf/index.js";
import gdal from "./gdal/index.js";
import geojson from "./geojson/index.js";
import geopackage from "./geopackage/index.js";
import geoparquet from "./geoparquet/index.js";
import gpx from "./gpx/index.js";
import kml from "./kml/index.js";
import ogc from "./ogc/index.js";
import postgis from "./postgis/index.js";
import shapefile from "./shapefile/index.js";
import spreadsheets from "./spreadsheets/index.js";
import tcx from "./tcx/index.js";
import topojson from "./topojson/index.js";

export const builtins: readonly { readonly module: string; readonly formats: readonly Format[] }[] = [
  { module: "#plugins/shapefile", formats: [shapefile] },
  { module: "#plugins/csv", formats: [csv] },
  { module: "#plugins/geopackage", formats: [geopackage] },
  { module: "#plugins/geojson", formats: geojson },
  { module: "#plugins/topojson", formats: [topojson] },
  { module: "#plugins/geoparquet", formats: [geoparquet] },
  { module: "#plugins/flatgeobuf", formats: [flatgeobuf] },
  { module: "#plugins/spreadsheets", formats: spreadsheets },
  { module: "#plugins/gpx", formats: [gpx] },
  { module: "#plugins/tcx", formats: [tcx] },
  { module: "#plugins/kml", formats: [kml] },
  { module: "#plugins/arcgis", formats: arcgis },
  { module: "#plugins/ogc", formats: ogc },
  { module: "#plugins/postgis", formats: [postgis] },
  { module: "#plugins/gdal", formats: gdal },
];
