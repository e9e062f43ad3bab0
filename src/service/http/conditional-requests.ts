/**
 * Conditional requests (RFC 9110, 13) by the version of a map. Its strong tag is the version; a compressed answer is
 * other bytes, so it has another tag (8.8.3.3) of the same version.
 */
import { problem } from "./problems.js";

const gzipSuffix = "-gzip";

/**
 * Of a version. A page that goes on behind a place, in a loop that was begun in an earlier state, is another one than
 * its number alone gives: its tag has the place.
 */
export const formatEntityTag = (version: string, follows: number | null = null): string =>
  follows === null ? `"${version}"` : `"${version}-after-${follows}"`;

export const gzipEntityTag = (tag: string): string => tag.replace(/"$/, `${gzipSuffix}"`);

/** `*`, or the tags of a list, each with its weakness; null is the version of a tag that is not ours. */
type EntityTags = "*" | readonly EntityTag[];
interface EntityTag {
  readonly weak: boolean;
  readonly version: string | null;
  readonly follows: number | null;
}

const ownTagPattern = /^(\d{1,16}-[0-9a-f]{16})(?:-after-(\d{1,16}))?(?:-gzip)?$/;

function parseEntityTags(header: string): EntityTags {
  if (header.trim() === "*") return "*";
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, tag]) => {
    const [, version = null, place] = ownTagPattern.exec(tag!) ?? [];
    return { weak: weak !== undefined, version, follows: place === undefined ? null : Number(place) };
  });
}

/**
 * Whether the client has what it asks for: If-None-Match, weak comparison (13.1.2).
 * @param follows of the page; any where it is left out
 */
export function matchesIfNoneMatch(header: string | undefined, version: string, follows?: number | null): boolean {
  if (header === undefined) return false;
  const tags = parseEntityTags(header);
  if (tags === "*") return true;
  return tags.some((tag) => tag.version === version && (follows === undefined || tag.follows === follows));
}

/** The versions that If-Match allows, by strong comparison (13.1.1); null for any. */
export function parseIfMatch(header: string | undefined): readonly string[] | null {
  if (header === undefined) return null;
  const tags = parseEntityTags(header);
  if (tags === "*") return null;
  return tags.flatMap(({ weak, version }) => (weak || version === null ? [] : [version]));
}

/** Throws 412 where the version is not allowed. */
export function checkIfMatch(allowed: readonly string[] | null, version: string): void {
  if (allowed && !allowed.includes(version)) {
    throw problem("precondition-failed", {}, { headers: { etag: formatEntityTag(version) } });
  }
}

/** Throws 412 where a write is asked for only unless the map is there, or in a state that is named (RFC 9110, 13.1.2). */
export function checkIfNoneMatch(header: string | undefined, version: string): void {
  if (matchesIfNoneMatch(header, version))
    throw problem("precondition-failed", {}, { headers: { etag: formatEntityTag(version) } });
}
