import type { XmlAttributes } from "./attributes.js";
import { slash, startsWithBytes } from "./bytes.js";
import type { XmlName } from "./names.js";

/** Longer tags, and tags with more attributes, are not cached. */
const maxTagBytes = 512;
const maxTagAttributes = 32;
/** With more tags of one name, its attributes differ from element to element, and caching does not pay. */
const maxTagsPerName = 256;
/** With more tags, the cache is emptied: a document that uses values as names would fill the memory. */
const maxTags = 4096;

/** A start tag as written, and the positions of its attributes, from its start. */
export interface CachedTag {
  readonly bytes: Uint8Array;
  readonly name: XmlName;
  /** Whether it is the tag of an empty element (`<a/>`). */
  readonly isEmpty: boolean;
  readonly attributes: readonly CachedAttribute[];
  /** The tag that followed it the last time. */
  next: CachedTag | null;
}

export interface CachedAttribute {
  readonly name: XmlName;
  readonly from: number;
  readonly to: number;
  readonly encoded: number;
  /** The decoded value, after the first request for it. */
  keyword: string | null;
}

/**
 * Caches start tags. Programs write one feature like the other, so that the next tag is mostly the one that followed the
 * last time; one comparison of bytes confirms that.
 */
export class XmlTagCache {
  private readonly known = new Map<XmlName, CachedTag[]>();
  private last: CachedTag | null = null;
  private count = 0;

  /** Returns the tag at `at`, where it is the expected one; else null. */
  expected(bytes: Buffer, at: number, end: number): CachedTag | null {
    const tag = this.last?.next;
    if (!tag || at + tag.bytes.length > end || !startsWithBytes(tag.bytes, bytes, at)) return null;
    this.last = tag;
    return tag;
  }

  /** Adds the tag `bytes[from … to]`, which was parsed. */
  add(bytes: Buffer, from: number, to: number, name: XmlName, attributes: XmlAttributes): void {
    const before = this.last;
    this.last = null;
    if (to - from > maxTagBytes || attributes.count > maxTagAttributes) return;
    let tags = this.known.get(name);
    if (!tags) {
      tags = [];
      this.known.set(name, tags);
    }
    if (tags.length > maxTagsPerName) return;
    let tag = tags.find((one) => one.bytes.length === to - from && startsWithBytes(one.bytes, bytes, from));
    if (!tag) {
      const own = Uint8Array.prototype.slice.call(bytes, from, to);
      tag = { bytes: own, name, isEmpty: own.at(-2) === slash, attributes: attributes.list(from), next: null };
      tags.push(tag);
      if (++this.count > maxTags) this.forget();
    }
    if (before) before.next = tag;
    this.last = tag;
  }

  private forget(): void {
    this.known.clear();
    this.count = 0;
  }
}
