import type { XmlAttributes } from "./attributes.js";
import { slash, startsWithBytes } from "./bytes.js";
import type { XmlName } from "./names.js";

/** Longer tags, and those of more attributes, are read each time. */
const maxTagBytes = 512;
const maxTagAttributes = 32;
/** Beyond so many tags of one name, what its attributes say differs from element to element. */
const maxTagsPerName = 256;
/** With more tags, all are forgotten: a document that uses values as names would fill the memory. */
const maxTags = 4096;

/** The tag of an element as it is written, and where its attributes stand, from its start. */
export interface CachedTag {
  readonly bytes: Uint8Array;
  readonly name: XmlName;
  /** The element has no content, nor an end tag. */
  readonly isEmpty: boolean;
  readonly attributes: readonly CachedAttribute[];
  /** The tag that came after it the last time. */
  next: CachedTag | null;
}

export interface CachedAttribute {
  readonly name: XmlName;
  readonly from: number;
  readonly to: number;
  readonly encoded: number;
  /** The value, once somebody asked for one that comes again and again. */
  keyword: string | null;
}

/**
 * Tags that were read already. Documents are mostly written by programs, one feature like the other: the tag that comes
 * next is the one that came next before, which one comparison of its bytes tells.
 */
export class XmlTagCache {
  private readonly known = new Map<XmlName, CachedTag[]>();
  private last: CachedTag | null = null;
  private count = 0;

  /** The tag at `at`, where it is the one expected there; null where it is to be read. */
  expected(bytes: Buffer, at: number, end: number): CachedTag | null {
    const tag = this.last?.next;
    if (!tag || at + tag.bytes.length > end || !startsWithBytes(tag.bytes, bytes, at)) return null;
    this.last = tag;
    return tag;
  }

  /** Takes note of the tag `bytes[from … to]`, which was read. */
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
