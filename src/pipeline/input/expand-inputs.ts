/** From what a person wrote to the files that it stands for: folders and globs. */
import { type Dirent, existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { Registry } from "../../plugin/registry.js";

export interface ExpandedInput {
  /** What is opened: a path, an address or `-`. */
  readonly address: string;
  /** Where it stands below the folder or the fixed part of the glob; for a single file its name. */
  readonly relativePath: string;
  /** Why it cannot even be looked at: a folder that may not be listed. */
  readonly error?: GeoferryError;
}

export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** Whether it is one thing that is no file; of a bucket's address no one can tell how many it means without looking. */
export const isAddress = (text: string, registry: Registry): boolean =>
  text === "-" || isWebAddress(text) || parseMapInput(text) !== null || registry.findByAddress(text) !== undefined;

/** The id or name of the map that an input is (`map:ID`), or null where it is none. A file of such a name is `./map:ID`. */
export const parseMapInput = (text: string): string | null => /^map:(.*)$/s.exec(text)?.[1] ?? null;

/** What an output in a folder is called after. */
function outputBaseName(address: string, registry: Registry): string {
  if (address === "-") return "stdin";
  const addressed = registry.findByAddress(address);
  if (addressed) return addressed.addresses.fileStem(address).replaceAll(/[/\\]/g, "_");
  const map = parseMapInput(address);
  // A name may have any characters.
  if (map !== null) return map.replaceAll(/[/\\]/g, "_");
  // What is wrong with an address is told when it is opened.
  return (URL.canParse(address) && basename(new URL(address).pathname)) || "download";
}

/** Whether the path is an input of its own, and not a companion of one (`roads.dbf` beside `roads.shp`). */
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

/** Folders behind symbolic links are left out, so that no circle is walked; links to files are inputs. */
function isLinkToFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return false;
  try {
    return statSync(path).isDirectory();
  } catch {
    // It leads nowhere: opening it says so.
    return false;
  }
}

function* walkFolder(folder: string, root: string, registry: Registry): Generator<ExpandedInput> {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const refused = createError("input-unreadable", { source: folder, reason: describeSystemError(error) }, error);
    yield { address: folder, relativePath: relative(root, folder), error: refused };
    return;
  }
  const names = entries.map((entry) => entry.name);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "__MACOSX") continue;
    if (entry.isDirectory() && !registry.isDatasetFolder(path)) yield* walkFolder(path, root, registry);
    else if (entry.isDirectory()) yield { address: path, relativePath: relative(root, path) };
    else if (isSeparateInput(registry, path, names) && !isLinkToFolder(entry, path))
      yield { address: path, relativePath: relative(root, path) };
  }
}

/** Whether a path has the characters of a pattern: `*`, `?`, `[a-z]`, `{a,b}`, `+(a|b)`. */
export const isGlob = (text: string): boolean => /[*?[\]{}]|[+@!]\(/.test(text);

/** The part of a glob before its first magic character, up to a separator. */
export function globBase(pattern: string): string {
  const parts = pattern.split("/");
  const magic = parts.findIndex((part) => isGlob(part));
  return parts.slice(0, Math.max(0, magic)).join("/");
}

async function expandGlob(pattern: string, registry: Registry): Promise<ExpandedInput[]> {
  const normal = sep === "\\" ? pattern.replaceAll("\\", "/") : pattern;
  const base = globBase(normal);
  const { glob } = await import("tinyglobby");
  const found = (await glob(normal, { dot: false, onlyFiles: true, expandDirectories: false })).sort();
  const all = found.map((path) => basename(path));
  const named = found.filter((path) => isSeparateInput(registry, path, all));
  // A pattern that names an unknown extension outright means those files.
  const paths = named.length > 0 ? named : found;
  return paths.map((path) => ({ address: path, relativePath: relative(base === "" ? "." : base, path) }));
}

/**
 * Every input that the arguments stand for, in their order.
 * @param from the format that is asked for: one that reads folders takes a folder for one input
 * @throws input-missing where an argument stands for nothing, usage where it is empty, and what listing a bucket throws
 */
export async function expandInputs(
  given: readonly string[],
  registry: Registry,
  signal: AbortSignal,
  from?: string,
): Promise<ExpandedInput[]> {
  const inputs: ExpandedInput[] = [];
  const ofFolders = from !== undefined && registry.get(from).folderExtensions !== undefined;
  const isDataset = (path: string) => ofFolders || registry.isDatasetFolder(path);
  for (const text of given) {
    if (text === "") throw createError("usage", { reason: "the name of an INPUT is empty; is a variable not set?" });
    if (isAddress(text, registry)) inputs.push({ address: text, relativePath: outputBaseName(text, registry) });
    else if (isBucketAddress(text)) {
      const { expandBucket } = await import("./expand-bucket.js");
      const found = await expandBucket(text, registry, isDataset, signal);
      if (found.length === 0) throw createError("input-missing", { source: text });
      inputs.push(...found);
    } else if (existsSync(text) && statSync(text).isDirectory() && !isDataset(text)) {
      for (const input of walkFolder(text, text, registry)) inputs.push(input);
    } else if (!existsSync(text) && isGlob(text)) {
      const found = await expandGlob(text, registry);
      if (found.length === 0) throw createError("input-missing", { source: text });
      inputs.push(...found);
    } else inputs.push({ address: text, relativePath: basename(text) });
  }
  if (inputs.length === 0) {
    const known = [...new Set(registry.all().flatMap(({ reader, extensions }) => (reader ? extensions : [])))];
    throw createError("input-missing", { source: given.join(", "), known });
  }
  return inputs;
}
