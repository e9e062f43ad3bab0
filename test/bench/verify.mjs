/**
 * What `convert --verify` costs: each conversion with and without it, in turns.
 *
 *   npm run bench:verify -- [--points 300000] [--areas 30000] [--rounds 3] [--pairs geojson-gpkg,gpkg-geojson,…] [--workers N]
 *
 * The target: the geometric mean of the ratios of processor time and of elapsed time is at most 1.6.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { main } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    points: { type: "string", default: "300000" },
    areas: { type: "string", default: "30000" },
    rounds: { type: "string", default: "3" },
    pairs: {
      type: "string",
      default:
        "geojson-gpkg,geojson-parquet,geojson-fgb,geojson-shp,geojson-csv,csv-geojson,gpkg-geojson,gpkg-parquet,parquet-gpkg",
    },
    workers: { type: "string" },
  },
});
const target = 1.6;
const folder = mkdtempSync(join(tmpdir(), "geoferry-verify-bench-"));
const workers = flags.workers === undefined ? [] : ["--workers", flags.workers];

const run = (input, output, ...more) =>
  measure(process.execPath, [main, "convert", input, output, "--overwrite", "--quiet", ...workers, ...more]);

const ratios = { seconds: [], processor: [] };
try {
  for (const [shape, count] of [
    ["points", Number(flags.points)],
    ["polygons", Number(flags.areas)],
  ]) {
    const source = await makeData(folder, shape, count, "geojson");
    for (const pair of flags.pairs.split(",")) {
      const [from, to] = pair.split("-");
      const input = from === "geojson" ? source : join(folder, `${shape}.${from}`);
      if (input !== source) await run(source, input);
      const output = join(folder, `out.${to}`);
      const times = { plain: [], verified: [] };
      for (let round = 0; round < Number(flags.rounds); round++) {
        times.plain.push(await run(input, output));
        times.verified.push(await run(input, output, "--verify"));
      }
      const of = (kind, what) => median(times[kind].map((one) => one[what]));
      const ratio = (what) => of("verified", what) / of("plain", what);
      for (const what of Object.keys(ratios)) ratios[what].push(ratio(what));
      console.log(
        `${shape.padEnd(9)} ${pair.padEnd(16)} ${of("plain", "seconds").toFixed(2)} s → ${of("verified", "seconds").toFixed(2)} s: ${ratio("seconds").toFixed(2)}; processor ${ratio("processor").toFixed(2)}; memory ${of("plain", "peak").toFixed(0)} → ${of("verified", "peak").toFixed(0)} MB`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const mean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const [seconds, processor] = [mean(ratios.seconds), mean(ratios.processor)];
console.log(
  `geometric mean of the ratios: elapsed ${seconds.toFixed(2)}, processor ${processor.toFixed(2)} (target ${target})`,
);
process.exit(seconds <= target ? 0 : 1);
