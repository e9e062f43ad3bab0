import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonWithGdal } from "../support/command.js";

const python = pythonWithGdal();

/** GDAL's and PROJ's own answers, for the tests that hold ours against them. They are needed in CI, elsewhere skipped. */
export const hasProj = python !== undefined;
export const needsProj = !hasProj && !process.env.CI;

/** PROJ with its database but without any grids that happen to be installed: what geoferry can be equal to. */
function environment(): NodeJS.ProcessEnv {
  const database = ["/usr/share/proj/proj.db", "/usr/local/share/proj/proj.db"].find((path) => existsSync(path));
  const base = { ...process.env, OSR_USE_NON_DEPRECATED: "NO" };
  if (!database) return base;
  const folder = mkdtempSync(join(tmpdir(), "geoferry-proj-"));
  symlinkSync(database, join(folder, "proj.db"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return { ...base, PROJ_LIB: folder, PROJ_DATA: folder };
}

type Waiting = (line: string | null) => void;

/** The process that answers all requests of these tests: to start GDAL for each takes a quarter of a second. */
class AnsweringProcess {
  readonly #waiting: Waiting[] = [];
  readonly #child: ChildProcess;

  constructor() {
    if (!python) throw new Error("python3 has no modules of GDAL (python3-gdal)");
    const script = fileURLToPath(new URL("proj-answers.py", import.meta.url));
    this.#child = spawn(python, [script], { env: environment(), stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => this.#waiting.shift()?.(line));
    this.#child.once("exit", () => {
      for (const waiting of this.#waiting.splice(0)) waiting(null);
    });
    process.once("exit", () => this.#child.kill());
  }

  async ask(request: object): Promise<unknown> {
    const line = await new Promise<string | null>((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
    });
    const said: { answer?: unknown; error?: string } = line === null ? { error: "it has ended" } : JSON.parse(line);
    if (said.error !== undefined) throw new Error(`GDAL: ${said.error}`);
    return said.answer;
  }
}
const answering = needsProj ? null : new AnsweringProcess();

/** Positions as gdaltransform gives them, x first on both sides; infinite where there is none. */
export async function gdalTransform(from: string, to: string, positions: Float64Array): Promise<Float64Array> {
  const answer = await answering!.ask({ from, to, xy: [...positions] });
  return Float64Array.from(answer as (number | null)[], (value) => value ?? Number.POSITIVE_INFINITY);
}

/** A system as gdalsrsinfo writes it: `wkt_esri`, `wkt1`, `wkt2_2018`, `wkt2_2019`, `projjson`, `proj4`. */
export async function srsInfo(definition: string, format: string): Promise<string> {
  return ((await answering!.ask({ definition, format })) as string).trim();
}
