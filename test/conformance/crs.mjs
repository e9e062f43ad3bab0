/**
 * Compares every projected and geographic two-dimensional system of EPSG with the PROJ library of the machine, twenty
 * positions in its area of use, to it and back to WGS 84, without grids:
 *
 *   npm run conformance:crs                      the whole; writes crs-verdicts.json and docs/crs.md
 *   npm run conformance:crs -- ESRI              the same of ESRI's systems; prints only
 *   npm run conformance:crs -- EPSG:2154 …       some; prints only
 *
 * PROJ takes ten minutes of processor time; what it said is kept, so that a run which was stopped goes on, and the next
 * one takes seconds. PROJ_LIBRARY and PROJ_DATABASE name another libproj.so and proj.db than the machine's: the tables
 * are from the ones that `pip download pyproj==3.7.2` has in it.
 *
 * At least 98.9 % of the systems for which PROJ has an operation agree within a millimetre, and every other one is
 * refused or known, with its reason, in crs-known.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { bundledEngine, compareSystem, systems } from "./crs-compare.mjs";
import { classes, differencesOf, summary, tableOf } from "./crs-table.mjs";
import { keptAnswers, projReference } from "./proj-reference.mjs";

const here = (name) => new URL(name, import.meta.url);
const known = JSON.parse(readFileSync(here("crs-known.json"), "utf8"));
const [asked = "EPSG", ...more] = process.argv.slice(2);
const { engine, remove } = await bundledEngine();
const list = asked.includes(":") ? [asked, ...more].map((id) => ({ id, deprecated: false })) : systems(engine, asked);

const { PROJ_LIBRARY: library, PROJ_DATABASE: database } = process.env;
const first = projReference(library, database);
const versions = await first.ask({});
const kept = keptAnswers(versions);
console.error(`PROJ ${versions.proj}, EPSG ${versions.epsg}; ${kept.size} answers are known (${kept.path})`);

const rows = new Array(list.length);
let next = 0;
let said = Date.now();
async function work(process) {
  const proj = kept.before(process);
  for (let index = next++; index < list.length; index = next++) {
    const { id, deprecated } = list[index];
    rows[index] = { ...(await compareSystem(engine, proj, id)), deprecated };
    if (Date.now() - said < 10_000) continue;
    said = Date.now();
    console.error(`${index + 1} of ${list.length}`);
  }
  proj.close();
}
await Promise.all([work(first), ...[2, 3].map(() => work(projReference(library, database)))]);
remove();

for (const { id, method, verdict, worst, why } of rows) {
  if (["agree", "ballpark", "grid", "none"].includes(verdict)) continue;
  console.log(`${verdict.padEnd(8)} ${id} ${method}: ${known[id] ?? why ?? `${worst.toPrecision(2)} m`}`);
}
console.log(`\n${tableOf(rows)}`);
const { share, strictShare, unexplained } = summary(rows, known);
const percent = (value) => `${value.toFixed(2)} %`;
console.log(`\n${percent(share)} of the systems that PROJ supports without grids agree within a millimetre`);
console.log(`${percent(strictShare)} with what PROJ does by itself in either direction`);
if (unexplained.length > 0) console.log(`different, and not in crs-known.json: ${unexplained.join(" ")}`);

if (asked === "EPSG") {
  const others = Object.keys(classes).filter((verdict) => verdict !== "agree");
  const lines = others.map((verdict) => {
    const codes = rows.filter((row) => row.verdict === verdict).map(({ id }) => id.slice("EPSG:".length));
    return `  ${JSON.stringify(verdict)}: [${codes.join(", ")}]`;
  });
  writeFileSync(here("crs-verdicts.json"), `{\n${lines.join(",\n")}\n}\n`);
  writeFileSync(here("crs-versions.json"), `${JSON.stringify(versions)}\n`);
  const page = here("../../docs/crs.md");
  const parts = readFileSync(page, "utf8").split(/(<!-- comparison -->\n)[\s\S]*(<!-- end of comparison -->)/);
  const found = [
    `PROJ ${versions.proj}, EPSG ${versions.epsg}: of the systems that PROJ supports without grids ${percent(share)} agree, ${percent(strictShare)} with PROJ's own result in each direction.`,
    tableOf(rows),
    "All systems that do not agree:",
    differencesOf(rows, known),
  ];
  if (parts.length !== 4) throw new Error("docs/crs.md has not the two comments between which the table stands");
  writeFileSync(page, `${parts[0]}${parts[1]}\n${found.join("\n\n")}\n\n${parts[2]}${parts[3]}`);
}
process.exit(unexplained.length === 0 ? 0 : 1);
