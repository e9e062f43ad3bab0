/**
 * Speed and memory beside ogr2ogr, mapshaper, DuckDB and pyogrio, in interleaved runs: every pair of formats, five shapes of data.
 *
 *   npm run bench -- [--quick] [--runs 3] [--workers 1,2,auto] [--shape points,lines,polygons,wide,text,utm] [--from csv]
 *                    [--to shp,gpkg] [--scale 1] [--by seconds|processor] [--folder DIR] [--keep FILE] [--limit 120]
 *                    [--mapshaper PATH|no] [--duckdb PATH|no] [--pyogrio PYTHON|no] [--docs]
 *
 * `--quick` takes little data once, to see that it runs. By the seconds that pass or, where others keep the machine
 * busy, by those of processors in all threads. `--keep` adds to the measurements in a file, so that shapes can be
 * measured one by one; `--docs` writes all of them into docs/speed.md. The other programs, and a
 * Python with pyogrio, are taken from PATH unless they are given; `no` leaves one out.
 * Other programs are stopped after `--limit` seconds: LIBKML takes a quarter of an hour to write 200,000 points.
 */
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { parseArgs } from "node:util";
import { Comparison } from "./comparison.mjs";
import { makeData, shapes } from "./data.mjs";
import { measure, median, TooSlow } from "./measure.mjs";
import { formats } from "./ogr2ogr.mjs";
import { findPeers, peerNames } from "./peers.mjs";
import { main, programs, setting } from "./programs.mjs";
import { reprojectionCost } from "./reproject.mjs";
import { fillSpeedPage, table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    workers: { type: "string", default: "1,2,auto" },
    shape: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    scale: { type: "string", default: "1" },
    by: { type: "string", default: "seconds" },
    ...Object.fromEntries(peerNames.map((name) => [name, { type: "string" }])),
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
    keep: { type: "string" },
    limit: { type: "string", default: "120" },
    docs: { type: "boolean", default: false },
  },
});
const { by, folder } = flags;
if (by !== "seconds" && by !== "processor") throw new Error("--by is seconds or processor");
const scale = flags.quick ? 0.01 : Number(flags.scale);
const runs = Number(flags.runs ?? (flags.quick ? 1 : 3));
const limit = Number(flags.limit);
const tooLong = `> ${limit}`;
const workers = flags.workers.split(",");
const peers = findPeers(flags);
mkdirSync(folder, { recursive: true });
const comparison = new Comparison(
  flags.keep,
  by,
  peers.map(({ name }) => name),
);

/** Whether a flag asks for this, or for nothing in particular. */
const isAsked = (flag, name) => flag === undefined || flag.split(",").includes(name);

/** Seconds; a program that needs longer runs once only: it is not worth the wait, nor close. */
const patience = 30;

/** Those that took too long with one pair take no less with another of the same output. */
const crawling = new Set();

/** Reads an input, so that no program waits for a disk that the next one does not wait for. */
async function warm(input) {
  const { dir, name, ext } = parse(input);
  for (const extension of ext === ".shp" ? [".shp", ".shx", ".dbf"] : [ext]) {
    for await (const _ of createReadStream(join(dir, `${name}${extension}`), { highWaterMark: 1 << 20 }));
  }
}

/** Every program once, in turn, as often as there are runs: the medians of its times, and its highest memory. */
async function compare(input, output, competitors) {
  const crawls = (name) => (crawling.has(`${name} ${output}`) ? tooLong : undefined);
  const found = Object.fromEntries(
    competitors.map(({ name, why = crawls(name) }) => [name, why ? { why } : { runs: [] }]),
  );
  for (let run = 0; run < runs; run++) {
    for (const { name, command, args } of competitors) {
      const of = found[name];
      if (of.why || of.runs[0]?.seconds > patience) continue;
      const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-out-"));
      await warm(input);
      const isOurs = args(scratch).includes(main);
      try {
        of.runs.push(await measure(command, args(scratch), isOurs ? {} : { limit }));
      } catch (error) {
        if (isOurs) throw error;
        of.why = error instanceof TooSlow ? tooLong : "fails";
        if (of.why === tooLong) crawling.add(`${name} ${output}`);
        console.error(error.message);
      } finally {
        rmSync(scratch, { recursive: true });
      }
    }
  }
  const middle = (of, what) => median(of.map((run) => run[what]));
  return Object.fromEntries(
    Object.entries(found).map(([name, { why, runs: of }]) => [
      name,
      why
        ? { why }
        : {
            seconds: middle(of, "seconds"),
            processor: middle(of, "processor"),
            peak: Math.max(...of.map(({ peak }) => peak)),
          },
    ]),
  );
}

for (const [shape, { count, geometry }] of Object.entries(shapes)) {
  if (!isAsked(flags.shape, shape)) continue;
  const [head, rule] = table(comparison.heads(shape, workers), []).split("\n");
  console.log(`\n${shape}\n\n${head}\n${rule}`);
  for (const [from, source] of Object.entries(formats)) {
    for (const [to, target] of Object.entries(formats)) {
      if (!isAsked(flags.from, from) || !isAsked(flags.to, to)) continue;
      if (![source, target].every((format) => format.geometries?.includes(geometry) ?? true)) continue;
      const share = Math.min(source.share ?? 1, target.share ?? 1);
      const features = Math.round(count * scale * share);
      const input = await makeData(folder, shape, features, from);
      const found = await compare(input, `${shape} ${to}`, programs({ from, to, geometry, input, workers, peers }));
      console.log(`| ${comparison.add({ shape, from, to, features, found }).join(" | ")} |`);
    }
  }
}
const measured = comparison.shapes;
for (const shape of measured) {
  for (const program of comparison.programs(shape)) console.log(`\n${shape}\n\n${comparison.matrix(shape, program)}`);
}
const about = `${setting(peers)}; ${by === "seconds" ? "elapsed seconds" : "seconds of CPU time"}, median of ${runs}.`;
if (measured.length > 0) console.log(`\n${comparison.summary()}\n\n${about}`);
if (flags.docs) {
  const parts = measured.map((shape) => {
    const matrices = comparison.programs(shape).map((program) => comparison.matrix(shape, program));
    return [shape, [...matrices, comparison.table(shape, workers)].join("\n\n")];
  });
  fillSpeedPage({ ...Object.fromEntries(parts), summary: `${about}\n\n${comparison.summary()}` });
}

if (isAsked(flags.shape, "utm")) {
  await reprojectionCost({ main, folder, count: 1_000_000 * scale, runs, workers: workers[0], by });
}
