/** Expands the inputs of a request to files: folders and globs. */
import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { awaitReplacedInput, awaitReplacedInputs, wasMovedAside } from "../../io/output/recover-outputs.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { Loss } from "../../model/report.js";
import type { Registry } from "../../plugin/registry.js";
import { mainFilesBeside } from "../plan/companion-owners.js";

export interface ExpandedInput {
  /** The path or address to open, or `-` for stdin. */
  readonly address: string;
  /** The path relative to the folder or to the fixed part of the glob; for a single file its name. */
  readonly relativePath: string;
  /** Set for a folder that cannot be listed. */
  readonly error?: GeoferryError;
}

export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** Whether the text is stdin, a URL, a map or a database: one input that is not a file. A bucket address may be several. */
export const isAddress = (text: string, registry: Registry): boolean =>
  text === "-" || isWebAddress(text) || parseMapInput(text) !== null || registry.findByAddress(text) !== undefined;

/** The ID or name of the map of an input `map:ID`; null for other inputs. A file of such a name is written `./map:ID`. */
export const parseMapInput = (text: string): string | null => /^map:(.*)$/s.exec(text)?.[1] ?? null;

/** The base name of the output for an input that is an address. */
function outputBaseName(address: string, registry: Registry): string {
  if (address === "-") return "stdin";
  const addressed = registry.findByAddress(address);
  if (addressed) return addressed.addresses.fileStem(address).replaceAll(/[/\\]/g, "_");
  const map = parseMapInput(address);
  // Map names may contain any character.
  if (map !== null) return map.replaceAll(/[/\\]/g, "_");
  // Opening an invalid address reports the error.
  return (URL.canParse(address) && basename(new URL(address).pathname)) || "download";
}

/** Whether the path is an input itself, and not a companion of another file (`roads.dbf` beside `roads.shp`). */
export function isSeparateInput(registry: Registry, path: string, beside: readonly string[]): boolean {
  const name = basename(path).toLowerCase();
  if (name.startsWith(".") || name.endsWith(".rejects.geojsonl")) return false;
  if (name.endsWith(".zip")) return true;
  if (!registry.canBeInput(name)) return false;
  if (!registry.isCompanion(name)) return true;
  const stem = name.slice(0, name.lastIndexOf("."));
  const others = beside.map((other) => other.toLowerCase()).filter((other) => other !== name);
  return !others.some(
    (other) => other.startsWith(`${stem}.`) && registry.canBeInput(other) && !registry.isCompanion(other),
  );
}

/** Links to folders are skipped, so that a circular link does not loop; links to files are inputs. */
function isLinkToFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return false;
  try {
    return statSync(path).isDirectory();
  } catch {
    // Opening a broken link reports the error.
    return false;
  }
}

/** A pipe, a socket or a device, which may never end; named as an input, it is read. */
const isSpecialFile = (entry: Dirent): boolean =>
  entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();

/** Whether a file that is no input may be one by its content: not a companion of another file, and not hidden. */
const isLeftOut = (registry: Registry, name: string): boolean =>
  !registry.canBeInput(name) &&
  !registry.isCompanion(name) &&
  !/^(thumbs\.db|desktop\.ini)$|\.rejects\.geojsonl$/i.test(name);

/** Sorted by name, once no run is replacing an input. */
async function listFolder(folder: string, registry: Registry): Promise<Dirent[]> {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.some(({ name }) => wasMovedAside(name))) {
    await awaitReplacedInputs(folder, (name) => registry.canBeInput(name));
    entries.splice(0, entries.length, ...readdirSync(folder, { withFileTypes: true }));
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param leftOut gets the files that no format has by name
 * @throws input-unreadable if another run is replacing a file
 */
async function* walkFolder(
  folder: string,
  root: string,
  registry: Registry,
  leftOut: string[],
): AsyncGenerator<ExpandedInput> {
  let entries: Dirent[];
  try {
    entries = await listFolder(folder, registry);
  } catch (error) {
    if (error instanceof GeoferryError) throw error;
    const refused = createError("input-unreadable", { source: folder, reason: describeSystemError(error) }, error);
    yield { address: folder, relativePath: relative(root, folder), error: refused };
    return;
  }
  const names = entries.map((entry) => entry.name);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "__MACOSX") continue;
    if (entry.isDirectory() && !registry.isDatasetFolder(path)) yield* walkFolder(path, root, registry, leftOut);
    else if (entry.isDirectory()) yield { address: path, relativePath: relative(root, path) };
    else if (isSpecialFile(entry)) continue;
    else if (isSeparateInput(registry, path, names) && !isLinkToFolder(entry, path))
      yield { address: path, relativePath: relative(root, path) };
    else if (isLeftOut(registry, entry.name)) leftOut.push(path);
  }
}

