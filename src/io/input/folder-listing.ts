import { lstatSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";

interface FolderListing {
  /** When the folder was last changed, as it was listed; null where it may have changed in the same instant. */
  readonly changedMs: number | null;
  readonly listedMs: number;
  /** How many entries there were. */
  readonly count: number;
  /** Its entries by their names in lower case. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Listings of the folders looked into last. */
const listings = new Map<string, FolderListing>();
const maxListings = 4;
/** File systems tell the time of a change in steps up to this, in milliseconds: a younger listing may miss one. */
const timestampResolutionMs = 2000;
/** A folder of more entries that changes all the time is listed again after this, in milliseconds. */
const relistAfterMs = 500;
const largeFolderEntries = 500;

/**
 * The entries of a folder that have one of the names in any case. A folder of many inputs is listed once, and not again
 * for each of them, as long as nothing changes in it. In one of many outputs, which does change, names are looked for as
 * they are given and with their extension in upper case; those in any other case are found in a listing of just before.
 * @throws what the system says where the folder cannot be listed
 */
export function findEntriesIgnoringCase(folder: string, names: readonly string[]): string[] {
  const changedMs = statSync(folder).mtimeMs;
  const known = listings.get(folder);
  if (known?.changedMs === changedMs) return entriesInListing(known, names);
  if (known && known.count > largeFolderEntries && Date.now() - known.listedMs < relistAfterMs)
    return names.flatMap((name) => recheckEntry(folder, name, entriesInListing(known, [name])));
  const listing = listFolder(folder, changedMs);
  listings.delete(folder);
  listings.set(folder, listing);
  for (const oldest of [...listings.keys()].slice(0, -maxListings)) listings.delete(oldest);
  return entriesInListing(listing, names);
}

function entriesInListing({ names }: FolderListing, wanted: readonly string[]): string[] {
  return [...new Set(wanted.map((name) => name.toLowerCase()))].flatMap((name) => names.get(name) ?? []);
}

/** What has the name by now, where it was `listed` a while ago; where nothing was, the first of two ways to write it. */
function recheckEntry(folder: string, name: string, listed: readonly string[]): readonly string[] {
  const isThere = (entry: string) => lstatSync(join(folder, entry), { throwIfNoEntry: false }) !== undefined;
  const found = listed.filter(isThere);
  return found.length > 0 ? found : [name, withUpperCaseExtension(name)].filter(isThere).slice(0, 1);
}

/** `roads.SHP` */
function withUpperCaseExtension(name: string): string {
  const extension = extname(name);
  return name.slice(0, name.length - extension.length) + extension.toUpperCase();
}

function listFolder(folder: string, changedMs: number): FolderListing {
  const entries = readdirSync(folder);
  const listedMs = Date.now();
  const settled = listedMs - changedMs > timestampResolutionMs;
  return { changedMs: settled ? changedMs : null, listedMs, count: entries.length, names: indexByLowerCase(entries) };
}

function indexByLowerCase(entries: readonly string[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const entry of entries) {
    const lower = entry.toLowerCase();
    const alike = names.get(lower);
    if (alike) alike.push(entry);
    else names.set(lower, [entry]);
  }
  return names;
}
