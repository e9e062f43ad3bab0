/**
 * Runs a comparison with ogr2ogr over a folder of fixture files and holds the result against our targets.
 *
 *   npm run conformance -- FOLDER     where FOLDER has conformance/compare.mjs and corpus/
 *
 * For each kind of file: at least 95 % agree or read more, at most 3 % are known differences, none crashes.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const kinds = ["csv", "geojson", "shp"];
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
  { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8", maxBuffer: 1 << 28 },
);
const rows = JSON.parse(readFileSync(report, "utf8")).filter((row) => kinds.includes(row.kind));
rmSync(scratch, { recursive: true });
if (compared.error) throw compared.error;

let held = true;
for (const row of rows) if (row.verdict !== "agree") console.log(`${row.verdict.padEnd(9)} ${row.name}: ${row.why}`);
for (const kind of kinds) {
  const of = rows.filter((row) => row.kind === kind);
  const share = (...verdicts) => (100 * of.filter((row) => verdicts.includes(row.verdict)).length) / of.length;
  const good = share("agree", "read-more");
  const known = share("known");
  const crashed = share("crash");
  const holds = of.length > 0 && good >= 95 && known <= 3 && crashed === 0;
  held &&= holds;
  console.log(
    `${kind.padEnd(8)} ${of.length} files: ${good.toFixed(1)} % agree or read more, ${known.toFixed(1)} % known, ${crashed.toFixed(1)} % crash${holds ? "" : "   <- below target"}`,
  );
}
process.exit(held ? 0 : 1);
