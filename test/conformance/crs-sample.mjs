/**
 * 1,000 systems of EPSG by lot with a fixed seed, two- and three-dimensional and compound ones among them: each is converted
 * from WGS 84 at twenty positions of its area of use, or refused for a reason whose printed advice is then followed:
 * `--accuracy`, or `geoferry grids get`, as is the advice of a grid that would do better. Grids are taken from the folder
 * GEOFERRY_GRIDS (/usr/share/proj), and PROJ is given that folder, too; for those that it does not have a grid of no shift
 * stands in, which shows that the advice names the right one. What is converted is compared with PROJ, and none may be
 * farther from it than its stated accuracy:
 *
 *   npm run conformance:crs-lot                 prints the counts; PROJ's answers are kept, as those for crs.mjs are
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledEngine, onGlobe } from "./crs-compare.mjs";
import { keptAnswers, projReference } from "./proj-reference.mjs";

const systemCount = Number(process.argv[2] ?? 1000);
const folder = process.env.GEOFERRY_GRIDS || "/usr/share/proj";
/** Metres beside the stated accuracy: what two programs' arithmetic may differ by. */
const tolerance = 0.01;
/** Metres: EPSG's figure for an unknown accuracy. */
const unknown = 999;
const known = JSON.parse(readFileSync(new URL("crs-known.json", import.meta.url), "utf8"));

const { engine, remove } = await bundledEngine();
const {
  buildTransform,
  crsContext,
  findOperation,
  ntv2,
  PositionCounter,
  publishedGrid,
  Random,
  resolveDefinition,
  operationNotes,
} = engine;

/** Projected, geographic in two and three dimensions, compound; those of EPSG that are not deprecated. */
function drawn() {
  const lines = engine.epsgLines.slice(1, -1).split("\n");
  const all = lines
    .map((line) => line.split("|", 4))
    .filter(([, kind, , old]) => "PGHVW".includes(kind) && old !== "d");
  const random = new Random(23);
  return Array.from({ length: systemCount }, () => all.splice(random.below(all.length), 1)[0]);
}

/**
 * Positions of WGS 84 to a system: where they lead, with the accuracy that is stated for each; and what is said.
 * @param options of `findOperation`
 */
async function convert(crs, positions, options = {}) {
  let operation;
  try {
    operation = await findOperation(crsContext.wgs84, crs, options);
  } catch (error) {
    return { served: [], refused: positions.length, refusal: error.message, said: "" };
  }
  const tally = new PositionCounter(operation.transformations.length);
  const transform = await buildTransform(operation, tally);
  const served = [];
  for (const [index, position] of positions.entries()) {
    const xy = Float64Array.from(position);
    tally.clear();
    transform(xy, null);
    const route = operation.transformations.findIndex((_, k) => tally.getCount(k) > 0);
    if (!Number.isNaN(xy[0]))
      served.push({ index, xy, accuracy: (operation.transformations[route] ?? operation).accuracy });
  }
  tally.clear();
  transform(Float64Array.from(positions.flat()), null);
  const routes = [...operation.transformations.keys(), null].filter((route) => tally.getCount(route) > 0);
  const uses = routes.map((route) => ({
    transformationIndex: route,
    positionCount: tally.getCount(route),
    box: tally.getBox(route),
  }));
  const stated = await operationNotes(operation, uses);
  const textOf = (isRefusal) =>
    stated
      .filter(({ code }) => (code === "crs-unreached") === isRefusal)
      .map(({ text }) => text)
      .join("\n");
  return { served, refused: positions.length - served.length, refusal: textOf(true), said: textOf(false) };
}

/** The options that a message names, in its words; null where it names none. */
function adviceIn(said) {
  const [, accuracy] = /--accuracy (\d+(?:\.\d+)?)/.exec(said) ?? [];
  const [, grids, better] =
    /geoferry grids get ((?:[a-z]{2,3}_\S+\.tif ?)+)(?:(?:together )?makes? it accurate to (\S+) m)?/.exec(said) ?? [];
  if (accuracy === undefined && grids === undefined) return null;
  return { accuracy: accuracy && Number(accuracy), grids: grids?.trim().split(" "), better: better && Number(better) };
}

/** By PROJ's names, and those that Debian's proj-data has them under; undefined where the folder does not have it. */
function fileOf(name) {
  const operation = engine.operationLines.split("\n").find((line) => line.includes(`@${name};`));
  const names = [name, ...(operation?.split("@")[1]?.split(";") ?? [])];
  return names.map((file) => join(folder, file.replace(/^-/, ""))).find(existsSync);
}

const standIns = mkdtempSync(join(tmpdir(), "geoferry-lot-"));
const noShift = () => [0, 0];

/** A grid of no shift under the name, where the nodes of the published one lie. */
function standInFor(name) {
  const path = join(standIns, name);
  const [west, south, east, north] = publishedGrid(name).area;
  const [columns, rows] = [east - west + (east < west ? 360 : 0), north - south].map((side) => Math.ceil(side) + 1);
  writeFileSync(path, ntv2([{ name: "ALL", west, south, columns, rows, step: 1, shift: noShift }]));
  return path;
}

