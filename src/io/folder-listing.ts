import { readdirSync, statSync } from "node:fs";

interface Listing {
  /** When the folder was last changed, as it was listed. */
  readonly changedMs: number;
  /** Its entries by their names in lower case. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/** Listings of the folders looked into last. */
const listings = new Map<string, Listing>();
const mostListings = 4;
/** File systems tell the time of a change in steps up to this, in milliseconds: a younger listing may miss one. */
const timeStep = 2000;

/**
 * The entries of a folder that have one of the names in any case. A folder of many inputs is listed once, and not again
 * for each of them, as long as nothing changes in it.
 * @throws what the system says where the folder cannot be listed
 */
export function entriesNamed(folder: string, names: readonly string[]): string[] {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const changedMs = statSync(folder).mtimeMs;
  const known = listings.get(folder);
  if (known?.changedMs === changedMs) return [...wanted].flatMap((name) => known.names.get(name) ?? []);
  const entries = readdirSync(folder);
  listings.delete(folder);
  if (Date.now() - changedMs > timeStep) {
    listings.set(folder, { changedMs, names: byLowerCase(entries) });
    for (const oldest of [...listings.keys()].slice(0, -mostListings)) listings.delete(oldest);
  }
  return entries.filter((entry) => wanted.has(entry.toLowerCase()));
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
