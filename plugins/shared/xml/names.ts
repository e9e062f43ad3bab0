import { startsWithBytes } from "./bytes.js";

/** Names of elements and attributes: each is made into an object once, and told by its bytes from then on. */

/** A file that uses values as names would fill the memory: beyond so many, they are forgotten. */
const maxNames = 1 << 14;
const bucketCount = 4096;

/** Numbers that a reader gives to the local names it knows: `{ trk: 1, trkpt: 2 }`. Zero is for all others. */
export type XmlVocabulary = Readonly<Record<string, number>>;

export class XmlName {
  /** The prefix, empty where there is none. */
  readonly prefix: string;
  readonly local: string;
  /** As an attribute, it declares a namespace. */
  readonly isDeclaration: boolean;
  /** The number that the vocabulary gives to the local name, 0 where it has none. */
  readonly code: number;
  /** In which tag it was met last as an attribute: a second time in the same one is a flaw. */
  tag = 0;
  /** The namespace it had when the declarations were those of `generation`. */
  uri: string | null = null;
  generation = -1;

  constructor(
    /** With its prefix, as it stands in the file. */
    readonly text: string,
    readonly bytes: Uint8Array,
    codes: ReadonlyMap<string, number>,
    /** The next one in its bucket. */
    readonly chain: XmlName | undefined,
  ) {
    const colon = text.indexOf(":");
    this.prefix = colon < 0 ? "" : text.slice(0, colon);
    this.local = colon < 0 ? text : text.slice(colon + 1);
    this.isDeclaration = text === "xmlns" || this.prefix === "xmlns";
    this.code = codes.get(this.local) ?? 0;
  }
}

/** All names met, found by their bytes without making a string of them. */
export class XmlNameTable {
  private buckets = new Array<XmlName | undefined>(bucketCount);
  private count = 0;
  private readonly codes: ReadonlyMap<string, number>;

  constructor(vocabulary: XmlVocabulary) {
    this.codes = new Map(Object.entries(vocabulary));
  }

  /** The name `bytes[from … to]`. */
  find(bytes: Buffer, from: number, to: number): XmlName {
    let hash = to - from;
    for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
    const bucket = (hash ^ (hash >>> 12)) & (bucketCount - 1);
    for (let name = this.buckets[bucket]; name; name = name.chain) {
      if (name.bytes.length === to - from && startsWithBytes(name.bytes, bytes, from)) return name;
    }
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

/** The declarations of namespaces that are in force, from the outermost to the innermost element. */
export class NamespaceScope {
  private readonly declared: { readonly depth: number; readonly prefix: string }[] = [];
  private readonly stacks = new Map<string, string[]>([["xml", ["http://www.w3.org/XML/1998/namespace"]]]);
  /** Counts the changes: what was found out about a name holds until the next one. */
  generation = 0;

  declare(prefix: string, uri: string, depth: number): void {
    const stack = this.stacks.get(prefix);
    if (stack) stack.push(uri);
    else this.stacks.set(prefix, [uri]);
    this.declared.push({ depth, prefix });
    this.generation++;
  }

  /** Takes back the declarations of an element at `depth`, and of those inside of it. */
  leave(depth: number): void {
    for (let last = this.declared.at(-1); last && last.depth >= depth; last = this.declared.at(-1)) {
      this.stacks.get(last.prefix)!.pop();
      this.declared.pop();
      this.generation++;
    }
  }

  /** The namespace of an element's name, empty for none, null where its prefix is not declared. */
  of(name: XmlName): string | null {
    if (name.generation === this.generation) return name.uri;
    name.uri = this.stacks.get(name.prefix)?.at(-1) ?? (name.prefix === "" ? "" : null);
    name.generation = this.generation;
    return name.uri;
  }

  /** Prefixes and what they stand for now: plain data, for a reader that begins in the middle. */
  list(): [string, string][] {
    const found: [string, string][] = [];
    for (const [prefix, stack] of this.stacks) {
      if (prefix !== "xml" && stack.length > 0) found.push([prefix, stack.at(-1)!]);
    }
    return found;
  }
}