const { PROJ_LIBRARY: library, PROJ_DATABASE: database } = process.env;
const process1 = projReference(library, database);
const withGrids = projReference(library, database, folder);
const versions = await process1.ask({});
const proj = keptAnswers(versions).before(process1);
const counts = {};
const count = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const wrong = [];
const explained = [];

/**
 * Holds positions against PROJ's: none may lie farther from it than what is stated, but where PROJ's own operation is so
 * much worse that the two may.
 */
async function compare(id, served, there) {
  const { projection, geodetic } = await resolveDefinition(await crsContext.parse(id));
  const metres = (a, b) =>
    projection
      ? Math.hypot(a[0] - b[0], a[1] - b[1]) * projection.unit.conversionFactor
      : onGlobe((geodetic.unit.conversionFactor * 180) / Math.PI)(a, b);
  const beyond = served.flatMap(({ index, xy, accuracy }) => {
    const [x, y, way, theirs] = there[index];
    const apart = metres(xy, [x, y]);
    return way !== "" || apart <= (accuracy ?? 0) + tolerance ? [] : [{ apart, accuracy, theirs: theirs ?? unknown }];
  });
  const [worst] = beyond.sort((p, q) => q.apart - q.accuracy - q.theirs - (p.apart - p.accuracy - p.theirs));
  if (worst === undefined) return;
  const { apart, accuracy, theirs } = worst;
  const said = `${id}: ${apart.toPrecision(2)} m from PROJ, stated ${accuracy} m, PROJ's operation ${theirs === unknown ? "of unknown accuracy" : `${theirs} m`}`;
  if (apart <= accuracy + theirs + tolerance) explained.push(`${said}: within both`);
  else if (known[id]) explained.push(`${said}: ${known[id]}`);
  else wrong.push(said);
}

/** Does what a message says about grids. */
async function followGrids(id, crs, { from }, { grids, better }, first, extent) {
  const real = grids.map(fileOf);
  const isReal = !real.includes(undefined);
  const files = isReal ? real : grids.map(standInFor);
  const kind = isReal ? "the grid that is advised" : "a stand-in for the grid that is advised";
  const followed = await convert(crs, from, { grids: files });
  const before = new Map(first.served.map(({ index, accuracy }) => [index, accuracy]));
  const gained = followed.served.filter(({ index, accuracy }) => !(before.get(index) <= accuracy));
  if (isReal) {
    const theirs = await withGrids.ask({ crs: id, points: 20 });
    if (!theirs.error) await compare(id, followed.served, theirs.there);
  }
  if (gained.length === 0) count(`${extent}: ${kind} does not reach any of the twenty positions`);
  else if (better !== undefined && !gained.some(({ accuracy }) => accuracy <= better))
    wrong.push(`${id}: ${grids.join(" ")} does not make it accurate to ${better} m`);
  else count(`${extent}: ${kind} serves ${first.refused > followed.refused ? "more" : "better"}`);
}

for (const [code] of drawn()) {
  const id = `EPSG:${code}`;
  const theirs = await proj.ask({ crs: id, points: 20 });
  if (theirs.error) {
    count("PROJ has no coordinates");
    continue;
  }
  const crs = await crsContext.parse(id);
  const first = await convert(crs, theirs.from);
  await compare(id, first.served, theirs.there);
  const improvement = adviceIn(first.said);
  if (improvement?.grids) await followGrids(id, crs, theirs, improvement, first, "a grid would improve it");
  if (first.refused === 0) {
    count("converted everywhere");
    continue;
  }
  const extent = first.served.length > 0 ? "partly converted" : "refused";
  const advice = adviceIn(first.refusal);
  if (advice === null) count(`${extent}: ${reasonOf(first.refusal)}`);
  else if (advice.accuracy === undefined) await followGrids(id, crs, theirs, advice, first, extent);
  else {
    const followed = await convert(crs, theirs.from, { accuracy: advice.accuracy });
    if (followed.refused < first.refused)
      count(`${extent}: the --accuracy that is advised serves ${followed.refused === 0 ? "all" : "more"}`);
    else wrong.push(`${id}: --accuracy ${advice.accuracy} serves no more: ${first.refusal}`);
  }
}

function reasonOf(said) {
  const reasons = ["no shift between", "no operation is known there", "cannot be computed", "geocentric"];
  return reasons.find((reason) => said.includes(reason)) ?? `else: ${said.slice(0, 160)}`;
}

proj.close();
withGrids.close();
remove();
rmSync(standIns, { recursive: true });
console.log(`PROJ ${versions.proj}, EPSG ${versions.epsg}, ${systemCount} systems`);
for (const [name, number] of Object.entries(counts).sort(([, a], [, b]) => b - a)) console.log(`${number} ${name}`);
for (const line of explained) console.log(`farther from PROJ than stated: ${line}`);
for (const line of wrong) console.log(`wrong: ${line}`);
process.exit(wrong.length === 0 ? 0 : 1);
