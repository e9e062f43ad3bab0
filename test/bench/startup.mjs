/**
 * What it takes to begin and end: `node -e 0`, `--version`, and a file of ten features from and to each format, with
 * ogr2ogr beside it, in interleaved runs.
 *
 *   npm run bench:startup -- [--runs 20] [--folder DIR] [--docs]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { formats, ogrArguments } from "./ogr2ogr.mjs";
import { main, setting } from "./programs.mjs";
import { fillSpeedPage, table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
    docs: { type: "boolean", default: false },
  },
});
const runs = Number(flags.runs);
const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-out-"));

/** A conversion of ten features by geoferry and by ogr2ogr. */
async function conversion(from, to) {
  const input = await makeData(flags.folder, "points", 10, from);
  const output = (name) => join(scratch, `${name}.${formats[to].extension}`);
  const [reader, writer] = [formats[from].drivers.at(-1), formats[to].drivers.at(-1)];
  return {
    name: `${from} to ${to}`,
    ours: [process.execPath, [main, "convert", input, output("ours"), "--overwrite", "--quiet"]],
    theirs: ["ogr2ogr", ogrArguments(reader, writer, "points", input, output("theirs"))],
    written: output("theirs"),
  };
}

const ids = Object.keys(formats);
const pairs = [
  ...ids.map((from) => [from, "geojson"]),
  ...ids.filter((to) => to !== "geojson").map((to) => ["csv", to]),
];
const measured = [
  { name: "`node -e 0`", ours: [process.execPath, ["-e", "0"]] },
  { name: "`geoferry --version`", ours: [process.execPath, [main, "--version"]] },
];
for (const [from, to] of pairs) measured.push(await conversion(from, to));

const found = measured.map(() => ({ ours: [], theirs: [] }));
for (let run = 0; run < runs; run++) {
  for (const [index, { ours, theirs, written }] of measured.entries()) {
    found[index].ours.push(await measure(...ours));
    if (!theirs) continue;
    found[index].theirs.push(await measure(...theirs));
    rmSync(written, { force: true });
  }
}
rmSync(scratch, { recursive: true });

const milliseconds = (value) => (1000 * value).toFixed(0);
const elapsed = (of) => median(of.map(({ seconds }) => seconds));
/** The system counts in steps of ten milliseconds: so only the mean of many runs resolves less. */
const processors = (of) => of.reduce((sum, { processor }) => sum + processor, 0) / of.length;
const [bare] = found;
const text = table(
  ["", "ms", "above `node -e 0`", "ms of CPU time", "above `node -e 0`", "ogr2ogr ms", "ogr2ogr ms of CPU time"],
  measured.map(({ name }, index) => {
    const { ours, theirs } = found[index];
    return [
      name,
      ...[elapsed, processors].flatMap((of) => [milliseconds(of(ours)), milliseconds(of(ours) - of(bare.ours))]),
      ...[elapsed, processors].map((of) => (theirs.length > 0 ? milliseconds(of(theirs)) : "")),
    ];
  }),
);
const about = `${setting(null)}; elapsed time: median of ${runs} runs, CPU time: mean.`;
console.log(`${text}\n\n${about}`);
if (flags.docs) fillSpeedPage({ startup: `${about}\n\n${text}` });
