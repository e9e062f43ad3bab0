/**
 * Conditional requests (RFC 9110, 13) on the version of a map. The strong entity tag is the version; a compressed
 * response has different bytes, and therefore another tag (8.8.3.3) of the same version.
 */
import { problem } from "./problems.js";

const gzipSuffix = "-gzip";

/**
 * The tag of a version. A page whose start differs from what its number alone gives has the start position in its tag.
 */
export const formatEntityTag = (version: string, startsAfter: number | null = null): string =>
  startsAfter === null ? `"${version}"` : `"${version}-after-${startsAfter}"`;

export const gzipEntityTag = (tag: string): string => tag.replace(/"$/, `${gzipSuffix}"`);

/** `*`, or a list of tags; `version` is null for a tag of another format. */
type EntityTags = "*" | readonly EntityTag[];
interface EntityTag {
  readonly weak: boolean;
  readonly version: string | null;
  readonly startsAfter: number | null;
}

/** Proxies that compress responses append the other codings, as Apache's mod_brotli does. */
const ownTagPattern = /^(\d{1,16}-[0-9a-f]{16})(?:-after-(\d{1,16}))?(?:-(?:gzip|br|deflate|zstd))?$/;

const tagPattern = /(W\/)?"([^"]*)"/g;

/** Stands for a tag; no header contains it. */
const tagMark = "\0";

/** Whether a header is a list of tags (RFC 9110, 5.6.1.2 and 8.8.3), possibly with empty elements. */
const isTagList = (header: string): boolean =>
  header
    .replace(tagPattern, tagMark)
    .split(",")
    .every((element) => element.trim() === "" || element.trim() === tagMark);

/** A malformed list has no tags, so that If-Match is never true by accident. */
function parseEntityTags(header: string): EntityTags {
  if (header.trim() === "*") return "*";
  if (!isTagList(header)) return [];
  return [...header.matchAll(tagPattern)].map(([, weak, tag]) => {
    const [, version = null, place] = ownTagPattern.exec(tag!) ?? [];
    return { weak: weak !== undefined, version, startsAfter: place === undefined ? null : Number(place) };
  });
}

/**
 * Whether If-None-Match matches, by weak comparison (13.1.2): the client already has this version.
 * @param startsAfter start position of the page; if left out, any matches
 */
export function matchesIfNoneMatch(header: string | undefined, version: string, startsAfter?: number | null): boolean {
  if (header === undefined) return false;
  const tags = parseEntityTags(header);
  if (tags === "*") return true;
  return tags.some((tag) => tag.version === version && (startsAfter === undefined || tag.startsAfter === startsAfter));
}

/** The versions that If-Match allows, by strong comparison (13.1.1); null allows any. */
export function parseIfMatch(header: string | undefined): readonly string[] | null {
  if (header === undefined) return null;
  const tags = parseEntityTags(header);
  if (tags === "*") return null;
  return tags.flatMap(({ weak, version }) => (weak || version === null ? [] : [version]));
}

/** Throws 412 if the version is not allowed. */
export function checkIfMatch(allowed: readonly string[] | null, version: string): void {
  if (allowed && !allowed.includes(version)) {
    throw problem("precondition-failed", {}, { headers: { etag: formatEntityTag(version) } });
  }
}

/** Throws 412 for a write if If-None-Match matches the version (RFC 9110, 13.1.2). */
export function checkIfNoneMatch(header: string | undefined, version: string): void {
  if (matchesIfNoneMatch(header, version))
    throw problem("precondition-failed", {}, { headers: { etag: formatEntityTag(version) } });
}
