/**
 * Speed and memory beside ogr2ogr, in interleaved runs, as ratios. The small file tells what it takes to begin and end.
 * Where ogr2ogr has two drivers for a format, it is compared with both.
 *
 *   npm run bench -- [--quick] [--runs 5] [--workers 1] [--shape points|lines|polygons|small|utm] [--from csv] [--to shp,gpkg]
 *                    [--scale 1] [--by seconds|processor] [--folder DIR]
 *
 * `--quick` takes little data once, to see that it runs. A ratio above 1 means that geoferry is faster: by the seconds
 * that pass or, where others keep the machine busy, by those of processors in all threads.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { formats, ogrArguments } from "./ogr2ogr.mjs";
import { reprojectionCost } from "./reproject.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runs: { type: "string" },
    workers: { type: "string", default: "1" },
    shape: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    scale: { type: "string", default: "1" },
    by: { type: "string", default: "seconds" },
    folder: { type: "string" },
  },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const folder = flags.folder ?? join(tmpdir(), "geoferry-bench");
const scale = flags.quick ? 0.01 : Number(flags.scale);
const runs = Number(flags.runs ?? (flags.quick ? 1 : 5));
const sets = [
  { name: "points", shape: "points", count: 1_000_000 * scale },
  { name: "lines", shape: "lines", count: 100_000 * scale },
  { name: "polygons", shape: "polygons", count: 100_000 * scale },
  // What it takes to begin and end; not in the mean.
  { name: "small", shape: "lines", count: 20 },
];

/** The formats asked for, or all. */
const chosen = (flag) => Object.entries(formats).filter(([id]) => flag === undefined || flag.split(",").includes(id));

/** A program that needs longer than this runs once only: it is not worth the wait, nor close. */
const patience = 30;

/** Every program and driver once, in turn, as often as there are runs. */
async function compare(competitors) {
  const found = competitors.map(() => ({ runs: [], peak: 0 }));
  for (let run = 0; run < runs; run++) {
    for (const [index, { command, args, output }] of competitors.entries()) {
      if (found[index].runs[0]?.seconds > patience) continue;
      const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-out-"));
      const run = await measure(command, args(join(scratch, output)));
      rmSync(scratch, { recursive: true });
      found[index].runs.push(run);
      found[index].peak = Math.max(found[index].peak, run.peak);
    }
  }
  const middle = (of, what) => median(of.map((run) => run[what]));
  return found.map(({ runs: of, peak }) => ({
    seconds: middle(of, "seconds"),
    processor: middle(of, "processor"),
    peak,
  }));
}

/** geoferry, and ogr2ogr by each pair of drivers. */
function competitors(from, to, shape, input) {
  const output = `out.${to.extension}`;
  const ours = (path) => [main, "convert", input, path, "--quiet", "--workers", flags.workers];
  const pairs =
    from === to
      ? to.drivers.map((driver) => [driver, driver])
      : from.drivers.flatMap((a) => to.drivers.map((b) => [a, b]));
  return [
    { command: process.execPath, args: ours, output },
    ...pairs.map(([reader, writer]) => ({
      command: "ogr2ogr",
      args: (path) => ogrArguments(reader, writer, shape, input, path),
      output,
      name: [reader, writer].map(({ name }) => name).join(" → "),
    })),
  ];
}

const { by } = flags;
if (by !== "seconds" && by !== "processor") throw new Error("--by is seconds or processor");
const of = by === "processor" ? " of processors" : "";
console.log(
  `| shape | from | to | geoferry s${of} | ogr2ogr s${of} | ratio | geoferry MB | ogr2ogr MB | drivers |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |`,
);
const all = [];
for (const { name, shape, count } of sets) {
  if (flags.shape && !flags.shape.split(",").includes(name)) continue;
  const digits = name === "small" ? 3 : 2;
  for (const [from, source] of chosen(flags.from)) {
    for (const [to, target] of chosen(flags.to)) {
      if (![source, target].every((format) => format.shapes?.includes(shape) ?? true)) continue;
      const share = name === "small" ? 1 : Math.min(source.share ?? 1, target.share ?? 1);
      const input = await makeData(folder, shape, Math.round(count * share), from);
      const programs = competitors(source, target, shape, input);
      const [ours, ...theirs] = await compare(programs);
      for (const [index, { [by]: seconds, peak }] of theirs.entries()) {
        const ratio = seconds / ours[by];
        all.push({ name, from, to, ratio });
        const figures = [ours[by].toFixed(digits), seconds.toFixed(digits), ratio.toFixed(2)];
        const memory = [ours.peak.toFixed(0), peak.toFixed(0)];
        console.log(`| ${[name, from, to, ...figures, ...memory, programs[index + 1].name].join(" | ")} |`);
      }
    }
  }
}

/** The ratios as a table from by to; against the faster driver where there are two. */
function printMatrix(name) {
  const ofSet = all.filter((entry) => entry.name === name);
  if (ofSet.length === 0) return;
  const columns = [...new Set(ofSet.map(({ to }) => to))];
  console.log(
    `\n${name}: how many times as fast\n\n| from | ${columns.join(" | ")} |\n| --- |${" --- |".repeat(columns.length)}`,
  );
  for (const from of new Set(ofSet.map((entry) => entry.from))) {
    const cells = columns.map((to) => {
      const ratios = ofSet.filter((entry) => entry.from === from && entry.to === to).map(({ ratio }) => ratio);
      return ratios.length === 0 ? "" : Math.min(...ratios).toFixed(2);
    });
    console.log(`| ${from} | ${cells.join(" | ")} |`);
  }
}
for (const { name } of sets) printMatrix(name);

if (!flags.shape || flags.shape.split(",").includes("utm"))
  await reprojectionCost({ main, folder, count: 1_000_000 * scale, runs, workers: flags.workers, by });

const setting = `${process.arch}, Node ${process.versions.node}, --workers ${flags.workers}, by ${by}`;
const ratios = all.filter(({ name }) => name !== "small").map(({ ratio }) => ratio);
if (ratios.length > 0) {
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  console.log(`\ngeometric mean of ${ratios.length} ratios: ${mean.toFixed(2)} (${setting})`);
} else console.log(`\n${setting}`);
