/** Resolves NetworkLinks to entries of their archive. */
import { posix } from "node:path";
import type { ArchiveEntries } from "../../../src/plugin/format.js";

const hasScheme = /^([a-z][a-z\d+.-]*:|\/\/)/i;

/** Returns a relative URL without query and fragment, with percent escapes decoded. */
function entryPath(href: string): string {
  const path = href.trim().replace(/[?#].*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The reason why a link is not read: its target is outside the archive, missing in it, or was read before. */
export type SkippedLinkReason = "elsewhere" | "missing" | "repeated";

/** The KML entries of an archive, each of which is read at most once. */
export class LinkedEntries {
  /** The paths of the entries that were read, the main one first. */
  readonly read: string[];

  constructor(private readonly entries: ArchiveEntries | undefined) {
    this.read = [entries?.main ?? ""];
  }

  /** Returns the path of the entry that `href` in the entry `from` refers to. */
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

  /** Returns the entries that no link refers to. */
  get unread(): readonly string[] {
    return (this.entries?.paths ?? []).filter((path) => !this.read.includes(path));
  }
}
