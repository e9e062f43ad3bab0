/**
 * The main job on the samples, in a minute: looks at a file, converts between formats, reprojects, filters, checks, and
 * shows what a target cannot hold. `npm run demo` runs it; the results stay in `demo-output/` of the temporary folder.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const samples = dirname(fileURLToPath(import.meta.url));
const main = join(dirname(samples), "dist", "src", "cli", "main.js");
const output = join(tmpdir(), "geoferry-demo");
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });

let failed = 0;

/** Runs one command as a person would type it, and shows both. */
function geoferry(title, args, expected = 0) {
  const words = args.map((word) => (/[\s*'<>()]/.test(word) ? `"${word}"` : word));
  console.log(`\n# ${title}\n$ geoferry ${words.join(" ")}`);
  const run = spawnSync(process.execPath, [main, ...args], {
    cwd: dirname(samples),
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (run.status === expected) return;
  failed++;
  console.log(`! ended with ${run.status}, expected ${expected}`);
}

const to = (name) => join(output, name);

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
geoferry("A GeoPackage of several layers to one KMZ", ["convert", "samples/geopackage/world.gpkg", to("world.kmz")]);
geoferry("Several files to one GeoPackage, a layer each", [
  "convert",
  "samples/trail.geojson",
  "samples/huts.geojson",
  "samples/passes.geojson",
  to("mont-blanc.gpkg"),
]);
geoferry(
  "Parks to GPX, which has no polygons: they go to the rejects, and the exit status tells",
  ["convert", "samples/parks.geojson", to("parks.gpx")],
  5,
);
geoferry("A whole folder at once", ["convert", "samples/csv", to("all/"), "--to", "geojson"]);
geoferry("Check a file before it is used", ["check", "samples/parks.geojson"]);

console.log(`\nWritten to ${output}:`);
const list = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) list(path);
    else console.log(`  ${relative(output, path).padEnd(44)} ${String(statSync(path).size).padStart(9)} bytes`);
  }
};
list(output);
console.log(failed === 0 ? "\nThe demo did all it should." : `\n${failed} steps of the demo went wrong.`);
process.exit(failed === 0 ? 0 : 1);
