/**
 * Compares 4,000 pairs of EPSG's geographic two-dimensional systems, drawn with a fixed seed from those whose areas of
 * use meet, with the PROJ library: 16 positions in what the two areas have in common, without grids, with the usual
 * `--accuracy`:
 *
 *   npm run conformance:crs-pairs                     the whole; writes the table into docs/crs.md
 *   npm run conformance:crs-pairs -- 4267-4326 …      some; prints only
 *
 * Each position is compared with the accuracy that geoferry states for the operation that it used there. The answers of
 * PROJ are kept, as those for crs.mjs are, and the variables of the environment are the same.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { bundledEngine, onGlobe, systems } from "./crs-compare.mjs";
import { keptAnswers, projReference } from "./proj-reference.mjs";

const pairCount = 4000;
const pointCount = 16;
const here = (name) => new URL(name, import.meta.url);
const reasons = JSON.parse(readFileSync(here("crs-pairs-known.json"), "utf8"));
const asked = process.argv.slice(2);
const { engine, remove } = await bundledEngine();
const {
  areaOfUse,
  buildTransform,
  intersectAreas,
  crsContext,
  findOperation,
  PositionCounter,
  Random,
  resolveDefinition,
} = engine;

async function geographicSystems() {
  const found = [];
  for (const { id, deprecated } of systems(engine, "EPSG")) {
    if (deprecated) continue;
    const crs = await crsContext.parse(id);
    const definition = await resolveDefinition(crs);
    if (definition.projection || !definition.geodetic) continue;
    const area = await areaOfUse(crs);
    if (area !== null) found.push({ id, crs, area, geodetic: definition.geodetic });
  }
  return found;
}

const all = await geographicSystems();
const bySystem = new Map(all.map((system) => [system.id, system]));

function drawnPairs() {
  const random = new Random(19);
  const pairs = new Map();
  while (pairs.size < pairCount) {
    const [from, to] = [random.pick(all), random.pick(all)];
    if (from !== to && intersectAreas(from.area, to.area) !== null) pairs.set(`${from.id} ${to.id}`, [from, to]);
  }
  return [...pairs.values()];
}

const pairs =
  asked.length > 0 ? asked.map((text) => text.split("-").map((code) => bySystem.get(`EPSG:${code}`))) : drawnPairs();

function radicalInverse(index, base) {
  let [value, part] = [0, 1];
  for (let rest = index; rest > 0; rest = Math.floor(rest / base)) {
    part /= base;
    value += part * (rest % base);
  }
  return value;
}

/** Positions in the common area, spread by Halton's sequence, in the unit and from the meridian of the source. */
function positionsOf(from, to) {
  const [west, south, east, north] = intersectAreas(from.area, to.area);
  const width = (((east - west) % 360) + 360) % 360 || 360;
  const unit = (from.geodetic.unit.conversionFactor * 180) / Math.PI;
  return Array.from({ length: pointCount }, (_, k) => {
    const longitude = west + width * radicalInverse(k + 1, 2) - from.geodetic.meridian.degrees;
    const latitude = south + (north - south) * radicalInverse(k + 1, 3);
    return [(((longitude + 540) % 360) - 180) / unit, latitude / unit];
  });
}

/** Each position in the target with the accuracy of the operation that was used; null where it is refused. */
async function ours(from, to, positions) {
  const operation = await findOperation(from.crs, to.crs);
  const tally = new PositionCounter(operation.transformations.length);
  const transform = await buildTransform(operation, tally);
  return positions.map((position) => {
    const xy = Float64Array.from(position);
    tally.clear();
    transform(xy, null);
    if (Number.isNaN(xy[0])) return null;
    const route = operation.transformations.find((_, index) => tally.getCount(index) > 0);
    return { xy: [...xy], accuracy: (route ?? operation).accuracy, name: (route ?? operation).name };
  });
}

/** The verdicts in the words of docs/crs.md, in its order. */
const classes = {
  agree: "agree with PROJ within 1 mm",
  close: "1 mm to 1 cm apart",
  stated: "further apart, within the stated accuracy",
  off: "further apart than the stated accuracy: the list below",
  partly: "as one of these where supported; some positions are refused",
  refused: "refused, though PROJ has an operation",
  ballpark: "PROJ has only a ballpark operation, or no coordinates",
};

