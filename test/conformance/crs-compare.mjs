/**
 * Holds systems against PROJ: the same positions to a system and back to WGS 84, ours beside PROJ's own choice of
 * operation without grids. `engine` is crs-engine.ts, PROJ the library of the machine.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
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
  });
  await bundle.write({ dir: folder, entryFileNames: "engine.mjs" });
  await bundle.close();
  return { engine: await import(join(folder, "engine.mjs")), remove: () => rmSync(folder, { recursive: true }) };
}

/** A process that answers by the PROJ library; see proj-reference.py. */
export function projReference() {
  const script = fileURLToPath(new URL("proj-reference.py", import.meta.url));
  const child = spawn("/usr/bin/python3", [script], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`PROJ's library gave up at ${JSON.stringify(request).slice(0, 100)}`);
      return JSON.parse(value);
    },
    close: () => child.stdin.end(),
  };
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
  const found = { compared: 0, refused: 0, ballpark: 0, worst: 0, at: null };
  for (const [index, [x, y, kind]] of theirs.entries()) {
    if (kind !== "") found.ballpark++;
    else if (Number.isNaN(mine[index][0])) found.refused++;
    else {
      found.compared++;
      const off = distance(mine[index], [x, y]);
      if (!(off <= found.worst)) Object.assign(found, { worst: off, at: index });
    }
  }
  return found;
}

const around = (degrees) => Math.abs(((((degrees + 180) % 360) + 360) % 360) - 180);
const onGlobe = (degrees) => (a, b) =>
  Math.hypot(around((a[0] - b[0]) * degrees) * Math.cos((b[1] * degrees * Math.PI) / 180), (a[1] - b[1]) * degrees) *
  metresInDegree;
const onMap = (metres) => (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) * metres;

/**
 * @returns {{id, method, verdict, worst, why?}} `verdict` is one of `agree` (1 mm), `close` (1 cm), `off`, `refused`,
 * `partly` (agrees, but positions are refused), `ballpark`, `grid` (PROJ has none but a ballpark and lacks a grid),
 * `none` (PROJ has no coordinates)
 */
export async function compareSystem(engine, proj, id, points = 20) {
  const theirs = await proj.ask({ crs: id, points });
  const definition = await engine.crsContext
    .parse(id)
    .then(engine.resolve)
    .catch((error) => ({ error }));
  const { projection, geodetic } = definition;
  const row = { id, method: projection ? projection.methodName : "geographic", worst: 0 };
  if (theirs.error) return { ...row, verdict: "none", why: theirs.error };
  const registered = [...theirs.there, ...theirs.back].filter(([, , kind]) => kind === "");
  let there;
  let back;
  let why;
  try {
    if (definition.error) throw definition.error;
    [there, back] = [
      await ours(engine, "EPSG:4326", id, theirs.from),
      await ours(engine, id, "EPSG:4326", theirs.there),
    ];
  } catch (error) {
    why = error.message;
  }
  if (registered.length === 0) {
    const isBallpark = theirs.there.some(([, , kind]) => kind === "ballpark");
    const served = there?.some(([x]) => !Number.isNaN(x));
    return { ...row, verdict: !isBallpark ? "none" : theirs.grids ? "grid" : "ballpark", served, why };
  }
  if (why !== undefined) return { ...row, verdict: "refused", why };
  const distance = projection ? onMap(projection.unit.size) : onGlobe((geodetic.unit.size * 180) / Math.PI);
  const forward = weigh(there, theirs.there, distance);
  const inverse = weigh(back, theirs.back, onGlobe(1));
  const worst = Math.max(forward.worst, inverse.worst);
  const refused = forward.refused + inverse.refused;
  const verdict =
    worst > 0.01 || Number.isNaN(worst)
      ? "off"
      : worst > 0.001
        ? "close"
        : forward.compared + inverse.compared === 0
          ? "refused"
          : refused > 0
            ? "partly"
            : "agree";
  return { ...row, verdict, worst, refused, forward, inverse, theirs, mine: { there, back } };
}
