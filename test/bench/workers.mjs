/**
 * What several workers gain where there is much to do, and what limit of the machine: as many conversions by one
 * worker each, at once, in processes of their own, which share nothing but the machine.
 *
 *   npm run bench:workers -- [--points 10000000] [--workers 2] [--from csv] [--to csv,geojson] [--runs 3] [--folder DIR]
 *                            [--docs]
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { main, setting } from "./programs.mjs";
import { fillSpeedPage, table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    points: { type: "string", default: "10000000" },
    workers: { type: "string", default: "2" },
    from: { type: "string", default: "csv" },
    to: { type: "string", default: "csv,geojson" },
    runs: { type: "string", default: "3" },
    docs: { type: "boolean", default: false },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
  },
});
const count = Number(flags.workers);
const runs = Number(flags.runs);
mkdirSync(flags.folder, { recursive: true });

/** Seconds that so many conversions take at once, each with so many workers. */
async function secondsOf(input, to, conversions, workers) {
  const scratch = mkdtempSync(join(tmpdir(), "geoferry-workers-"));
  const outputs = Array.from({ length: conversions }, (_, n) => join(scratch, `out-${n}.${to}`));
  const convert = (output) =>
    measure(process.execPath, [main, "convert", input, output, "--quiet", "--workers", `${workers}`]);
  try {
    return Math.max(...(await Promise.all(outputs.map(convert))).map(({ seconds }) => seconds));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const rows = [];
for (const from of flags.from.split(",")) {
  const input = await makeData(flags.folder, "points", Number(flags.points), from);
  for (const to of flags.to.split(",")) {
    const found = { one: [], several: [], apart: [] };
    for (let run = 0; run < runs; run++) {
      found.one.push(await secondsOf(input, to, 1, 1));
      found.several.push(await secondsOf(input, to, 1, count));
      found.apart.push(await secondsOf(input, to, count, 1));
    }
    const [one, several, apart] = [found.one, found.several, found.apart].map(median);
    const cells = [one, several, apart].map((seconds) => seconds.toFixed(1));
    rows.push([from, to, ...cells, (one / several).toFixed(2), ((count * one) / apart).toFixed(2)]);
    console.log(rows.at(-1).join(" "));
  }
}
const heads = [
  "1 worker, s",
  `${count} workers, s`,
  `${count} processes at once, s`,
  "workers gain",
  "limit of the machine",
];
const text = table(["from", "to", ...heads], rows);
const about = `${Number(flags.points).toLocaleString("en")} points. ${setting(null)}; the median of ${runs}.`;
console.log(`\n${text}\n\n${about}`);
if (flags.docs) fillSpeedPage({ workers: `${about}\n\n${text}` });
