/** One command of the demo after the other, each shown with what it prints. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const samples = dirname(fileURLToPath(import.meta.url));
export const main = join(dirname(samples), "dist", "src", "cli", "main.js");
/** Where the results go. */
export const output = join(tmpdir(), "geoferry-demo");

/** The path of a result. */
export const to = (name) => join(output, name);

/** Steps that went wrong. */
export const steps = { failed: 0 };

/** The first feature of a text file as one line; null for other files. */
function firstFeature(path) {
  const format = /\.(csv|geojson|kml|gpx)$/.exec(path)?.[1];
  if (!format || !existsSync(path)) return null;
  const text = readFileSync(path, "latin1");
  const found = {
    csv: /^.*\n(.*)/,
    geojson: /\{\s*"type"\s*:\s*"Feature"[\s\S]{0,400}/,
    kml: /<Placemark[\s\S]*?<\/Placemark>/,
    gpx: /<(wpt|trk)[\s\S]{0,400}/,
  };
  const match = found[format].exec(text);
  const line = Buffer.from(match?.[1] && format === "csv" ? match[1] : (match?.[0] ?? ""), "latin1").toString();
  const short = line.replace(/\s+/g, " ").trim();
  return short.length > 110 ? `${short.slice(0, 110)} …` : short || null;
}

/** Shows a feature before and after a conversion, where both files are text. */
function showFeature(input, output) {
  const [before, after] = [firstFeature(join(dirname(samples), input)), firstFeature(output)];
  if (before) console.log(`  before  ${before}`);
  if (after) console.log(`  after   ${after}`);
}

/**
 * Runs one command as a person would type it, and shows both.
 * @param expected its exit status
 * @param says what it must print
 */
export function geoferry(title, args, expected = 0, { says = [], env = {} } = {}) {
  const words = args.map((word) => (/[\s*'<>()]/.test(word) ? `"${word}"` : word));
  console.log(`\n# ${title}\n$ geoferry ${words.join(" ")}`);
  const run = spawnSync(process.execPath, [main, ...args], {
    cwd: dirname(samples),
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  process.stdout.write(run.stdout);
  process.stdout.write(run.stderr);
  if (args[0] === "convert") showFeature(args[1], args[2]);
  const printed = `${run.stdout}${run.stderr}`;
  const missing = says.filter((text) => !printed.includes(text));
  if (run.status === expected && missing.length === 0) return printed;
  steps.failed++;
  if (run.status !== expected) console.log(`! ended with ${run.status}, expected ${expected}`);
  for (const text of missing) console.log(`! did not say: ${text}`);
  return printed;
}
