/**
 * Many small files of all formats into a folder: by one run of geoferry, and by a loop of a shell that starts ogr2ogr,
 * or geoferry, for each.
 *
 *   npm run bench:batch -- [--files 1000] [--features 50] [--to geojson,gpkg] [--workers 1,2] [--runs 3] [--folder DIR]
 *                          [--docs]
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, parse } from "node:path";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { formats, ogrArguments } from "./ogr2ogr.mjs";
import { main, setting } from "./programs.mjs";
import { fillSpeedPage, table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    files: { type: "string", default: "1000" },
    features: { type: "string", default: "50" },
    to: { type: "string", default: "geojson,gpkg" },
    workers: { type: "string", default: "1,2" },
    runs: { type: "string", default: "3" },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
    docs: { type: "boolean", default: false },
  },
});
const runs = Number(flags.runs);
const scratch = mkdtempSync(join(tmpdir(), "geoferry-batch-"));
const inputs = join(scratch, "in");

/** Copies of one small file of each format, one format after the other. */
async function makeInputs() {
  mkdirSync(inputs);
  const ids = Object.keys(formats);
  for (let n = 0; n < Number(flags.files); n++) {
    const made = await makeData(flags.folder, "points", Number(flags.features), ids[n % ids.length]);
    const { extension } = formats[ids[n % ids.length]];
    // A Shapefile has others beside it, and so have seeds of other formats of the same name.
    const own = extension === "shp" ? ["shp", "shx", "dbf", "prj", "cpg"] : [extension];
    const stem = parse(made).name;
    for (const name of readdirSync(dirname(made))) {
      const end = name.slice(stem.length + 1);
      if (name === `${stem}.${end}` && own.includes(end))
        copyFileSync(join(dirname(made), name), join(inputs, `part-${n}.${end}`));
    }
  }
}

/** A script of a shell that starts a program for every input in turn. */
function loop(folder, to, commandOf) {
  const lines = readdirSync(inputs).flatMap((name) => {
    const { name: stem, ext } = parse(name);
    const format = Object.values(formats).find(({ extension }) => `.${extension}` === ext);
    const output = join(folder, `${stem}.${formats[to].extension}`);
    return format
      ? [
          commandOf(format, join(inputs, name), output)
            .map((word) => `'${word}'`)
            .join(" "),
        ]
      : [];
  });
  const script = join(scratch, "loop.sh");
  writeFileSync(script, `set -e\n${lines.join("\n")}\n`);
  return ["sh", [script]];
}

await makeInputs();
const rows = [];
for (const to of flags.to.split(",")) {
  const ways = [
    ...flags.workers.split(",").map((count) => ({
      name: `one geoferry, --workers ${count}`,
      call: (folder) => [
        process.execPath,
        [main, "convert", inputs, `${folder}/`, "--to", to, "--quiet", "--workers", count],
      ],
    })),
    {
      name: "a loop of ogr2ogr",
      call: (folder) =>
        loop(folder, to, ({ drivers }, input, output) => [
          "ogr2ogr",
          ...ogrArguments(drivers.at(-1), formats[to].drivers.at(-1), "points", input, output),
        ]),
    },
    {
      name: "a loop of geoferry",
      call: (folder) =>
        loop(folder, to, (_, input, output) => [process.execPath, main, "convert", input, output, "--quiet"]),
    },
  ];
  const found = ways.map(() => []);
  for (let run = 0; run < runs; run++) {
    for (const [index, { call }] of ways.entries()) {
      const folder = mkdtempSync(join(scratch, `${to}-`));
      found[index].push(await measure(...call(folder)));
      rmSync(folder, { recursive: true });
    }
  }
  for (const [index, { name }] of ways.entries()) {
    const of = (what) => median(found[index].map((one) => one[what]));
    const [seconds, processor] = [of("seconds"), of("processor")];
    const each = (1000 * processor) / Number(flags.files);
    rows.push([to, name, seconds.toFixed(2), processor.toFixed(2), each.toFixed(1)]);
  }
}
rmSync(scratch, { recursive: true });
const text = table(["to", "", "s", "s of CPU time", "ms of CPU time per file"], rows);
const about = `${flags.files} files of ${flags.features} features, of all formats in turn. ${setting(null)}; the median of ${runs}.`;
console.log(`${text}\n\n${about}`);
if (flags.docs) fillSpeedPage({ batch: `${about}\n\n${text}` });
