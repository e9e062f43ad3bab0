import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** GDAL's and PROJ's own answers, for the tests that hold ours against them. They are needed in CI, elsewhere skipped. */
export const hasProj = spawnSync("gdaltransform", ["--version"]).status === 0;
export const needsProj = !hasProj && !process.env.CI;

/** PROJ with its database but without any grids that happen to be installed: what geoferry can be equal to. */
function environment(): NodeJS.ProcessEnv {
  const database = ["/usr/share/proj/proj.db", "/usr/local/share/proj/proj.db"].find((path) => existsSync(path));
  const base = { ...process.env, OSR_USE_NON_DEPRECATED: "NO" };
  if (!database) return base;
  const folder = mkdtempSync(join(tmpdir(), "geoferry-proj-"));
  symlinkSync(database, join(folder, "proj.db"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { ...base, PROJ_LIB: folder, PROJ_DATA: folder };
}
const projEnvironment = environment();

const runTool = (command: string, args: readonly string[], input = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(command, [...args], { env: projEnvironment, maxBuffer: 2 ** 26 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stdin?.on("error", () => {}).end(input);
  });

/** Positions through gdaltransform, x first on both sides. */
export async function gdalTransform(from: string, to: string, positions: Float64Array): Promise<Float64Array> {
  const lines: string[] = [];
  for (let i = 0; i < positions.length; i += 2) lines.push(`${positions[i]} ${positions[i + 1]}`);
  const text = await runTool("gdaltransform", ["-s_srs", from, "-t_srs", to, "-output_xy"], `${lines.join("\n")}\n`);
  return Float64Array.from(text.trim().split(/\s+/).map(Number));
}

const cachedAnswers = new Map<string, Promise<string>>();

/** A system as gdalsrsinfo writes it: `wkt_esri`, `wkt1`, `wkt2_2018`, `projjson`, `proj4`. */
export function srsInfo(definition: string, format: string): Promise<string> {
  const key = `${format} ${definition}`;
  const known = cachedAnswers.get(key);
  if (known) return known;
  const args = ["-o", format, ...(format.startsWith("wkt") ? ["--single-line"] : []), definition];
  const answer = runTool("gdalsrsinfo", args).then((text) => text.trim());
  cachedAnswers.set(key, answer);
  return answer;
}
