/**
 * Runs a comparison with ogr2ogr over a folder of fixture files and holds the result against our targets.
 *
 *   npm run conformance -- FOLDER     where FOLDER has conformance/compare.mjs and corpus/
 *
 * Of the kinds we read: at least 97 % agree, read more or are known differences, at most 4 % are known, none crashes. The
 * reason of a known difference may begin with a word that says what it counts as:
 *
 * - "reads more:" ogr2ogr opens the file and gives less of it.
 * - "newer:" GDAL 3.13 and later read the file as we do. Ignored there.
 * - "LIBKML:" GDAL's LIBKML driver, which not every GDAL is built with, reads the file as we do. Ignored where it has it.
 *
 * Where GDAL's two KML drivers differ from us in different ways, a file has a reason for each.
 *
 * ogr2ogr writes nine decimals there, so we do too: rounding twice would make differences that are none.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const kinds = ["csv", "geojson", "gpkg", "gpx", "kml", "shp"];
const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? "../shared");
const scratch = mkdtempSync(join(tmpdir(), "geoferry-conformance-"));
const report = join(scratch, "report.json");
const main = join(here, "..", "..", "dist", "src", "cli", "main.js");

const compared = spawnSync(
  process.execPath,
  [
    join(folder, "conformance", "compare.mjs"),
    "--tool",
    `${process.execPath} ${main}`,
    "--corpus",
    join(folder, "corpus"),
    "--known",
    join(here, "known.json"),
    "--json",
    report,
    "--list",
  ],
  {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, GEOFERRY_OUT: "precision=9" },
  },
);
const rows = JSON.parse(readFileSync(report, "utf8")).filter((row) => kinds.includes(row.kind));
rmSync(scratch, { recursive: true });
if (compared.error) throw compared.error;

const known = JSON.parse(readFileSync(join(here, "known.json"), "utf8"));
const gdal = (...args) => spawnSync("ogr2ogr", args, { encoding: "utf8" }).stdout;
const [major, minor] = /(\d+)\.(\d+)/.exec(gdal("--version")).slice(1).map(Number);
const isNew = major > 3 || (major === 3 && minor >= 13);
const kmlDriver = /\bLIBKML\b/.test(gdal("--formats")) ? "LIBKML" : "KML";
const reasonOf = (name) => known[name]?.[kmlDriver] ?? known[name];
const countsAs = {
  "reads more:": "read-more",
  ...(!isNew && { "newer:": "newer" }),
  ...(kmlDriver === "KML" && { "LIBKML:": "LIBKML" }),
};
const verdictOf = (row) => {
  if (row.verdict !== "known") return row.verdict;
  const word = Object.keys(countsAs).find((start) => reasonOf(row.name).startsWith(start));
  return countsAs[word] ?? "known";
};

for (const row of rows) if (row.verdict !== "agree") console.log(`${verdictOf(row).padEnd(9)} ${row.name}: ${row.why}`);

/** Shares of the verdicts in per cent. */
function shares(of) {
  const share = (...verdicts) => (100 * of.filter((row) => verdicts.includes(verdictOf(row))).length) / of.length;
  return { good: share("agree", "newer", "LIBKML", "read-more"), known: share("known"), crashed: share("crash") };
}

for (const kind of [...kinds, "all"]) {
  const of = rows.filter((row) => kind === "all" || row.kind === kind);
  const { good, known: expected, crashed } = shares(of);
  console.log(
    `${kind.padEnd(8)} ${of.length} files: ${good.toFixed(1)} % agree or read more, ${expected.toFixed(1)} % known, ${crashed.toFixed(1)} % crash`,
  );
}
const { good, known: expected, crashed } = shares(rows);
const held = rows.length > 0 && good + expected >= 97 && expected <= 4 && crashed === 0;
if (!held) console.log("below the target of 97 % agreeing, reading more or known, 4 % known, none crashing");
process.exit(held ? 0 : 1);
