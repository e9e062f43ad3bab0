/**
 * What formats cost that go through GDAL, beside ogr2ogr, which has the same drivers: from GeoJSON and back to it, in
 * interleaved runs, by the time of processors. A ratio above 1 means that geoferry is faster.
 *
 *   npm run bench:gdal -- [--shape points,polygons] [--features 100000] [--runs 3] [--workers 1]
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: {
    shape: { type: "string", default: "points,polygons" },
    features: { type: "string", default: "100000" },
    runs: { type: "string", default: "3" },
    workers: { type: "string", default: "1" },
  },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-gdal-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

const drivers = [
  { driver: "FlatGeobuf", label: "FlatGeobuf", extension: "fgb" },
  { driver: "MapInfo File", label: "MapInfo TAB", extension: "tab" },
  { driver: "GML", label: "GML", extension: "gml" },
];

function tasksOf(geojson, { driver, label, extension }) {
  const out = (program, ending) => join(scratch, program, `data.${ending}`);
  const ours = (input, output, ...more) => ({
    command: process.execPath,
    args: [main, "convert", input, output, "--quiet", "--overwrite", "--workers", flags.workers, ...more],
  });
  const theirs = (input, output, ...more) => ({
    command: "ogr2ogr",
    args: ["-q", "-f", ...more, output, input],
    clear: dirname(output),
  });
  const written = out("written", extension);
  return [
    {
      title: `GeoJSON → ${label}`,
      geoferry: ours(geojson, out("geoferry", extension), "--to", `gdal:${driver}`),
      ogr2ogr: theirs(geojson, out("ogr2ogr", extension), driver),
    },
    {
      title: `${label} → GeoJSON`,
      // Both read what ogr2ogr wrote.
      before: theirs(geojson, written, driver),
      geoferry: ours(written, out("geoferry", "geojson"), "--from", `gdal:${driver}`),
      ogr2ogr: theirs(written, out("ogr2ogr", "geojson"), "GeoJSON", "-lco", "RFC7946=YES"),
    },
  ];
}

/** One run, into a folder that ogr2ogr finds empty: it does not overwrite all of its formats. */
async function run({ command, args, clear }) {
  if (clear) {
    rmSync(clear, { recursive: true, force: true });
    mkdirSync(clear);
  }
  // geoferry ends GDAL's process when it has all, and does not wait for it.
  return measure(command, args, { unawaited: true });
}

mkdirSync(join(scratch, "geoferry"));
const count = Number(flags.features);
console.log("| | s of CPU time | ogr2ogr | × ogr2ogr |\n| --- | --- | --- | --- |");
for (const shape of flags.shape.split(",")) {
  const geojson = await makeData(join(tmpdir(), "geoferry-bench"), shape, count, "geojson");
  for (const { title, before, ...programs } of drivers.flatMap((driver) => tasksOf(geojson, driver))) {
    if (before) await run(before);
    const found = { geoferry: [], ogr2ogr: [] };
    for (let n = 0; n < Number(flags.runs); n++) {
      for (const [program, task] of Object.entries(programs)) found[program].push(await run(task));
    }
    const of = (program, what) => median(found[program].map((one) => one[what]));
    const [processor, theirs] = [of("geoferry", "processor"), of("ogr2ogr", "processor")];
    const figures = [processor.toFixed(2), theirs.toFixed(2), (theirs / processor).toFixed(2)];
    console.log(`| ${shape}: ${title} | ${figures.join(" | ")} |`);
  }
}
