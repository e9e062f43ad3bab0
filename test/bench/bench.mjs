/**
 * Speed and memory beside ogr2ogr, in interleaved runs, as ratios. The small file tells what it takes to begin and end.
 *
 *   npm run bench -- [--quick] [--runs 5] [--workers 1] [--shape points|small] [--from csv] [--to shp] [--scale 1] [--folder DIR]
 *
 * `--quick` takes little data once, to see that it runs. A ratio above 1 means that geoferry is faster.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    workers: { type: "string", default: "1" },
    shape: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    scale: { type: "string", default: "1" },
    folder: { type: "string" },
    memory: { type: "boolean", default: false },
  },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const folder = flags.folder ?? join(tmpdir(), "geoferry-bench");
const scale = flags.quick ? 0.01 : Number(flags.scale);
const runs = Number(flags.runs ?? (flags.quick ? 1 : 5));
const sets = [
  { name: "points", shape: "points", count: Math.round(1_000_000 * scale) },
  { name: "lines", shape: "lines", count: Math.round(100_000 * scale) },
  { name: "polygons", shape: "polygons", count: Math.round(100_000 * scale) },
  // What it takes to begin and end; not in the mean.
  { name: "small", shape: "lines", count: 20 },
];
const extensions = { csv: "csv", geojson: "geojson", shp: "shp" };
const drivers = { csv: "CSV", geojson: "GeoJSON", shp: "ESRI Shapefile" };

function ogrArguments(from, to, shape, input, output) {
  const reading =
    from === "csv"
      ? [
          "-oo",
          "AUTODETECT_TYPE=YES",
          "-oo",
          "KEEP_GEOM_COLUMNS=NO",
          ...(shape === "points"
            ? ["-oo", "X_POSSIBLE_NAMES=lon", "-oo", "Y_POSSIBLE_NAMES=lat"]
            : ["-oo", "GEOM_POSSIBLE_NAMES=wkt"]),
        ]
      : [];
  const writing =
    to === "csv"
      ? ["-lco", shape === "points" ? "GEOMETRY=AS_XY" : "GEOMETRY=AS_WKT"]
      : to === "shp"
        ? ["-lco", "ENCODING=UTF-8"]
        : ["-lco", "RFC7946=YES"];
  return ["-f", drivers[to], ...writing, output, ...reading, ...(from === "csv" ? ["-a_srs", "EPSG:4326"] : []), input];
}

async function compare(from, to, shape, input) {
  const times = { ours: [], theirs: [], ourPeak: 0, theirPeak: 0 };
  for (let run = 0; run < runs; run++) {
    const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-out-"));
    const output = join(scratch, `out.${extensions[to]}`);
    const ours = await measure(process.execPath, [
      main,
      "convert",
      input,
      output,
      "--quiet",
      "--workers",
      flags.workers,
    ]);
    for (const name of readdirSync(scratch)) rmSync(join(scratch, name));
    const theirs = await measure("ogr2ogr", ogrArguments(from, to, shape, input, output));
    rmSync(scratch, { recursive: true });
    times.ours.push(ours.seconds);
    times.theirs.push(theirs.seconds);
    times.ourPeak = Math.max(times.ourPeak, ours.peak);
    times.theirPeak = Math.max(times.theirPeak, theirs.peak);
  }
  return times;
}

console.log(
  `| shape | from | to | geoferry s | ogr2ogr s | ratio | geoferry MB | ogr2ogr MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |`,
);
const ratios = [];
for (const { name, shape, count } of sets) {
  if (flags.shape && flags.shape !== name) continue;
  const paths = await makeData(folder, shape, count);
  const digits = name === "small" ? 3 : 2;
  for (const from of Object.keys(extensions)) {
    for (const to of Object.keys(extensions)) {
      if ((flags.from && flags.from !== from) || (flags.to && flags.to !== to)) continue;
      const { ours, theirs, ourPeak, theirPeak } = await compare(from, to, shape, paths[from]);
      const ratio = median(theirs) / median(ours);
      if (name !== "small") ratios.push(ratio);
      console.log(
        `| ${name} | ${from} | ${to} | ${median(ours).toFixed(digits)} | ${median(theirs).toFixed(digits)} | ${ratio.toFixed(2)} | ${ourPeak.toFixed(0)} | ${theirPeak.toFixed(0)} |`,
      );
    }
  }
}
const setting = `${process.arch}, Node ${process.versions.node}, --workers ${flags.workers}`;
if (ratios.length > 0) {
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  console.log(`\ngeometric mean of ${ratios.length} ratios: ${mean.toFixed(2)} (${setting})`);
} else console.log(`\n${setting}`);
