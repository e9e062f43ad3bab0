import { lstatSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";

interface FolderListing {
  /** Modification time of the folder when it was listed; null if it was so recent that a later change may have the same. */
  readonly changedMs: number | null;
  readonly listedMs: number;
  /** Number of entries. */
  readonly count: number;
  /** The entries by lower-case name. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Listings of the most recently used folders. */
const listings = new Map<string, FolderListing>();
const maxListings = 4;
/** Coarsest resolution of modification times, in milliseconds; a listing made sooner after a change may miss another one. */
const timestampResolutionMs = 2000;
/** Milliseconds before a large folder that keeps changing is listed again. */
const relistAfterMs = 500;
const largeFolderEntries = 500;

/**
 * Returns the entries of a folder that have one of the names in any case. The listing of an unchanged folder is reused, so
 * that a folder of many inputs is listed once. In a large folder that keeps changing, such as a folder of outputs, a
 * recent listing is used, and new entries are found only by the exact name and with the extension in upper case.
 * @throws the system error if the folder cannot be listed
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

/** Checks which listed entries still exist; without any, looks for the exact name and an upper-case extension. */
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
  const isReliable = listedMs - changedMs > timestampResolutionMs;
  return {
    changedMs: isReliable ? changedMs : null,
    listedMs,
    count: entries.length,
    names: indexByLowerCase(entries),
  };
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