/** Whether a path contains glob characters: `*`, `?`, `[a-z]`, `{a,b}`, `+(a|b)`. */
export const isGlob = (text: string): boolean => /[*?[\]{}]|[+@!]\(/.test(text);

/** The folder of a glob: the path before the first segment with glob characters. */
export function globBase(pattern: string): string {
  const parts = pattern.split("/");
  const magic = parts.findIndex((part) => isGlob(part));
  return parts.slice(0, Math.max(0, magic)).join("/");
}

/** Returns a function for the path of a file in the real folder; a link to a file stays one. Folders are resolved once. */
function createRealPath(): (path: string) => string {
  const realFolders = new Map<string, string>();
  return (path) => {
    const folder = dirname(path);
    const real = realFolders.get(folder) ?? realpathSync(folder);
    realFolders.set(folder, real);
    return join(real, basename(path));
  };
}

/**
 * Leaves out files that a pattern reaches again through a link to a folder, such as one to a folder above it. Links to
 * files stay.
 */
function withoutRepetitions(paths: readonly string[]): string[] {
  const realPath = createRealPath();
  const isDirect = (path: string): boolean => realPath(path) === resolve(path);
  const direct = new Set(paths.filter(isDirect).map(realPath));
  const seen = new Set<string>();
  return paths.filter((path) => {
    const real = realPath(path);
    const isRepeated = seen.has(real) || (direct.has(real) && !isDirect(path));
    if (!isRepeated) seen.add(real);
    return !isRepeated;
  });
}

/** The dataset that a file belongs to: `roads.shp` for `roads.dbf` beside it, otherwise the file itself. */
function mainFileOf(path: string, registry: Registry): string {
  const mains = registry.findByCompanion(path).flatMap((format) => mainFilesBeside(path, format));
  return mains[0] ?? path;
}

/**
 * Leaves out files that were named before, by another pattern or by a companion: no feature is read twice. Links to files
 * stay.
 */
function readEachOnce(inputs: readonly ExpandedInput[], registry: Registry): ExpandedInput[] {
  const realPath = createRealPath();
  const seen = new Set<string>();
  return inputs.filter(({ address }) => {
    if (isAddress(address, registry) || isBucketAddress(address) || !existsSync(address)) return true;
    const file = realPath(mainFileOf(address, registry));
    const isNew = !seen.has(file);
    seen.add(file);
    return isNew;
  });
}

/** @param leftOut gets the files that match and that no format has by name */
async function expandGlob(pattern: string, registry: Registry, leftOut: string[]): Promise<ExpandedInput[]> {
  const normal = sep === "\\" ? pattern.replaceAll("\\", "/") : pattern;
  const base = globBase(normal);
  const { glob } = await import("tinyglobby");
  // Hidden files in the folders of the pattern: what other runs have moved aside there.
  const hidden = normal.replace(/[^/]*$/, (last) => (last === "**" ? "**/.*.old" : ".*.old"));
  const moved = await glob(hidden, { dot: true, onlyFiles: true, expandDirectories: false });
  for (const folder of new Set(moved.map((path) => dirname(path))))
    await awaitReplacedInputs(folder, (name) => registry.canBeInput(name));
  const matched = (await glob(normal, { dot: false, onlyFiles: true, expandDirectories: false })).sort();
  const found = withoutRepetitions(matched);
  const all = found.map((path) => basename(path));
  const named = found.filter((path) => isSeparateInput(registry, path, all));
  // A glob that matches only unknown extensions means those files.
  const paths = named.length > 0 ? named : found;
  if (named.length > 0) leftOut.push(...found.filter((path) => isLeftOut(registry, basename(path))));
  return paths.map((path) => ({ address: path, relativePath: relative(base === "" ? "." : base, path) }));
}

/** Maximum number of file names in a notice. */
const maxListedFiles = 5;

/** What `onLeftOut` of `expandInputs` got. */
export function leftOutNotice(paths: readonly string[]): Loss {
  const listed = `${paths.slice(0, maxListedFiles).join(", ")}${paths.length > maxListedFiles ? " …" : ""}`;
  const example = `no format matches these names, so the files were left out: ${listed}; to read one by its content, name it as an input`;
  return { code: "files-left-out", layer: "", count: paths.length, example };
}

/**
 * Expands the arguments to inputs, in their order, each file once.
 * @param from the requested format; if it reads folders, a folder is one input
 * @param onLeftOut called with the files of folders and patterns that no format has by name
 * @throws input-missing if an argument matches nothing, usage if it is empty, input-unreadable if another run is replacing
 *   a file, and errors of listing a bucket
 */
export async function expandInputs(
  given: readonly string[],
  registry: Registry,
  signal: AbortSignal,
  from?: string,
  onLeftOut: (paths: readonly string[]) => void = () => {},
): Promise<ExpandedInput[]> {
  const inputs: ExpandedInput[] = [];
  const leftOut: string[] = [];
  const readsFolders = from !== undefined && registry.get(from).folderExtensions !== undefined;
  const isDataset = (path: string) => readsFolders || registry.isDatasetFolder(path);
  for (const text of given) {
    if (text === "")
      throw createError("usage", { reason: "the name of an INPUT is empty; check whether a variable is unset" });
    if (isAddress(text, registry)) inputs.push({ address: text, relativePath: outputBaseName(text, registry) });
    else if (isBucketAddress(text)) {
      const { expandBucket } = await import("./expand-bucket.js");
      const found = await expandBucket(text, registry, isDataset, signal);
      if (found.length === 0) throw createError("input-missing", { source: text });
      inputs.push(...found);
    } else if (existsSync(text) && statSync(text).isDirectory() && !isDataset(text)) {
      for await (const input of walkFolder(text, text, registry, leftOut)) inputs.push(input);
    } else if (!existsSync(text) && isGlob(text)) {
      const found = await expandGlob(text, registry, leftOut);
      if (found.length === 0) throw createError("input-missing", { source: text });
      inputs.push(...found);
    } else {
      await awaitReplacedInput(text);
      inputs.push({ address: text, relativePath: basename(text) });
    }
  }
  if (inputs.length === 0) {
    const known = [...new Set(registry.all().flatMap(({ reader, extensions }) => (reader ? extensions : [])))];
    throw createError("input-missing", { source: given.join(", "), known });
  }
  if (leftOut.length > 0) onLeftOut(leftOut);
  return given.length === 1 ? inputs : readEachOnce(inputs, registry);
}