async function comparePair(proj, [from, to]) {
  const row = { id: `${from.id.slice(5)}-${to.id.slice(5)}`, worst: 0 };
  const positions = positionsOf(from, to);
  const theirs = await proj.ask({ from: from.id, to: to.id, xy: positions });
  if (theirs.error || theirs.xy.every(([, , kind]) => kind !== "")) return { ...row, verdict: "ballpark" };
  let mine;
  try {
    mine = await ours(from, to, positions);
  } catch (error) {
    return { ...row, verdict: "refused", why: error.message };
  }
  const distance = onGlobe((to.geodetic.unit.conversionFactor * 180) / Math.PI);
  const compared = theirs.xy.flatMap(([x, y, kind], k) =>
    kind === "" && mine[k] ? [{ ...mine[k], at: positions[k], apart: distance(mine[k].xy, [x, y]) }] : [],
  );
  const refused = theirs.xy.filter(([, , kind], k) => kind === "" && !mine[k]).length;
  if (compared.length === 0) return { ...row, verdict: "refused", why: "no position is served" };
  const worst = compared.reduce((p, q) => (q.apart > p.apart ? q : p));
  const beyond = compared.filter(({ apart, accuracy }) => apart > 0.01 && !(apart <= accuracy));
  const [first = worst] = beyond.sort((p, q) => q.apart - p.apart);
  const why = `${first.apart.toPrecision(2)} m at ${first.at.map((value) => value.toFixed(2))} by ${first.name}, accurate to ${first.accuracy} m`;
  const found = { ...row, worst: worst.apart, why };
  if (beyond.length > 0) return { ...found, verdict: "off" };
  if (refused > 0) return { ...found, verdict: "partly", why: `${refused} of ${pointCount} positions are refused` };
  return { ...found, verdict: worst.apart <= 0.001 ? "agree" : worst.apart <= 0.01 ? "close" : "stated" };
}

const { PROJ_LIBRARY: library, PROJ_DATABASE: database } = process.env;
const first = projReference(library, database);
const versions = await first.ask({});
const kept = keptAnswers(versions);
console.error(`PROJ ${versions.proj}, EPSG ${versions.epsg}; ${kept.size} answers are known (${kept.path})`);

const rows = new Array(pairs.length);
let next = 0;
let said = Date.now();
async function work(process) {
  const proj = kept.before(process);
  for (let index = next++; index < pairs.length; index = next++) {
    rows[index] = await comparePair(proj, pairs[index]);
    if (Date.now() - said < 10_000) continue;
    said = Date.now();
    console.error(`${index + 1} of ${pairs.length}`);
  }
  proj.close();
}
await Promise.all([work(first), ...[2, 3].map(() => work(projReference(library, database)))]);
remove();

const reasonOf = ({ id }) => reasons.find(({ pairs: some }) => some.includes(id))?.why;
for (const { id, verdict, why } of rows) {
  if (asked.length > 0 || !["agree", "close", "ballpark"].includes(verdict))
    console.log(`${verdict.padEnd(8)} ${id}: ${why}`);
}
const unexplained = rows.filter((row) => row.verdict === "off" && reasonOf(row) === undefined);
const count = (verdict) => rows.filter((row) => row.verdict === verdict).length;
const table = [
  "| | pairs |",
  "| --- | ---: |",
  ...Object.entries(classes).map(([verdict, title]) => `| ${title} | ${count(verdict)} |`),
  `| all | ${rows.length} |`,
].join("\n");
console.log(`\n${table}`);
if (unexplained.length > 0)
  console.log(`off, and not in crs-pairs-known.json: ${unexplained.map(({ id }) => id).join(" ")}`);

if (asked.length === 0) {
  const page = here("../../docs/crs.md");
  const parts = readFileSync(page, "utf8").split(/(<!-- pairs -->\n)[\s\S]*(<!-- end of pairs -->)/);
  if (parts.length !== 4) throw new Error("docs/crs.md has not the two comments between which the table stands");
  writeFileSync(
    page,
    `${parts[0]}${parts[1]}\nPROJ ${versions.proj}, EPSG ${versions.epsg}:\n\n${table}\n\n${parts[2]}${parts[3]}`,
  );
}
process.exit(unexplained.length === 0 ? 0 : 1);
