/**
 * The main job on the samples, in half a minute: looks at a file, converts between formats, reprojects, filters, checks,
 * and shows what a target cannot hold; then keeps a map of a service of its own equal to a table, and pulls it back.
 * `npm run demo` runs it; the results stay in `geoferry-demo/` of the temporary folder.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { geoferry, output, steps, to } from "./demo-steps.mjs";
import { syncStory } from "./demo-sync.mjs";

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });

geoferry("What is in a Shapefile in a projected CRS?", ["info", "samples/shapefile/survey.shp"]);
geoferry("Shapefile to GeoJSON, reprojected to WGS84", [
  "convert",
  "samples/shapefile/survey.shp",
  to("survey.geojson"),
]);
geoferry("CSV with longitude and latitude to a Shapefile", ["convert", "samples/csv/capitals.csv", to("capitals.shp")]);
geoferry("A European CSV (semicolons, decimal commas, Windows-1252) to GeoJSON", [
  "convert",
  "samples/csv/landeshauptstaedte.csv",
  to("landeshauptstaedte.geojson"),
]);
geoferry("A zipped Shapefile to CSV in Web Mercator", [
  "convert",
  "samples/shapefile/parks.shp.zip",
  to("parks.csv"),
  "--target-crs",
  "EPSG:3857",
]);
geoferry("Only large capitals, a few fields", [
  "convert",
  "samples/capitals.geojson",
  to("large.csv"),
  "--where",
  "population > 5000000",
  "--select",
  "name,country,population",
]);
geoferry(
  "Every geometry type in one file: a Shapefile takes them apart and says what it cannot hold",
  ["convert", "samples/mixed.geojson", to("mixed.shp")],
  5,
  { after: to("mixed_point.shp") },
);
geoferry(
  "A flawed file: the bad rows go to a rejects file",
  ["convert", "samples/flawed/capitals.csv", to("flawed.geojson")],
  5,
);
geoferry("What is in a GPX of a hike?", ["info", "samples/gpx/tour-du-mont-blanc.gpx"]);
geoferry("The hike to a GeoPackage, with the times of its track", [
  "convert",
  "samples/gpx/tour-du-mont-blanc.gpx",
  to("tour.gpkg"),
]);
geoferry("KML with folders and styles to GeoJSON", [
  "convert",
  "samples/kml/parks-and-rivers.kml",
  to("parks-and-rivers.geojson"),
]);
geoferry(
  "A GeoPackage of several layers to one KMZ",
  ["convert", "samples/geopackage/world.gpkg", to("world.kmz")],
  0,
  { layer: "capitals" },
);
geoferry(
  "Several files to one GeoPackage, a layer each",
  ["convert", "samples/trail.geojson", "samples/huts.geojson", "samples/passes.geojson", to("mont-blanc.gpkg")],
  0,
  { before: "samples/passes.geojson", after: to("mont-blanc.gpkg"), layer: "passes" },
);
geoferry(
  "Parks to GPX, which has no polygons: they go to the rejects, and the exit status tells",
  ["convert", "samples/parks.geojson", to("parks.gpx")],
  5,
);
geoferry("A whole folder at once", ["convert", "samples/csv", to("all/"), "--to", "geojson"], 0, {
  before: "samples/csv/rivers.csv",
  after: to("all/rivers.geojson"),
});
geoferry("Check a file before it is used", ["check", "samples/parks.geojson"]);

await syncStory();

const files = readdirSync(output, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
console.log(`\n${files.length} files are in ${output}`);
const { failed } = steps;
console.log(failed === 0 ? "\nThe demo did all it should." : `\n${failed} steps of the demo went wrong.`);
console.log(`Open in a browser, the changes of the last push on a map: ${to("plan.html")}`);
process.exit(failed === 0 ? 0 : 1);
