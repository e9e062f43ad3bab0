import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of grids that PROJ takes for its own: its database is beside them. */
export function gridFolder(name: string): string {
  const parent = mkdtempSync(join(tmpdir(), "geoferry-grids-"));
  const folder = join(parent, name);
  mkdirSync(folder);
  const database = ["/usr/share/proj/proj.db", "/usr/local/share/proj/proj.db"].find((path) => existsSync(path));
  if (database) symlinkSync(database, join(folder, "proj.db"));
  return folder;
}

/** Positions through cs2cs with the grids of a folder: x first on both sides. Geographic systems of EPSG put latitude first. */
export async function cs2cs(
  folder: string,
  from: string,
  to: string,
  positions: readonly number[],
  latitudeFirst: readonly [from: boolean, to: boolean] = [true, true],
): Promise<number[]> {
  const input: string[] = [];
  for (let i = 0; i < positions.length; i += 2) {
    const [x, y] = [positions[i], positions[i + 1]];
    input.push(latitudeFirst[0] ? `${y} ${x} 0` : `${x} ${y} 0`);
  }
  const env = { ...process.env, PROJ_DATA: folder, PROJ_LIB: folder, PROJ_NETWORK: "OFF" };
  const text = await new Promise<string>((resolve, reject) => {
    const child = execFile("cs2cs", ["-f", "%.12f", from, to], { env, maxBuffer: 2 ** 26 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stdin?.on("error", () => {}).end(`${input.join("\n")}\n`);
  });
  return text
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [a, b] = line.split(/\s+/).map((word) => (word === "*" ? Number.NaN : Number(word))) as [number, number];
      return latitudeFirst[1] ? [b, a] : [a, b];
    });
}
