import { lstatSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";

interface Listing {
  /** When the folder was last changed, as it was listed; null where it may have changed in the same instant. */
  readonly changedMs: number | null;
  readonly listedMs: number;
  /** How many entries there were. */
  readonly count: number;
  /** Its entries by their names in lower case. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Listings of the folders looked into last. */
const listings = new Map<string, Listing>();
const mostListings = 4;
/** File systems tell the time of a change in steps up to this, in milliseconds: a younger listing may miss one. */
const timeStep = 2000;
/** A folder of more entries that changes all the time is listed again after this, in milliseconds. */
const relistAfter = 500;
const manyEntries = 500;

/**
 * The entries of a folder that have one of the names in any case. A folder of many inputs is listed once, and not again
 * for each of them, as long as nothing changes in it. In one of many outputs, which does change, names are looked for as
 * they are given and with their extension in upper case; those in any other case are found in a listing of just before.
 * @throws what the system says where the folder cannot be listed
 */
export function entriesNamed(folder: string, names: readonly string[]): string[] {
  const changedMs = statSync(folder).mtimeMs;
  const known = listings.get(folder);
  if (known?.changedMs === changedMs) return named(known, names);
  if (known && known.count > manyEntries && Date.now() - known.listedMs < relistAfter)
    return names.flatMap((name) => sought(folder, name, named(known, [name])));
  const listing = list(folder, changedMs);
  listings.delete(folder);
  listings.set(folder, listing);
  for (const oldest of [...listings.keys()].slice(0, -mostListings)) listings.delete(oldest);
  return named(listing, names);
}

function named({ names }: Listing, wanted: readonly string[]): string[] {
  return [...new Set(wanted.map((name) => name.toLowerCase()))].flatMap((name) => names.get(name) ?? []);
}

/** What has the name by now, where it was `listed` a while ago; where nothing was, the first of two ways to write it. */
function sought(folder: string, name: string, listed: readonly string[]): readonly string[] {
  const isThere = (entry: string) => lstatSync(join(folder, entry), { throwIfNoEntry: false }) !== undefined;
  const found = listed.filter(isThere);
  return found.length > 0 ? found : [name, inUpperCase(name)].filter(isThere).slice(0, 1);
}

/** `roads.SHP` */
function inUpperCase(name: string): string {
  const extension = extname(name);
  return name.slice(0, name.length - extension.length) + extension.toUpperCase();
}

function list(folder: string, changedMs: number): Listing {
  const entries = readdirSync(folder);
  const listedMs = Date.now();
  const settled = listedMs - changedMs > timeStep;
  return { changedMs: settled ? changedMs : null, listedMs, count: entries.length, names: byLowerCase(entries) };
}

function byLowerCase(entries: readonly string[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const entry of entries) {
    const lower = entry.toLowerCase();
    const alike = names.get(lower);
    if (alike) alike.push(entry);
    else names.set(lower, [entry]);
  }
  return names;
}
