/** One command of the demo after the other, each shown with what it prints. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const samples = dirname(fileURLToPath(import.meta.url));
export const main = join(dirname(samples), "dist", "src", "cli", "main.js");
/** Where the results go. */
export const output = join(tmpdir(), "geoferry-demo");

/** The path of a result. */
export const to = (name) => join(output, name);

/** Steps that went wrong. */
export const steps = { failed: 0 };

/** Cuts a text to one line that fits a terminal. */
function shorten(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 110 ? `${line.slice(0, 110)} …` : line;
}

/** A feature of GeoJSON as one line: `Point 11.5, 48.1: name Munich, population 1500000`. */
function describeFeature({ geometry, properties }) {
  const numbers = geometry === null ? [] : geometry.coordinates.flat(Infinity);
  const position = geometry === null ? "no geometry" : `${geometry.type} ${numbers.slice(0, 2).join(", ")}`;
  const more = numbers.length > 3 ? " …" : "";
  const values = Object.entries(properties).filter(([, value]) => value !== null && value !== "");
  const text = values.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return shorten(`${position}${more}: ${text.join(", ")}`);
}

/** The text of a file, which is in Windows-1252 where it is not in UTF-8. */
function readText(path) {
  const bytes = readFileSync(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The first feature of a file as one line: the text of CSV, KML and GPX, else what geoferry reads. */
function firstFeature(path, { layer, where }) {
  const pattern = { csv: /(?<=\n).*/, kml: /<Placemark[\s\S]*?<\/Placemark>/, gpx: /<(wpt|trk)[\s\S]{0,400}/ };
  const extension = /\.(csv|kml|gpx)$/.exec(path)?.[1];
  if (extension) return shorten(pattern[extension].exec(readText(path))?.[0] ?? "");
  const flags = ["--to", "geojsonseq", "--no-reproject", "--limit", "1", "--quiet"];
  if (layer) flags.push("--layer", layer);
  if (where) flags.push("--where", where);
  const { stdout } = spawnSync(process.execPath, [main, "convert", path, "-", ...flags], { encoding: "utf8" });
  // Layers can have become one.
  if (stdout === "" && layer) return firstFeature(path, { where });
  return stdout === "" ? "" : describeFeature(JSON.parse(stdout.replace("\u001e", "")));
}

/** Shows the first feature of a file. */
function showFeature(label, path, choice) {
  const feature = firstFeature(resolve(dirname(samples), path), choice);
  if (feature !== "") console.log(`  ${label.padEnd(7)} ${feature}`);
}

/**
 * Runs one command as a person would type it, and shows both.
 * @param expected its exit status
 * @param says what it must print
 * @param before, after the files whose first feature is shown: by default the input and the output of a conversion
 * @param layer the layer of these files, where they have several
 */
export function geoferry(title, args, expected = 0, { says = [], env = {}, before, after, layer } = {}) {
  const words = args.map((word) => (/[\s*'<>()]/.test(word) ? `"${word}"` : word));
  console.log(`\n# ${title}\n$ geoferry ${words.join(" ")}`);
  const run = spawnSync(process.execPath, [main, ...args], {
    cwd: dirname(samples),
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  process.stdout.write(run.stdout);
  process.stdout.write(run.stderr);
  const [command, input, target] = args;
  const where = args.includes("--where") ? args[args.indexOf("--where") + 1] : undefined;
  if (command === "convert" || before) showFeature("before", before ?? input, { layer, where });
  if (command === "convert" || after) showFeature("after", after ?? target, { layer });
  const printed = `${run.stdout}${run.stderr}`;
  const missing = says.filter((text) => !printed.includes(text));
  if (run.status === expected && missing.length === 0) return printed;
  steps.failed++;
  if (run.status !== expected) console.log(`! ended with ${run.status}, expected ${expected}`);
  for (const text of missing) console.log(`! did not say: ${text}`);
  return printed;
}
