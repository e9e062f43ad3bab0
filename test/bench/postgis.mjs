/**
 * Speed and memory of PostGIS beside ogr2ogr, in interleaved runs, in a database of its own: a GeoPackage into a table,
 * and the table into a GeoPackage. A ratio above 1 means that geoferry is faster.
 *
 *   npm run bench:postgis -- [--points 1000000] [--runs 3] [--workers 1] [--server postgres://postgres@127.0.0.1/test]
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { makeData } from "./data.mjs";
import { measure, median } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: {
    points: { type: "string", default: "1000000" },
    runs: { type: "string", default: "3" },
    workers: { type: "string", default: "1" },
    server: { type: "string", default: "postgres://postgres@127.0.0.1:5432/test" },
  },
});
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "src", "cli", "main.js");
const name = `geoferry_test_bench_${process.pid}`;
const url = new URL(flags.server);
url.pathname = `/${name}`;
const ogr = `PG:host=${url.hostname} port=${url.port || 5432} user=${url.username} dbname=${name}`;

async function execute(address, sql) {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const scratch = mkdtempSync(join(tmpdir(), "geoferry-bench-postgis-"));
const out = (program) => join(scratch, `${program}.gpkg`);
const convert = (...args) => [main, "convert", ...args, "--overwrite", "-q", "--workers", flags.workers];

const tasks = (input) => [
  {
    title: "GeoPackage → PostGIS",
    geoferry: convert(input, url.href, "--layer-name", "ours"),
    ogr2ogr: ["-f", "PostgreSQL", ogr, input, "-nln", "theirs", "-overwrite"],
  },
  {
    title: "PostGIS → GeoPackage",
    geoferry: convert(url.href, out("geoferry"), "--layer", "ours"),
    ogr2ogr: ["-f", "GPKG", out("ogr2ogr"), ogr, "ours", "-overwrite"],
  },
];

await execute(flags.server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
try {
  await execute(url.href, "CREATE EXTENSION postgis");
  const geojson = await makeData(join(tmpdir(), "geoferry-bench"), "points", Number(flags.points), "geojson");
  const input = join(scratch, "points.gpkg");
  execFileSync(process.execPath, [main, "convert", geojson, input, "-q"]);
  for (const { title, ...arguments_ } of tasks(input)) {
    const found = { geoferry: [], ogr2ogr: [] };
    for (let run = 0; run < Number(flags.runs); run++) {
      for (const [program, args] of Object.entries(arguments_)) {
        found[program].push(await measure(program === "geoferry" ? process.execPath : program, args));
      }
    }
    const of = (program, what) => median(found[program].map((one) => one[what]));
    const ratio = (what) => (of("ogr2ogr", what) / of("geoferry", what)).toFixed(2);
    const each = Object.keys(arguments_).map(
      (program) =>
        `${program} ${of(program, "seconds").toFixed(1)} s, ${of(program, "processor").toFixed(1)} s of CPU time, ${of(program, "peak").toFixed(0)} MB`,
    );
    console.log(`${title}: ${ratio("seconds")} (of processors ${ratio("processor")}); ${each.join("; ")}`);
  }
} finally {
  await execute(flags.server, `DROP DATABASE ${name} WITH (FORCE)`);
  rmSync(scratch, { recursive: true });
}
