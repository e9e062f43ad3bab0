/**
 * Holds systems against PROJ: the same positions to a system and back to WGS 84, ours beside PROJ's own choice of
 * operation without grids. `engine` is crs-engine.ts, PROJ the library of the machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const metresInDegree = 111_320;
/** EPSG's figure for an unknown accuracy: with it every operation that PROJ takes is allowed, but no ballpark. */
const anyAccuracy = 999;

/** Ids of the projected and the geographic two-dimensional systems of an authority, and whether they are deprecated. */
export function systems({ epsgLines, esriLines }, authority) {
  const lines = authority === "ESRI" ? esriLines : epsgLines;
  return lines
    .slice(1, -1)
    .split("\n")
    .map((line) => line.split("|", 4))
    .filter(([, kind]) => kind === "P" || kind === "G" || kind === "W")
    .map(([code, , , deprecated]) => ({ id: `${authority}:${code.replace("E", "")}`, deprecated: deprecated === "d" }));
}

/** The engine, bundled from the sources as they are. */
export async function bundledEngine() {
  const { rolldown } = await import("rolldown");
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "geoferry-crs-"));
  const bundle = await rolldown({
    cwd: root,
    input: "test/conformance/crs-engine.ts",
    platform: "node",
    tsconfig: "tsconfig.json",
    resolve: { extensionAlias: { ".js": [".ts"] } },
    transform: { target: "node20.19" },
  });
  await bundle.write({ dir: folder, entryFileNames: "engine.mjs" });
  await bundle.close();
  return { engine: await import(join(folder, "engine.mjs")), remove: () => rmSync(folder, { recursive: true }) };
}

async function ours({ crsContext, findOperation, buildTransform }, from, to, positions) {
  const operation = await findOperation(await crsContext.parse(from), await crsContext.parse(to), {
    accuracy: anyAccuracy,
  });
  const xy = Float64Array.from(positions.flatMap(([x, y]) => [x ?? Number.NaN, y ?? Number.NaN]));
  (await buildTransform(operation))(xy, null);
  return positions.map((_, index) => [xy[2 * index], xy[2 * index + 1]]);
}

/** What becomes of the positions one way: how many are compared, how many refused, and how far off the worst is. */
function weigh(mine, theirs, distance) {
  const found = { compared: 0, refused: 0, worst: 0 };
  for (const [index, [x, y, kind]] of theirs.entries()) {
    if (kind !== "") continue;
    if (Number.isNaN(mine[index][0])) found.refused++;
    else {
      found.compared++;
      const off = distance(mine[index], [x, y]);
      if (!(off <= found.worst)) found.worst = off;
    }
  }
  return found;
}

/**
 * PROJ's way back, and where it does not lead to where it started, nor ours to where it leads, that place or where it
 * leads by the operation that it went by: PROJ chooses back from a system by rectangles of projected coordinates around
 * areas, which are wider than the areas, so that it takes one operation there and another, or a ballpark, back; and some
 * of its series end early.
 */
const homeward = ({ from, there, back }, mine, retraced) =>
  back.map(([x, y, kind], index) => {
    const [, , kindThere] = there[index];
    if (kindThere !== "") return [x, y, kindThere];
    const strays = kind !== "" || !(onGlobe(1)([x, y], from[index]) <= 0.001);
    const isAlike = kind === "" && onGlobe(1)(mine[index], [x, y]) <= 0.001;
    return strays && !isAlike ? (retraced?.[index] ?? [...from[index], ""]) : [x, y, kind];
  });

const around = (degrees) => Math.abs(((((degrees + 180) % 360) + 360) % 360) - 180);
export const onGlobe = (degrees) => (a, b) =>
  Math.hypot(around((a[0] - b[0]) * degrees) * Math.cos((b[1] * degrees * Math.PI) / 180), (a[1] - b[1]) * degrees) *
  metresInDegree;
const onMap = (metres) => (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) * metres;

/**
 * @returns {{id, method, verdict, worst, why?}} `verdict` is one of
 * - `agree`: every position within a millimetre, both ways
 * - `home`: as `agree`, and back to where PROJ started, or by the operation that it went by, where it does not come
 *   back itself
 * - `partly`: as `agree`, but positions are refused
 * - `close`: within a centimetre
 * - `off`: by more
 * - `refused`: though PROJ has an operation
 * - `ballpark`, `grid`: PROJ has none but a ballpark; for want of a grid
 * - `none`: PROJ has no coordinates
 */
export async function compareSystem(engine, proj, id, points = 20) {
  const theirs = await proj.ask({ crs: id, points });
  const definition = await engine.crsContext
    .parse(id)
    .then(engine.resolveDefinition)
    .catch((error) => ({ error }));
  const { projection, geodetic } = definition;
  const row = { id, method: projection ? projection.methodName : "geographic", worst: 0 };
  if (theirs.error) return { ...row, verdict: "none", why: theirs.error };
  const kinds = new Set([...theirs.there, ...theirs.back].map(([, , kind]) => kind));
  if (!kinds.has("")) {
    return { ...row, verdict: !kinds.has("ballpark") ? "none" : theirs.grids ? "grid" : "ballpark" };
  }
  try {
    if (definition.error) throw definition.error;
    const there = await ours(engine, "EPSG:4326", id, theirs.from);
    const back = await ours(engine, id, "EPSG:4326", theirs.there);
    const distance = projection
      ? onMap(projection.unit.conversionFactor)
      : onGlobe((geodetic.unit.conversionFactor * 180) / Math.PI);
    const found = verdictOf({ there, back }, theirs, distance);
    // Two-dimensional operations leave heights out, and do not come back by some millimetres.
    if (found.verdict !== "close") return { ...row, ...found };
    const { back: retraced } = await proj.ask({ crs: id, points, retrace: true });
    return { ...row, ...verdictOf({ there, back }, theirs, distance, retraced) };
  } catch (error) {
    return { ...row, verdict: "refused", why: error.message };
  }
}

/** @param retraced PROJ's way back by the operations that it went by */
function verdictOf(mine, theirs, distance, retraced) {
  const forward = weigh(mine.there, theirs.there, distance);
  const back = weigh(mine.back, theirs.back, onGlobe(1));
  const home = weigh(mine.back, homeward(theirs, mine.back, retraced), onGlobe(1));
  const worst = Math.max(forward.worst, back.worst);
  if (forward.compared + back.compared === 0) return { verdict: "refused", worst, why: "no position is served" };
  const least = Math.max(forward.worst, Math.min(back.worst, home.worst));
  if (!(least <= 0.001)) {
    return { verdict: least <= 0.01 ? "close" : "off", worst: least };
  }
  const refused = Math.max(forward.refused, Math.min(back.refused, home.refused));
  if (refused > 0)
    return { verdict: "partly", worst, why: `${refused} of ${theirs.from.length} positions are refused` };
  return { verdict: worst <= 0.001 ? "agree" : "home", worst };
}
