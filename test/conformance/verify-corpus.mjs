/**
 * Converts the files of a corpus into every built-in format with `verify: true`: no verification may fail.
 *
 *   npm run conformance:verify -- FOLDER     where FOLDER has corpus/
 *
 * Inputs that cannot be converted (damaged files, unknown reference systems) are counted apart. At least 200 conversions
 * must be verified.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { convert } from "../../dist/src/index.js";

const folder = join(resolve(process.argv[2] ?? "../shared"), "corpus");
const only = process.argv[3];
const targets = ["geojson", "geojsonl", "csv", "gpkg", "shp", "kml", "gpx", "xlsx", "ods", "parquet", "fgb", "kmz"];
const inputs = /\.(shp|csv|geojson|gpkg|kml|kmz|gpx|fgb|parquet|xlsx|ods|json)$/i;
const maxBytes = 4 * 1024 * 1024;
const minConversions = 200;

const files = readdirSync(folder, { recursive: true })
  .map((name) => join(folder, String(name)))
  .filter((path) => inputs.test(path) && (!only || path.includes(only)))
  .filter((path) => statSync(path).isFile() && statSync(path).size <= maxBytes)
  .sort();
const scratch = mkdtempSync(join(tmpdir(), "geoferry-verify-"));
const counts = { verified: 0, features: 0, failed: 0, refused: 0 };
const refusals = new Map();

for (const [n, input] of files.entries()) {
  // Each file into three formats, so that every pair occurs.
  for (let k = 0; k < 3; k++) {
    const target = process.argv[4] ?? targets[(n + 4 * k) % targets.length];
    const output = join(scratch, `out.${target}`);
    try {
      const report = await convert({ inputs: input, output, verify: true, overwrite: true, allowEmpty: true });
      counts.verified++;
      counts.features += report.proof.layers.reduce((sum, layer) => sum + layer.features, 0);
    } catch (error) {
      if (error.code === "verify-failed" || error.code === undefined || error.code === "internal") {
        counts.failed++;
        console.log(
          `FAILED ${relative(folder, input)} → ${target}: ${error.stack && error.code !== "verify-failed" ? error.stack : error.message.slice(0, 1500)}`,
        );
      } else {
        counts.refused++;
        refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
      }
    }
    if (process.argv[4]) break;
  }
}
rmSync(scratch, { recursive: true, force: true });
console.log(
  `${counts.verified} conversions verified (${counts.features} features), ${counts.failed} false alarms, ${counts.refused} not converted (${[...refusals].map(([code, count]) => `${code} ${count}`).join(", ")})`,
);
process.exit(counts.failed === 0 && counts.verified >= (only ? 0 : minConversions) ? 0 : 1);
