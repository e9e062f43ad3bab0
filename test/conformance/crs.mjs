/**
 * Compares every projected and geographic two-dimensional system of EPSG with the PROJ library of the machine, twenty
 * positions in its area of use, to it and back to WGS 84, without grids:
 *
 *   npm run conformance:crs                      the whole, a few minutes; writes crs-verdicts.json and docs/crs.md
 *   npm run conformance:crs -- ESRI              the same of ESRI's systems; prints only
 *   npm run conformance:crs -- EPSG:2154 …       some; prints only
 *
 * At least 99 % of the systems for which PROJ has an operation agree within a millimetre, as far as PROJ agrees with
 * itself, and every other one is refused or known, with its reason, in crs-known.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { bundledEngine, compareSystem, projReference, systems } from "./crs-compare.mjs";
import { classes, summary, tableOf } from "./crs-table.mjs";

const here = (name) => new URL(name, import.meta.url);
const known = JSON.parse(readFileSync(here("crs-known.json"), "utf8"));
const [asked = "EPSG", ...more] = process.argv.slice(2);
const { engine, remove } = await bundledEngine();
const list = asked.includes(":") ? [asked, ...more].map((id) => ({ id, deprecated: false })) : systems(engine, asked);

const rows = new Array(list.length);
let next = 0;
async function work() {
  const proj = projReference();
  for (let index = next++; index < list.length; index = next++) {
    const { id, deprecated } = list[index];
    rows[index] = { ...(await compareSystem(engine, proj, id)), deprecated };
    if (process.stderr.isTTY) process.stderr.write(`\r${index + 1} of ${list.length} `);
  }
  proj.close();
}
await Promise.all([work(), work(), work()]);
remove();

for (const { id, method, verdict, worst, why } of rows) {
  if (["agree", "ballpark", "grid", "none"].includes(verdict)) continue;
  console.log(`${verdict.padEnd(8)} ${id} ${method}: ${known[id] ?? why ?? `${worst.toPrecision(2)} m`}`);
}
console.log(`\n${tableOf(rows)}`);
const { share, unexplained } = summary(rows, known);
console.log(`\n${share.toFixed(2)} % of the systems that PROJ can do without grids agree within a millimetre`);
if (unexplained.length > 0) console.log(`off, and not in crs-known.json: ${unexplained.join(" ")}`);

if (asked === "EPSG") {
  const others = Object.keys(classes).filter((verdict) => verdict !== "agree");
  const lines = others.map((verdict) => {
    const codes = rows.filter((row) => row.verdict === verdict).map(({ id }) => id.slice("EPSG:".length));
    return `  ${JSON.stringify(verdict)}: [${codes.join(", ")}]`;
  });
  writeFileSync(here("crs-verdicts.json"), `{\n${lines.join(",\n")}\n}\n`);
  const page = here("../../docs/crs.md");
  const parts = readFileSync(page, "utf8").split(/(<!-- comparison -->\n)[\s\S]*(<!-- end of comparison -->)/);
  writeFileSync(page, `${parts[0]}${parts[1]}\n${tableOf(rows)}\n\n${parts[2]}${parts[3]}`);
}
process.exit(share >= 99 && unexplained.length === 0 ? 0 : 1);
