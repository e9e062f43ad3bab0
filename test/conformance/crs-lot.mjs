/**
 * 1,000 systems of EPSG by lot with a fixed seed, two- and three-dimensional and compound ones among them: each is converted
 * from WGS 84 at twenty positions of its area of use, or refused for a reason whose printed advice is then followed:
 * `--accuracy`, or `geoferry grids get` as far as the folders of GEOFERRY_GRIDS (/usr/share/proj) have the grid.
 * What is converted without grids is compared with PROJ, and none may be farther from it than its stated accuracy:
 *
 *   npm run conformance:crs-lot                 prints the counts; PROJ's answers are kept, as those for crs.mjs are
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundledEngine, onGlobe } from "./crs-compare.mjs";
import { keptAnswers, projReference } from "./proj-reference.mjs";

const systemCount = Number(process.argv[2] ?? 1000);
const folder = process.env.GEOFERRY_GRIDS || "/usr/share/proj";
/** Metres beside the stated accuracy: what two programs' arithmetic may differ by. */
const tolerance = 0.01;
const known = JSON.parse(readFileSync(new URL("crs-known.json", import.meta.url), "utf8"));

const { engine, remove } = await bundledEngine();
const { buildTransform, crsContext, findOperation, PositionTally, Random, resolve, statementsOf } = engine;

/** Projected, geographic in two and three dimensions, compound; those of EPSG that are not deprecated. */
function drawn() {
  const lines = engine.epsgLines.slice(1, -1).split("\n");
  const all = lines
    .map((line) => line.split("|", 4))
    .filter(([, kind, , old]) => "PGHVW".includes(kind) && old !== "d");
  const random = new Random(23);
  return Array.from({ length: systemCount }, () => all.splice(random.below(all.length), 1)[0]);
}

/** Positions of WGS 84 to a system: where they lead, with the accuracy that is stated for each; and what is said. */
async function convert(crs, positions, options) {
  let operation;
  try {
    operation = await findOperation(crsContext.wgs84, crs, options);
  } catch (error) {
    return { served: [], refused: positions.length, said: error.message };
  }
  const tally = new PositionTally(operation.routes.length);
  const transform = await buildTransform(operation, tally);
  const served = [];
  const uses = [];
  for (const [index, position] of positions.entries()) {
    const xy = Float64Array.from(position);
    tally.clear();
    transform(xy, null);
    const route = operation.routes.findIndex((_, k) => tally.positions(k) > 0);
    if (tally.positions(null) > 0) uses.push({ route: null, positions: 1, box: tally.box(null) });
    if (Number.isNaN(xy[0])) continue;
    served.push({ index, xy: [...xy], accuracy: (operation.routes[route] ?? operation).accuracy });
  }
  const stated = await statementsOf(operation, uses);
  const said = stated.filter(({ code }) => code === "crs-unreached").map(({ text }) => text);
  return { served, refused: positions.length - served.length, said: said.join("\n") };
}

/** The options that a message names, in its words; null where it names none. */
function adviceIn(said) {
  const [, accuracy] = /--accuracy (\d+(?:\.\d+)?)/.exec(said) ?? [];
  const [, grids] = /geoferry grids get ((?:[a-z]{2,3}_\S+\.tif ?)+)/.exec(said) ?? [];
  if (accuracy === undefined && grids === undefined) return null;
  return { accuracy: accuracy && Number(accuracy), grids: grids?.trim().split(" ") };
}

/** By PROJ's names, and those that Debian's proj-data has them under. */
const fileOf = (name) => {
  const [operation] = engine.operationLines.split("\n").filter((line) => line.includes(`@${name};`));
  const names = [name, ...(operation?.split("@")[1]?.split(";") ?? [])];
  return names.map((file) => join(folder, file.replace(/^-/, ""))).find(existsSync);
};

const process1 = projReference(process.env.PROJ_LIBRARY, process.env.PROJ_DATABASE);
const versions = await process1.ask({});
const proj = keptAnswers(versions).before(process1);
const counts = {};
const count = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const wrong = [];
for (const [code, kind] of drawn()) {
  const id = `EPSG:${code}`;
  const theirs = await proj.ask({ crs: id, points: 20 });
  if (theirs.error) {
    count("PROJ has no coordinates");
    continue;
  }
  const crs = await crsContext.parse(id);
  const first = await convert(crs, theirs.from, {});
  const { projection, geodetic } = await resolve(crs);
  const metres = (a, b) =>
    projection
      ? Math.hypot(a[0] - b[0], a[1] - b[1]) * projection.unit.size
      : onGlobe((geodetic.unit.size * 180) / Math.PI)(a, b);
  for (const { index, xy, accuracy } of first.served) {
    const [x, y, way] = theirs.there[index];
    if (way !== "" || metres(xy, [x, y]) <= (accuracy ?? 0) + tolerance) continue;
    wrong.push(
      `${id}: ${metres(xy, [x, y]).toPrecision(2)} m from PROJ, stated ${accuracy} m${known[id] ? ` (${known[id]})` : ""}`,
    );
    break;
  }
  if (first.refused === 0) {
    count("converted everywhere");
    continue;
  }
  const extent = first.served.length > 0 ? "partly converted" : "refused";
  const advice = adviceIn(first.said);
  if (advice === null) {
    count(`${extent}: ${reasonOf(first.said)}`);
    continue;
  }
  if (advice.accuracy === undefined) {
    const files = advice.grids.map(fileOf);
    if (files.includes(undefined)) {
      count(`${extent}: advises a grid that the folder does not have`);
      continue;
    }
    const followed = await convert(crs, theirs.from, { grids: files });
    if (followed.refused < first.refused)
      count(`${extent}: the grid that is advised serves ${followed.refused === 0 ? "all" : "more"}`);
    else {
      count(`${extent}: the grid that is advised serves no more of the twenty positions`);
      console.log(`${id} ${kind}: ${first.said}`);
    }
    continue;
  }
  const followed = await convert(crs, theirs.from, { accuracy: advice.accuracy });
  if (followed.refused < first.refused)
    count(`${extent}: the --accuracy that is advised serves ${followed.refused === 0 ? "all" : "more"}`);
  else wrong.push(`${id}: --accuracy ${advice.accuracy} serves no more: ${first.said}`);
}

function reasonOf(said) {
  const reasons = ["no shift between", "no operation is known there", "cannot be computed", "geocentric"];
  return reasons.find((reason) => said.includes(reason)) ?? `else: ${said.slice(0, 160)}`;
}

proj.close();
remove();
console.log(`PROJ ${versions.proj}, EPSG ${versions.epsg}, ${systemCount} systems`);
for (const [name, number] of Object.entries(counts).sort(([, a], [, b]) => b - a)) console.log(`${number} ${name}`);
for (const line of wrong) console.log(`wrong: ${line}`);
process.exit(wrong.every((line) => line.endsWith(")")) ? 0 : 1);
