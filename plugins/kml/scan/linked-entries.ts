/** Which entry of its archive a NetworkLink leads to. */
import { posix } from "node:path";
import type { ArchiveEntries } from "../../../src/plugin/format.js";

const hasScheme = /^([a-z][a-z\d+.-]*:|\/\/)/i;

/** A relative URL without its query and fragment, its percent escapes read. */
function entryPath(href: string): string {
  const path = href.trim().replace(/[?#].*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Why a link leads to no entry: it is outside of the archive, not in it, or was read before. */
export type SkippedLinkReason = "elsewhere" | "missing" | "repeated";

/** The KML entries of an archive, each of which is read once at most. */
export class LinkedEntries {
  /** The paths of the entries read so far, the main one first. */
  readonly read: string[];

  constructor(private readonly entries: ArchiveEntries | undefined) {
    this.read = [entries?.main ?? ""];
  }

  /** The path of the entry that `href` in entry `from` leads to. */
  find(href: string, from: string): { readonly path: string } | SkippedLinkReason {
    const { entries } = this;
    if (!entries || href.trim() === "" || hasScheme.test(href.trim())) return "elsewhere";
    // Windows programs write backslashes.
    const path = posix
      .normalize(posix.join(posix.dirname(from), entryPath(href).replaceAll("\\", "/")))
      .replace(/^\//, "");
    const known = [entries.main, ...entries.paths];
    const found =
      known.find((each) => each === path) ?? known.find((each) => each.toLowerCase() === path.toLowerCase());
    if (found === undefined) return "missing";
    return this.read.includes(found) ? "repeated" : { path: found };
  }

  /** Entries that no link leads to. */
  get unread(): readonly string[] {
    return (this.entries?.paths ?? []).filter((path) => !this.read.includes(path));
  }
}
