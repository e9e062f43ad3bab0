/**
 * Peak resident memory at one and at ten times as many features: it must not grow with the input.
 *
 *   npm run bench:memory -- [--points 1000000] [--times 10] [--workers 2] [--from csv,kml] [--to gpkg] [--folder DIR]
 *                           [--docs]
 */
import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { makeData } from "./data.mjs";
import { measure, processorTime } from "./measure.mjs";
import { formats } from "./ogr2ogr.mjs";
import { main, setting } from "./programs.mjs";
import { fillSpeedPage, table } from "./speed-page.mjs";

const { values: flags } = parseArgs({
  options: {
    points: { type: "string", default: "1000000" },
    times: { type: "string", default: "10" },
    workers: { type: "string", default: "2" },
    from: { type: "string" },
    to: { type: "string" },
    docs: { type: "boolean", default: false },
    folder: { type: "string", default: join(tmpdir(), "geoferry-bench") },
  },
});
const times = Number(flags.times);
const workers = ["--workers", flags.workers];
const chosen = (flag) => Object.keys(formats).filter((id) => flag === undefined || flag.split(",").includes(id));

/** The bytes from … to of one file, behind what the other has already. */
const add = (from, to, range) => pipeline(createReadStream(from, range), createWriteStream(to, { flags: "a" }));

/** The same features again and again: the text behind a head is repeated. */
async function repeat(from, to, head) {
  if (existsSync(to)) return;
  await add(from, to, { start: 0, end: head - 1 });
  for (let n = 0; n < times; n++) await add(from, to, { start: head });
}

const large = (format) => join(flags.folder, `points-${flags.points}x${times}.${format}`);

/** Ten times the points: the text of a CSV again and again, everything else converted from it. */
async function makeLarge(format) {
  const csv = await makeData(flags.folder, "points", Number(flags.points), "csv");
  await repeat(csv, large("csv"), "lon,lat,name,kind,count,share,day\n".length);
  if (!existsSync(large(format)))
    await measure(process.execPath, [main, "convert", large("csv"), large(format), "-q", ...workers]);
  return large(format);
}

const rows = [];
let most = 0;
for (const from of chosen(flags.from)) {
  const inputs = [await makeData(flags.folder, "points", Number(flags.points), from), await makeLarge(from)];
  for (const to of chosen(flags.to)) {
    const peaks = [];
    for (const input of inputs) {
      const scratch = mkdtempSync(join(tmpdir(), "geoferry-memory-"));
      const args = [main, "convert", input, join(scratch, `out.${to}`), "-q", "--overwrite", ...workers];
      peaks.push(await measure(process.execPath, args));
      rmSync(scratch, { recursive: true });
    }
    const [one, ten] = peaks;
    most = Math.max(most, ten.peak);
    const size = (statSync(inputs[1]).size / 1e6).toFixed(0);
    rows.push([from, to, size, one.peak.toFixed(0), ten.peak.toFixed(0), ten.seconds.toFixed(1)]);
    console.log(rows.at(-1).join(" "));
  }
}
/** What very many fields take: MB and seconds of CPU time, against the most of both that they should take. */
async function wideCases() {
  const names = Array.from({ length: 80_000 }, (_, n) => `c${n}`);
  const value = (name, n) => `<Data name="${name}"><value>${n % 10}</value></Data>`;
  const kml = (inner) => `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${inner}</Document></kml>`;
  const mark = (data) => `<Placemark><ExtendedData>${data}</ExtendedData></Placemark>`;
  const properties = Object.fromEntries(names.map((name, n) => [name, n % 10]));
  const inputs = {
    "wide.csv": `${names.join(",")}\n${names.map((_, n) => n % 10).join(",")}\n`,
    "wide.geojson": JSON.stringify({ type: "Feature", geometry: null, properties }),
    "wide.kml": kml(mark(names.map(value).join(""))),
    "diagonal.kml": kml(names.map((name, n) => mark(value(name, n))).join("\n")),
  };
  const found = [];
  for (const [name, text] of Object.entries(inputs)) {
    const input = join(flags.folder, name);
    writeFileSync(input, text);
    for (const to of ["geojson", "csv", "kml", "info", "check"]) {
      const output = join(flags.folder, `wide-out.${to}`);
      const args = to === "info" || to === "check" ? [to, input] : ["convert", input, output, "-q", "--overwrite"];
      const before = processorTime();
      // A CSV of 80,000 features with a field of their own each is refused.
      const { peak } = await measure(process.execPath, [main, ...args]).catch(() => ({ peak: Number.NaN }));
      const seconds = processorTime() - before;
      found.push([name, to, peak.toFixed(0), (peak / 150).toFixed(2), seconds.toFixed(1), (seconds / 2).toFixed(2)]);
    }
  }
  return table(["80,000 fields", "to", "MB", "of 150 MB", "seconds", "of 2 s"], found);
}

const points = Number(flags.points).toLocaleString("en");
const text = table(["from", "to", "input MB", "MB", `MB at ×${times}`, `seconds at ×${times}`], rows);
const about = `${points} points and ${times} times as many, --workers ${flags.workers}. ${setting(null)}. The highest: ${most.toFixed(0)} MB.`;
console.log(`\n${text}\n\n${about}`);
console.log(`\n${await wideCases()}`);
if (flags.docs) fillSpeedPage({ memory: `${about}\n\n${text}` });
