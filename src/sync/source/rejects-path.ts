/** Chooses and checks the path of the rejects file of a sync. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { canWriteRejects } from "../../pipeline/write/earlier-rejects.js";
import type { SyncRequest } from "../request.js";

export interface RejectsFile {
  readonly path: string;
  /** Identifies whose rejects these are: a run replaces or deletes only those of an earlier run with the same origin. */
  readonly origin: string;
}

/** The base name of an input: `places` for `../in/places.csv`, `stdin` for `-`, the file name of a URL. */
function inputStem(input: string): string {
  if (input === "-") return "stdin";
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(input);
  const name = basename(isAddress ? input.replace(/[?#].*$/s, "") : input).replace(/[:\\]/g, "-");
  return basename(name, extname(name)) || "source";
}

/** @returns a short digest, since inputs may be addresses with secrets */
const digestOrigin = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

/** A rejects file at a path that is named, for a map: the next night's input may have another name. */
export const rejectsFileOf = (path: string, service: string, map: string): RejectsFile => ({
  path,
  origin: digestOrigin(service, map),
});

/**
 * The rejects file of a sync: that of the request, or one with the name of the first input in the working directory, since
 * the folder of the data may not be writable.
 */
export function chooseRejectsFile(request: SyncRequest, service: string, map: string): RejectsFile {
  const { inputs, rejects } = request.source;
  const { rejectsOwner } = request;
  if (rejects !== undefined)
    return rejectsOwner === undefined
      ? rejectsFileOf(rejects, service, map)
      : { path: rejects, origin: digestOrigin(rejectsOwner) };
  const origin = digestOrigin(service, map, ...inputs.map((input) => resolve(input)));
  return { path: findDefaultPath(inputStem(inputs[0] ?? ""), origin), origin };
}

/** `NAME.rejects.geojsonl`, or with a number where that has rejects of another input with this name, or of another map. */
function findDefaultPath(stem: string, origin: string): string {
  const existing = readdirSync(".").filter(
    (name) => name.startsWith(stem) && /^(-\d+)?\.rejects\.geojsonl$/.test(name.slice(stem.length)),
  );
  const own = existing.find((name) => canWriteRejects(name, origin));
  if (own !== undefined) return own;
  for (let n = 1; ; n++) {
    const path = `${stem}${n === 1 ? "" : `-${n}`}.rejects.geojsonl`;
    if (!existing.includes(path) || !canWriteRejects(path)) return path;
  }
}

/** @throws output-exists, input-unreadable */
export function checkRejectsFile({ path, origin }: RejectsFile): void {
  if (!canWriteRejects(path, origin)) throw createError("output-exists", { output: path, use: "rejects" });
}

/** Removes the rejects of an earlier run before this run appends to the file. @throws output-exists, output-failed */
export async function removeOldRejects(file: RejectsFile): Promise<void> {
  checkRejectsFile(file);
  const { path } = file;
  if (!existsSync(path) || !statSync(path).isFile()) return;
  await rm(path, { force: true }).catch((error: unknown) => {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  });
}
