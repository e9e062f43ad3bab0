import type { XmlAttributes } from "./attributes.js";
import { NamespaceScope, type XmlName, type XmlNameTable } from "./names.js";
import type { XmlReaderSettings } from "./settings.js";

const maxElementDepth = 512;

/** The open elements, and the namespaces that they declare. */
export class XmlElementStack {
  /** The name of the element opened or closed last. */
  name: XmlName;
  /** The number of open elements. */
  depth: number;
  /** Whether the root element has begun. */
  rootSeen: boolean;
  /** Whether the range that is read may end inside other elements than it began in. */
  private readonly mayBeOpen: boolean;
  /** The depth below which no element may end. */
  private readonly least: number;
  private readonly stack: XmlName[] = [];
  private readonly namespaces = new NamespaceScope();

  constructor(names: XmlNameTable, { start, to, leaves }: XmlReaderSettings) {
    const intern = (text: string): XmlName => {
      const bytes = Buffer.from(text);
      return names.find(bytes, 0, bytes.length);
    };
    for (const name of start?.open ?? []) this.stack.push(intern(name));
    for (const [prefix, uri] of start?.namespaces ?? []) this.namespaces.declare(prefix, uri, 0);
    this.depth = this.stack.length;
    this.rootSeen = this.depth > 0;
    this.least = to === undefined || leaves ? 0 : this.depth;
    this.mayBeOpen = to !== undefined && leaves === true;
    this.name = this.stack.at(-1) ?? intern("");
  }

  /** The reason why no element can begin here; null where one can. */
  get refusal(): string | null {
    if (this.depth === maxElementDepth) return `elements nested more than ${maxElementDepth} deep`;
    return this.depth === 0 && this.rootSeen ? "a second root element" : null;
  }

  open(name: XmlName, attributes: XmlAttributes): void {
    this.rootSeen = true;
    this.name = name;
    this.stack.push(name);
    this.depth++;
    for (let a = 0; a < attributes.count; a++) {
      const { isDeclaration, prefix, local } = attributes.names[a]!;
      if (isDeclaration) this.namespaces.declare(prefix === "" ? "" : local, attributes.value(a), this.depth);
    }
  }

  /** The element that may end here; undefined for none. */
  get innermost(): XmlName | undefined {
    return this.depth > this.least ? this.stack[this.depth - 1] : undefined;
  }

  /** The element that is open at the end of the document, or of the range that is read, and must not be. */
  get unclosed(): XmlName | undefined {
    return this.mayBeOpen ? undefined : this.innermost;
  }

  close(): void {
    this.name = this.stack.pop()!;
    this.depth--;
    this.namespaces.leave(this.depth + 1);
  }

  /** The namespace of the element opened last; empty for none, null for a prefix that is not declared. */
  namespace(): string | null {
    return this.namespaces.of(this.name);
  }

  namespaceOf(name: XmlName): string | null {
    return this.namespaces.of(name);
  }

  /** Changes with each declaration of a namespace, and where one goes out of scope. */
  get generation(): number {
    return this.namespaces.generation;
  }

  /** The open elements and namespaces, for a reader that begins here. */
  list(): { readonly open: readonly string[]; readonly namespaces: readonly (readonly [string, string])[] } {
    return { open: this.stack.map((name) => name.text), namespaces: this.namespaces.list() };
  }
}
