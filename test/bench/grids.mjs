/**
 * What reprojecting by a shift grid costs: points by a grid with parts in it, beside the same points untouched and beside
 * ogr2ogr with the same grid, in interleaved runs, by the time of processors.
 *
 *   npm run bench:grids -- [--points 1000000] [--runs 5]
 */
import { existsSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measure, median } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: { points: { type: "string", default: "1000000" }, runs: { type: "string", default: "5" } },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const folder = mkdtempSync(join(tmpdir(), "geoferry-bench-grids-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A part of a quarter of a degree over Canada and a hundred denser ones in it, like the real one. */
const parts = [{ name: "CANADA", parent: "NONE", west: -142, south: 40, columns: 391, rows: 181, step: 0.25 }];
for (let i = 0; i < 100; i++)
  parts.push({
    name: `TOWN${i}`,
    parent: "CANADA",
    west: -130 + (i % 20) * 3,
    south: 45 + Math.floor(i / 20) * 3,
    columns: 21,
    rows: 21,
    step: 0.05,
  });

function ntv2() {
  const size = parts.reduce((sum, { columns, rows }) => sum + 176 + 16 * columns * rows, 176);
  const bytes = Buffer.alloc(size);
  let at = 0;
  const record = (name, write) => {
    bytes.write(name.padEnd(8), at);
    write(at + 8);
    at += 16;
  };
  const whole = (value) => (place) => bytes.writeInt32LE(value, place);
  const real = (value) => (place) => bytes.writeDoubleLE(value, place);
  const text = (value) => (place) => bytes.write(value.padEnd(8), place);
  record("NUM_OREC", whole(11));
  record("NUM_SREC", whole(11));
  record("NUM_FILE", whole(parts.length));
  record("GS_TYPE", text("SECONDS"));
  for (const name of ["VERSION", "SYSTEM_F", "SYSTEM_T"]) record(name, text("BENCH"));
  for (const name of ["MAJOR_F", "MINOR_F", "MAJOR_T", "MINOR_T"]) record(name, real(6378137));
  for (const { name, parent, west, south, columns, rows, step } of parts) {
    record("SUB_NAME", text(name));
    record("PARENT", text(parent));
    for (const field of ["CREATED", "UPDATED"]) record(field, text("20260101"));
    record("S_LAT", real(south * 3600));
    record("N_LAT", real((south + (rows - 1) * step) * 3600));
    record("E_LONG", real(-(west + (columns - 1) * step) * 3600));
    record("W_LONG", real(-west * 3600));
    record("LAT_INC", real(step * 3600));
    record("LONG_INC", real(step * 3600));
    record("GS_COUNT", whole(columns * rows));
    for (let node = 0; node < columns * rows; node++, at += 16) {
      bytes.writeFloatLE(Math.sin(node / 1000), at);
      bytes.writeFloatLE(2 + Math.cos(node / 700), at + 4);
    }
  }
  return bytes;
}

const database = ["/usr/share/proj/proj.db", "/usr/local/share/proj/proj.db"].find((path) => existsSync(path));
if (database) symlinkSync(database, join(folder, "proj.db"));
writeFileSync(join(folder, "ntv2_0.gsb"), ntv2());
process.env.PROJ_DATA = folder;
process.env.PROJ_LIB = folder;

const input = join(folder, "points.csv");
const file = openSync(input, "w");
writeSync(file, "n,lon,lat\n");
const count = Number(flags.points);
for (let done = 0; done < count; ) {
  let lines = "";
  for (const end = Math.min(count, done + 10_000); done < end; done++) {
    const longitude = -130 + ((done * 0.618034) % 1) * 60;
    lines += `${done},${longitude.toFixed(6)},${(45 + ((done * 0.414214) % 1) * 15).toFixed(6)}\n`;
  }
  writeSync(file, lines);
}

const ours = (...more) => [
  main,
  "convert",
  input,
  join(folder, "out.csv"),
  "--quiet",
  "--overwrite",
  "--workers",
  "1",
  ...more,
];
const source = ["--source-crs", "EPSG:4267"];
const ogr = [
  "-q",
  "-overwrite",
  "-oo",
  "X_POSSIBLE_NAMES=lon",
  "-oo",
  "Y_POSSIBLE_NAMES=lat",
  "-lco",
  "GEOMETRY=AS_XY",
];
const competitors = [
  { name: "geoferry, untouched", command: process.execPath, args: ours(...source, "--no-reproject") },
  {
    name: "geoferry, by the grid",
    command: process.execPath,
    args: ours(...source, "--grid", join(folder, "ntv2_0.gsb")),
  },
  { name: "ogr2ogr, untouched", command: "ogr2ogr", args: [...ogr, join(folder, "ogr.csv"), input] },
  {
    name: "ogr2ogr, by the grid",
    command: "ogr2ogr",
    args: [...ogr, "-s_srs", "EPSG:4267", "-t_srs", "EPSG:4326", join(folder, "ogr-moved.csv"), input],
  },
];
const found = competitors.map(() => []);
for (let run = 0; run < Number(flags.runs); run++) {
  for (const [index, { command, args }] of competitors.entries()) {
    for (const name of ["ogr.csv", "ogr-moved.csv"]) rmSync(join(folder, name), { force: true });
    found[index].push(await measure(command, args));
  }
}
const middle = (runs, what) => median(runs.map((run) => run[what]));
console.log("| | s of CPU time | MB |\n| --- | --- | --- |");
for (const [index, { name }] of competitors.entries())
  console.log(
    `| ${name} | ${middle(found[index], "processor").toFixed(2)} | ${middle(found[index], "peak").toFixed(0)} |`,
  );
const [untouched, moved, theirUntouched, theirs] = found.map((runs) => middle(runs, "processor"));
console.log(
  `\nof ${count.toLocaleString("en")} points: the grid costs ${(moved - untouched).toFixed(2)} s, ogr2ogr ${(theirs - theirUntouched).toFixed(2)} s; in all ${(theirs / moved).toFixed(2)} times as fast as ogr2ogr`,
);
