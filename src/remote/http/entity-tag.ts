import type { ServiceResponseHeaders } from "./send-request.js";

/**
 * Suffixes that services and proxies, such as Apache's mod_deflate and mod_brotli, append to entity tags (RFC 9110, 8.8.3)
 * of compressed responses. Responses are compressed depending on their size, so without stripping them pages of one state
 * would appear to have two tags.
 */
const codings = ["gzip", "br", "deflate", "zstd"] as const;
const codingSuffix = new RegExp(`-(?:${codings.join("|")})"$`);
/** Tag of a page of geoferry's service that continues after the previous page; it denotes the same state of the map. */
const pageTagPattern = /^("\d{1,16}-[0-9a-f]{16})-after-\d+"$/;

/** RFC 9110, 8.8.3: visible ASCII characters and bytes from 0x80. */
const entityTagPattern = /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** The tag of a response, regardless of compression; null if there is none. */
export function parseEntityTag(headers: ServiceResponseHeaders): string | null {
  const { etag: tag } = headers;
  return tag !== undefined && entityTagPattern.test(tag)
    ? tag.replace(codingSuffix, '"').replace(pageTagPattern, '$1"')
    : null;
}

/**
 * Whether a page continues behind the end of one that was read before, by this client or another one with its token: then
 * it may begin with features of the page before it, although both are of one state.
 */
export const continuesPage = ({ etag = "" }: ServiceResponseHeaders): boolean =>
  pageTagPattern.test(etag.replace(codingSuffix, '"'));

/** A condition on the tag and its compressed variants. */
const tagList = (tag: string): string => [tag, ...codings.map((coding) => tag.replace(/"$/, `-${coding}"`))].join(", ");

export const ifNoneMatchHeader = (tag: string | null | undefined): Readonly<Record<string, string>> =>
  tag ? { "if-none-match": tagList(tag) } : {};

/** Weak tags never match If-Match (13.1.1), so they produce no condition. */
export const ifMatchHeader = (tag: string | null | undefined): Readonly<Record<string, string>> =>
  tag && !tag.startsWith("W/") ? { "if-match": tagList(tag) } : {};
