/**
 * Peak resident memory at one and at ten times as many features: it must not grow with the input.
 *
 *   node test/bench/memory.mjs [--points 1000000] [--times 10] [--workers 2] [--folder DIR]
 */
import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: {
    points: { type: "string", default: "1000000" },
    times: { type: "string", default: "10" },
    workers: { type: "string" },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
  },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const times = Number(flags.times);
const workers = flags.workers === undefined ? [] : ["--workers", flags.workers];

/** The bytes from … to of one file, behind what the other has already. */
const add = (from, to, range) => pipeline(createReadStream(from, range), createWriteStream(to, { flags: "a" }));

/** The same features again and again: the text between a head and a tail is repeated. */
async function repeat(from, to, head, tail, between) {
  if (existsSync(to)) return;
  const { size } = statSync(from);
  await add(from, to, { start: 0, end: head - 1 });
  for (let n = 0; n < times; n++) {
    await add(from, to, { start: head, end: size - tail - 1 });
    if (n < times - 1 && between) await pipeline([between], createWriteStream(to, { flags: "a" }));
  }
  if (tail > 0) await add(from, to, { start: size - tail });
}

const small = {};
for (const format of ["csv", "geojson", "shp", "gpkg"]) {
  small[format] = await makeData(flags.folder, "points", Number(flags.points), format);
}
const large = Object.fromEntries(
  Object.keys(small).map((format) => [format, join(flags.folder, `points-${flags.points}x${times}.${format}`)]),
);
await repeat(small.csv, large.csv, "lon,lat,name,kind,count,share,day\n".length, 0, "");
await repeat(small.geojson, large.geojson, '{"type":"FeatureCollection","features":[\n'.length, "\n]}\n".length, ",\n");
for (const path of [large.shp, large.gpkg]) {
  if (!existsSync(path)) await measure(process.execPath, [main, "convert", large.csv, path, "-q", ...workers]);
}

console.log("| from | to | input MB | MB at 1 | MB at ×10 | seconds at ×10 |\n| --- | --- | --- | --- | --- | --- |");
let most = 0;
for (const [from, to] of [
  ["csv", "geojson"],
  ["csv", "shp"],
  ["csv", "gpkg"],
  ["geojson", "csv"],
  ["geojson", "shp"],
  ["shp", "csv"],
  ["shp", "geojson"],
  ["gpkg", "geojson"],
  ["gpkg", "gpkg"],
]) {
  const peaks = [];
  for (const input of [small[from], large[from]]) {
    const scratch = mkdtempSync(join(tmpdir(), "geoferry-memory-"));
    const args = [main, "convert", input, join(scratch, `out.${to}`), "-q", "--overwrite", ...workers];
    peaks.push(await measure(process.execPath, args));
    rmSync(scratch, { recursive: true });
  }
  const [one, ten] = peaks;
  most = Math.max(most, ten.peak);
  const size = (statSync(large[from]).size / 1e6).toFixed(0);
  console.log(
    `| ${from} | ${to} | ${size} | ${one.peak.toFixed(0)} | ${ten.peak.toFixed(0)} | ${ten.seconds.toFixed(1)} |`,
  );
}
console.log(`\nhighest: ${most.toFixed(0)} MB`);
