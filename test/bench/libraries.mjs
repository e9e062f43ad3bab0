/**
 * The sample plugins that wrap well-known libraries, beside the built-in formats: what both make of a folder of real
 * files, and what the same conversion costs.
 *
 *   npm run bench:libraries -- [--corpus DIR] [--features 100000] [--runs 3] [--folder DIR] [--docs]
 *
 * The plugins are installed into a temporary folder from npm. `--docs` writes the tables into docs/libraries.md.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";
import { main } from "./programs.mjs";
import { table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    corpus: { type: "string" },
    features: { type: "string", default: "100000" },
    runs: { type: "string", default: "3" },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
    docs: { type: "boolean", default: false },
  },
});
const root = join(import.meta.dirname, "..", "..");
const scratch = mkdtempSync(join(tmpdir(), "geoferry-libraries-"));

/** Installs the samples with their libraries, and this checkout as geoferry. @returns the versions of the libraries */
function install() {
  cpSync(join(root, "samples", "plugins"), join(scratch, "plugins"), { recursive: true });
  const dependencies = {};
  for (const name of readdirSync(join(scratch, "plugins"))) {
    const file = join(scratch, "plugins", name, "package.json");
    if (existsSync(file)) Object.assign(dependencies, JSON.parse(readFileSync(file, "utf8")).dependencies);
  }
  writeFileSync(join(scratch, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: scratch });
  symlinkSync(root, join(scratch, "node_modules", "geoferry"));
  const lock = JSON.parse(readFileSync(join(scratch, "package-lock.json"), "utf8"));
  return (name) => `${name} ${lock.packages[`node_modules/${name}`].version}`;
}

const plugin = (name) => ["--plugin", join(scratch, "plugins", name, "index.js")];

/** The readers that are compared; `files` matches names of the corpus. */
const readers = [
  { library: "csv-parse", format: "csv", files: /\.csv$/, args: ["--from", "csv-parse", ...plugin("csv-parse")] },
  {
    library: "@tmcw/togeojson",
    format: "gpx",
    files: /\.gpx$/,
    args: ["--from", "togeojson-gpx", ...plugin("togeojson")],
  },
  {
    library: "@tmcw/togeojson",
    format: "kml",
    files: /\.kml$/,
    args: ["--from", "togeojson-kml", ...plugin("togeojson")],
  },
];
const writeShapefile = ["--to", "shp-write", ...plugin("shp-write")];

function convert(input, output, args) {
  const done = spawnSync(process.execPath, [main, "convert", input, output, "--overwrite", "--quiet", ...args], {
    timeout: 60_000,
  });
  // 5: some features were rejected.
  return done.status === 0 || done.status === 5;
}

/** The numbers of all coordinates, feature by feature; null if the file cannot be read. */
function positionsOf(input, args) {
  const output = join(scratch, "out.geojsonl");
  rmSync(output, { force: true });
  if (!convert(input, output, ["--out", "precision=12", "--allow-empty", ...args])) return null;
  const lines = readFileSync(output, "utf8").split("\n").filter(Boolean);
  return lines.map((line) =>
    (JSON.stringify(JSON.parse(line).geometry).match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? []).join(" "),
  );
}

/** Adds up what both make of a file. */
function judge(own, other) {
  if (own === null && other === null) return "neither reads";
  if (other === null) return "only geoferry reads";
  if (own === null) return "only the library reads";
  if (own.join("\n") === other.join("\n")) return "same positions";
  return other.length < own.length ? "library reads fewer features" : "other positions";
}

