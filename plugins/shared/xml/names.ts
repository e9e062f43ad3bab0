import { startsWithBytes } from "./bytes.js";

/** Names of elements and attributes: one object for each, found by its bytes. */

/** Beyond this many names, the table is emptied: a file that uses values as names would fill the memory. */
const maxNames = 1 << 14;
/** With more names than this in the table, further values of attributes are not added. */
const maxNamesWithKeywords = 4096;
const bucketCount = 4096;

/** Codes for the local names that a reader knows: `{ trk: 1, trkpt: 2 }`. All others have code 0. */
export type XmlVocabulary = Readonly<Record<string, number>>;

export class XmlName {
  /** The prefix; empty for none. */
  readonly prefix: string;
  readonly local: string;
  /** Whether, as an attribute, it declares a namespace. */
  readonly isDeclaration: boolean;
  /** The code of the local name in the vocabulary; 0 for none. */
  readonly code: number;
  /** The number of the last tag that had it as an attribute, to detect repeated attributes. */
  tag = 0;
  /** The namespace, as of `generation`. */
  uri: string | null = null;
  generation = -1;

  constructor(
    /** The name with its prefix, as in the file. */
    readonly text: string,
    readonly bytes: Uint8Array,
    codes: ReadonlyMap<string, number>,
    /** The next name in its bucket. */
    readonly chain: XmlName | undefined,
  ) {
    const colon = text.indexOf(":");
    this.prefix = colon < 0 ? "" : text.slice(0, colon);
    this.local = colon < 0 ? text : text.slice(colon + 1);
    this.isDeclaration = text === "xmlns" || this.prefix === "xmlns";
    this.code = codes.get(this.local) ?? 0;
  }
}

/** A hash table of names by their bytes, which needs no string for a lookup. */
export class XmlNameTable {
  private buckets = new Array<XmlName | undefined>(bucketCount);
  private count = 0;
  private readonly codes: ReadonlyMap<string, number>;

  constructor(vocabulary: XmlVocabulary) {
    this.codes = new Map(Object.entries(vocabulary));
  }

  /** Returns the name `bytes[from … to]`. */
  find(bytes: Buffer, from: number, to: number): XmlName {
    const bucket = bucketOf(bytes, from, to);
    return this.known(bucket, bytes, from, to) ?? this.add(bucket, bytes, from, to);
  }

  /** Returns the text `bytes[from … to]` of a value that probably occurs often: one string for all, as far as there is room. */
  keyword(bytes: Buffer, from: number, to: number): string {
    const bucket = bucketOf(bytes, from, to);
    const known = this.known(bucket, bytes, from, to);
    if (known) return known.text;
    return this.count < maxNamesWithKeywords
      ? this.add(bucket, bytes, from, to).text
      : bytes.toString("utf8", from, to);
  }

  private known(bucket: number, bytes: Buffer, from: number, to: number): XmlName | undefined {
    for (let name = this.buckets[bucket]; name; name = name.chain) {
      if (name.bytes.length === to - from && startsWithBytes(name.bytes, bytes, from)) return name;
    }
    return undefined;
  }

  private add(bucket: number, bytes: Buffer, from: number, to: number): XmlName {
    if (this.count++ > maxNames) {
      this.buckets = new Array(bucketCount);
      this.count = 0;
    }
    const own = Uint8Array.prototype.slice.call(bytes, from, to);
    const name = new XmlName(bytes.toString("utf8", from, to), own, this.codes, this.buckets[bucket]);
    this.buckets[bucket] = name;
    return name;
  }
}

function bucketOf(bytes: Buffer, from: number, to: number): number {
  let hash = to - from;
  for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
  return (hash ^ (hash >>> 12)) & (bucketCount - 1);
}

/** The namespace declarations in scope, from the outermost to the innermost element. */
export class NamespaceScope {
  private readonly declared: { readonly depth: number; readonly prefix: string }[] = [];
  private readonly stacks = new Map<string, string[]>([["xml", ["http://www.w3.org/XML/1998/namespace"]]]);
  /** Counts the changes: a cached namespace is valid until the next one. */
  generation = 0;

  declare(prefix: string, uri: string, depth: number): void {
    const stack = this.stacks.get(prefix);
    if (stack) stack.push(uri);
    else this.stacks.set(prefix, [uri]);
    this.declared.push({ depth, prefix });
    this.generation++;
  }

  /** Removes the declarations of an element at `depth`, and of those inside it. */
  leave(depth: number): void {
    for (let last = this.declared.at(-1); last && last.depth >= depth; last = this.declared.at(-1)) {
      this.stacks.get(last.prefix)!.pop();
      this.declared.pop();
      this.generation++;
    }
  }

  /** Returns the namespace of an element's name: empty for none, null for a prefix that is not declared. */
  of(name: XmlName): string | null {
    if (name.generation === this.generation) return name.uri;
    name.uri = this.stacks.get(name.prefix)?.at(-1) ?? (name.prefix === "" ? "" : null);
    name.generation = this.generation;
    return name.uri;
  }

  /** Returns the prefixes in scope and their namespaces: plain data, for a reader that begins in the middle. */
  list(): [string, string][] {
    const found: [string, string][] = [];
    for (const [prefix, stack] of this.stacks) {
      if (prefix !== "xml" && stack.length > 0) found.push([prefix, stack.at(-1)!]);
    }
    return found;
  }
}
