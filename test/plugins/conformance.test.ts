import { readdirSync } from "node:fs";
import { describe, test } from "vitest";
import { esrijson } from "../../plugins/arcgis/index.js";
import csv from "../../plugins/csv/index.js";
import flatgeobuf from "../../plugins/flatgeobuf/index.js";
import { geojson, geojsonseq } from "../../plugins/geojson/index.js";
import geopackage from "../../plugins/geopackage/index.js";
import geoparquet from "../../plugins/geoparquet/index.js";
import gpx from "../../plugins/gpx/index.js";
import kml from "../../plugins/kml/index.js";
import { gml } from "../../plugins/ogc/index.js";
import shapefile from "../../plugins/shapefile/index.js";
import { ods, xlsx } from "../../plugins/spreadsheets/index.js";
import tcx from "../../plugins/tcx/index.js";
import topojson from "../../plugins/topojson/index.js";
import { fieldTypes } from "../../src/model/index.js";
import { checkFormat } from "../../src/testing/index.js";

const samples = new URL("../../samples/", import.meta.url).pathname;
const filesOf = (folder: string, extension: string) =>
  readdirSync(samples + folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ path: `${samples}${folder}/${name}` }));

describe("every format keeps the contract", () => {
  checkFormat(csv, { test, samples: filesOf("csv", ".csv") });
  checkFormat(esrijson, {
    test,
    samples: [
      {
        path: `${samples}esrijson/parks.json`,
        layers: [{ features: 27, geometryTypes: ["Polygon", "MultiPolygon"] }],
      },
    ],
    readerOptions: { domains: "names" },
  });
  checkFormat(gml, {
    test,
    samples: [
      {
        path: `${samples}gml/stops.gml`,
        layers: [
          { features: 4, geometryTypes: ["Point"] },
          { features: 2, geometryTypes: ["LineString", "MultiLineString"] },
        ],
      },
    ],
    readerOptions: { types: "text" },
  });
  checkFormat(geojson, { test, samples: filesOf(".", ".geojson") });
  checkFormat(geojsonseq, { test });
  checkFormat(geopackage, { test, samples: filesOf("geopackage", ".gpkg"), keepsTypes: fieldTypes });
  checkFormat(geoparquet, { test, keepsTypes: fieldTypes });
  checkFormat(xlsx, { test, samples: filesOf("spreadsheets", ".xlsx") });
  checkFormat(ods, { test, samples: filesOf("spreadsheets", ".ods") });
  // An index changes the order of the features.
  checkFormat(flatgeobuf, { test, writerOptions: { index: "no" }, keepsTypes: fieldTypes });
  checkFormat(kml, { test, keepsTypes: fieldTypes, readerOptions: { layers: "folders" } });
  // A field of its own and several waypoints for a feature are what GPX is read and written with otherwise.
  checkFormat(gpx, {
    test,
    samples: filesOf("gpx", ".gpx"),
    readerOptions: { gpxType: "no" },
    writerOptions: { multipoints: "reject" },
    keepsTypes: fieldTypes,
    groupOf: (geometry) => (geometry?.type === "Point" && geometry.coordinates.length > 0 ? 0 : 1),
  });
  checkFormat(tcx, {
    test,
    samples: [
      {
        path: `${samples}tcx/col-de-voza.tcx`,
        layers: [{ features: 5, geometryTypes: ["Point", "LineString", "MultiLineString"] }],
      },
    ],
    readerOptions: { tcxType: "no" },
  });
  checkFormat(topojson, {
    test,
    samples: [
      {
        path: `${samples}topojson/districts.topojson`,
        layers: [
          { features: 4, geometryTypes: ["Polygon", "MultiPolygon"] },
          { features: 2, geometryTypes: ["Point", "MultiPoint"] },
          { features: 1, geometryTypes: ["LineString"] },
        ],
      },
    ],
  });
  checkFormat(shapefile, {
    test,
    samples: filesOf("shapefile", ".shp"),
    keepsTypes: ["boolean", "double", "text", "date"],
  });
});