const filesOf = (pattern) =>
  readdirSync(flags.corpus, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name.toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

function compareCorpus() {
  const verdicts = [];
  const add = (what, file, verdict) => {
    const known = verdicts.find((each) => each.what === what && each.verdict === verdict);
    if (known) known.files.push(file);
    else verdicts.push({ what, verdict, files: [file] });
  };
  for (const { library, format, files, args } of readers) {
    for (const file of filesOf(files))
      add(`${format}, ${library}`, file, judge(positionsOf(file, []), positionsOf(file, args)));
  }
  for (const file of filesOf(/\.shp$/)) {
    const source = positionsOf(file, ["--no-reproject"]);
    if (source === null) continue;
    const folder = join(scratch, "written");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const reads = (args) => {
      const output = join(folder, "a.shp");
      return convert(file, output, ["--no-reproject", ...args]) ? positionsOf(output, ["--no-reproject"]) : null;
    };
    const own = reads([]);
    if (own === null) continue;
    const other = reads(writeShapefile);
    const isSame = (positions) => positions !== null && positions.join("\n") === source.join("\n");
    const name = (positions) =>
      positions === null ? "not written" : isSame(positions) ? "comes back equal" : "comes back changed";
    add("shp, @mapbox/shp-write", file, `${name(other)} (built-in: ${name(own)})`);
  }
  return verdicts;
}

/** Both ways in turns: processor seconds and peak memory in MB, medians. */
async function compareSpeed() {
  const count = Number(flags.features);
  const cases = [];
  for (const { library, format, args } of readers) {
    const shape = format === "gpx" ? "lines" : "points";
    const size = format === "gpx" ? Math.round(count / 100) : count;
    const input = await makeData(flags.folder, shape, size, format);
    cases.push({ what: `read ${format}, ${size} ${shape}`, library, input, output: "out.geojson", args });
  }
  // The time of shp-write grows with the square of the number of polygons.
  const polygons = Math.round(count / 20);
  const shapes = await makeData(flags.folder, "polygons", polygons, "geojson");
  cases.push({
    what: `write shp, ${polygons} polygons`,
    library: "@mapbox/shp-write",
    input: shapes,
    output: "out.shp",
    args: writeShapefile,
  });
  const rows = [];
  for (const { what, library, input, output, args } of cases) {
    const results = { own: [], other: [] };
    for (let run = 0; run < Number(flags.runs); run++) {
      for (const [name, extra] of [
        ["own", []],
        ["other", args],
      ]) {
        const target = join(scratch, output);
        const line = [main, "convert", input, target, "--overwrite", "--quiet", "--workers", "1", ...extra];
        results[name].push(await measure(process.execPath, line));
      }
    }
    rows.push(row(what, library, results));
  }
  rows.push(await compareReprojection(count));
  return rows;
}

async function compareReprojection(count) {
  const input = await makeData(flags.folder, "points", count, "geojson");
  const results = { own: [], other: [] };
  const output = join(scratch, "moved.csv");
  for (let run = 0; run < Number(flags.runs); run++) {
    const own = [
      main,
      "convert",
      input,
      output,
      "--overwrite",
      "--quiet",
      "--workers",
      "1",
      "--target-crs",
      "EPSG:3857",
    ];
    // The poles have no coordinates in Mercator: both run over the same features.
    own.push("--bbox", "-180,-80,180,80", "--allow-empty");
    results.own.push(await measure(process.execPath, own));
    const script = join(scratch, "plugins", "proj4", "index.js");
    results.other.push(await measure(process.execPath, [script, input, output, "EPSG:4326", "EPSG:3857"]));
  }
  return row(`reproject ${count} points`, "proj4", results);
}

function row(what, library, { own, other }) {
  const of = (list, member) => median(list.map((each) => each[member]));
  const ratio = of(other, "processor") / of(own, "processor");
  const memory = (list) => `${Math.round(of(list, "peak"))} MB`;
  return [what, library, ratio.toFixed(1), memory(own), memory(other)];
}

const versions = install();
const parts = {};
if (flags.corpus !== undefined) {
  const verdicts = compareCorpus();
  parts.corpus = table(
    ["format, library", "result", "files"],
    verdicts.map(({ what, verdict, files }) => [what, verdict, files.length]),
  );
  for (const { what, verdict, files } of verdicts) {
    if (verdict.startsWith("same") || verdict.startsWith("comes back equal")) continue;
    console.log(`${what}: ${verdict}\n  ${files.map((file) => relative(flags.corpus, file)).join("\n  ")}`);
  }
}
const libraries = ["csv-parse", "@tmcw/togeojson", "@xmldom/xmldom", "@mapbox/shp-write", "proj4"];
parts.versions = `${libraries.map(versions).join(", ")}; Node.js ${process.versions.node}.`;
parts.speed = table(
  ["conversion", "library", "processor time of the library, × built-in", "memory, built-in", "memory, library"],
  await compareSpeed(),
);
for (const text of Object.values(parts)) console.log(`\n${text}`);
if (flags.docs) {
  const path = join(root, "docs", "libraries.md");
  let page = readFileSync(path, "utf8");
  for (const [name, text] of Object.entries(parts)) {
    const [begin, end] = [`<!-- begin ${name} -->\n`, `\n<!-- end ${name} -->`];
    page = page.slice(0, page.indexOf(begin) + begin.length) + text + page.slice(page.indexOf(end));
  }
  writeFileSync(path, page);
}
rmSync(scratch, { recursive: true });
