import type { ServiceResponseHeaders } from "./send-request.js";

/**
 * Entity tags of a map (RFC 9110, 8.8.3). Servers that compress put `-gzip` at the end of a tag; whether an answer is
 * compressed depends on its size, so that pages of one state would seem to have two.
 */
const gzipSuffix = /-gzip"$/;
/** A page of geoferry's service that began where the one before ended: a page of the same state of the map. */
const pageTagPattern = /^("\d{1,16}-[0-9a-f]{16})-after-\d+"$/;

/** RFC 9110, 8.8.3: visible characters of ASCII, and what is beyond it. */
const entityTagPattern = /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** The tag of an answer, however it was compressed; null where it has none. */
export function parseEntityTag(headers: ServiceResponseHeaders): string | null {
  const { etag: tag } = headers;
  return tag !== undefined && entityTagPattern.test(tag)
    ? tag.replace(gzipSuffix, '"').replace(pageTagPattern, '$1"')
    : null;
}

/** The tag and the one that it has when compressed, as a condition. */
const tagList = (tag: string): string => `${tag}, ${tag.replace(/"$/, '-gzip"')}`;

export const ifNoneMatchHeader = (tag: string | null | undefined): Readonly<Record<string, string>> =>
  tag ? { "if-none-match": tagList(tag) } : {};

/** A weak tag never matches here (13.1.1), so there is no condition to make of it. */
export const ifMatchHeader = (tag: string | null | undefined): Readonly<Record<string, string>> =>
  tag && !tag.startsWith("W/") ? { "if-match": tagList(tag) } : {};
