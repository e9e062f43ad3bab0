import type { XmlAttributes } from "./attributes.js";
import { NamespaceScope, type XmlName, type XmlNameTable } from "./names.js";
import type { XmlReaderSettings } from "./settings.js";

const maxElementDepth = 512;

/** The elements that are open, and the namespaces that they declare. */
export class XmlElementStack {
  /** The one that was opened or closed last. */
  name: XmlName;
  /** How many are open. */
  depth: number;
  /** Whether the root element has begun. */
  rootSeen: boolean;
  /** Whether it may end in the middle, other elements being open then. */
  private readonly mayBeOpen: boolean;
  /** The depth that is not to be left. */
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

  /** Why no element can begin here, null where one can. */
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

  /** The element that may end here, undefined where none may. */
  get innermost(): XmlName | undefined {
    return this.depth > this.least ? this.stack[this.depth - 1] : undefined;
  }

  /** The element that has to end before the document, or the part of it that is read, may. */
  get unclosed(): XmlName | undefined {
    return this.mayBeOpen ? undefined : this.innermost;
  }

  close(): void {
    this.name = this.stack.pop()!;
    this.depth--;
    this.namespaces.leave(this.depth + 1);
  }

  /** The namespace of the element opened last, empty where it has none, null where its prefix is not declared. */
  namespace(): string | null {
    return this.namespaces.of(this.name);
  }

  namespaceOf(name: XmlName): string | null {
    return this.namespaces.of(name);
  }

  /** Changes whenever a prefix begins or ends to stand for a namespace. */
  get generation(): number {
    return this.namespaces.generation;
  }

  /** What is open, for a reader that begins here. */
  list(): { readonly open: readonly string[]; readonly namespaces: readonly (readonly [string, string])[] } {
    return { open: this.stack.map((name) => name.text), namespaces: this.namespaces.list() };
  }
}
