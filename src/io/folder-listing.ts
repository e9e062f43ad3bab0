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
 * The entries of a folder that have the name in any case. A folder of many inputs is listed once, and not again for each
 * of them, as long as nothing changes in it.
 * @throws what the system says where the folder cannot be listed
 */
export function entriesNamed(folder: string, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const changedMs = statSync(folder).mtimeMs;
  const known = listings.get(folder);
  if (known?.changedMs === changedMs) return known.names.get(wanted) ?? [];
  const names = new Map<string, string[]>();
  for (const entry of readdirSync(folder)) {
    const lower = entry.toLowerCase();
    const alike = names.get(lower);
    if (alike) alike.push(entry);
    else names.set(lower, [entry]);
  }
  listings.delete(folder);
  if (Date.now() - changedMs > timeStep) {
    listings.set(folder, { changedMs, names });
    for (const oldest of [...listings.keys()].slice(0, -mostListings)) listings.delete(oldest);
  }
  return names.get(wanted) ?? [];
}
