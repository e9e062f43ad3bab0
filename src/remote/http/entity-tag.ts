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

const versionTagPattern = /^"\d{1,16}-[0-9a-f]{16}"$/;

/** Whether a tag has the format of geoferry's service, which checks If-Match. @param tag as `parseEntityTag` returns it */
export const isVersionTag = (tag: string | null): boolean => tag !== null && versionTagPattern.test(tag);

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

/**
 * Conditions on the entity tags of one map. They name the tag alone, since some services compare the header with their tag
 * as text. They also name its compressed variants if a response had such a tag, because then it may be the only one that
 * matches (8.8.3.3). If the service refuses one form although the map still has the tag, the next condition has the other.
 */
export class EntityTagConditions {
  private hasSeenVariant = false;
  private isInverted = false;
  private readonly refusedTags = new Set<string>();

  /** Call with each response of the map. */
  observe({ etag }: ServiceResponseHeaders): void {
    if (etag !== undefined && codingSuffix.test(etag)) this.hasSeenVariant = true;
  }

  /** Call after a response 412 to a write on the condition of this tag. */
  onRefused(tag: string): void {
    this.refusedTags.add(tag);
  }

  ifNoneMatch(tag: string | null | undefined): Readonly<Record<string, string>> {
    return tag ? { "if-none-match": this.tagList(tag) } : {};
  }

  /** Weak tags never match If-Match (13.1.1), so they produce no condition. */
  ifMatch(tag: string | null | undefined): Readonly<Record<string, string>> {
    if (!tag || tag.startsWith("W/")) return {};
    if (this.refusedTags.delete(tag)) this.isInverted = !this.isInverted;
    return { "if-match": this.tagList(tag) };
  }

  private tagList(tag: string): string {
    const variants = codings.map((coding) => tag.replace(/"$/, `-${coding}"`));
    return (this.hasSeenVariant !== this.isInverted ? [tag, ...variants] : [tag]).join(", ");
  }
}
