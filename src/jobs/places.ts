/** A YAML document as plain values, each with the place where it stands. */
import { type Document, isMap, isNode, isPair, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { fault, type GeoferryError } from "../errors.js";

/** More aliases than that are an attack, or no job ("billion laughs"). */
const mostAliases = 100;

/** A value of the document. */
export class Place {
  constructor(
    private readonly sheet: Sheet,
    readonly path: readonly (string | number)[],
    readonly value: unknown,
  ) {}

  /** The value under a key or an index. */
  at(key: string | number, value: unknown): Place {
    return new Place(this.sheet, [...this.path, key], value);
  }

  withValue(value: unknown): Place {
    return new Place(this.sheet, this.path, value);
  }

  /** A member's place where it is the key that is wrong. */
  keyFault(key: string, reason: string): GeoferryError {
    return this.sheet.refusal([...this.path, key], reason, true);
  }

  /** @param expected what it should be: "a whole number from 1" */
  isNot(expected: string): GeoferryError {
    return this.sheet.refusal(this.path, `${this.title}: ${shown(this.value)} is not ${expected}`);
  }

  /** The same in other words. */
  says(reason: string): GeoferryError {
    return this.sheet.refusal(this.path, `${this.title}: ${reason}`);
  }

  get line(): number {
    return this.sheet.position(this.path).line;
  }

  /** "steps[2].target.mode", or the name of the file's whole. */
  get title(): string {
    if (this.path.length === 0) return "the job";
    return this.path
      .map((part, i) => (typeof part === "number" ? `[${part + 1}]` : i === 0 ? part : `.${part}`))
      .join("");
  }
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? `"${value}"` : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

class Sheet {
  constructor(
    private readonly file: string,
    private readonly document: Document,
    private readonly lines: LineCounter,
  ) {}

  /** Of the value at a path, or the nearest thing around it; of its key where `key`. Line and column count from 1. */
  position(path: readonly (string | number)[], key = false): { readonly line: number; readonly column: number } {
    let node: unknown = this.document.contents;
    let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    for (const [depth, part] of path.entries()) {
      const inside = this.resolved(node);
      const pair = isMap(inside)
        ? inside.items.find((item) => isPair(item) && keyOf(item.key) === String(part))
        : undefined;
      const next = pair ? pair.value : isSeq(inside) ? inside.items[Number(part)] : undefined;
      const wantsKey = pair !== undefined && (key ? depth === path.length - 1 : !isNode(next));
      const found = wantsKey ? pair.key : next;
      if (!isNode(found)) break;
      offset = found.range?.[0] ?? offset;
      if (wantsKey) break;
      node = next;
    }
    const { line, col } = this.lines.linePos(offset);
    return { line, column: col };
  }

  refusal(path: readonly (string | number)[], reason: string, key = false): GeoferryError {
    return fault("job-invalid", { file: this.file, ...this.position(path, key), reason });
  }

  private resolved(node: unknown): unknown {
    return isNode(node) && "resolve" in node
      ? (node as { resolve(document: Document): Node | undefined }).resolve(this.document)
      : node;
  }
}

const keyOf = (key: unknown): string => String(isNode(key) && "value" in key ? key.value : key);

/** Members of a document that is not valid as a whole. */
export interface ReadableMembers {
  readonly members: ReadonlyMap<string, Place>;
  /** Whether all members are there. */
  readonly isComplete: boolean;
}

/**
 * The members of a document's object that stand before its first error in syntax; what stands after that may be read as
 * something else than what was meant. Never throws.
 * @param text YAML 1.2 @param file for messages
 */
export function readableMembers(text: string, file: string): ReadableMembers {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const sheet = new Sheet(file, document, lines);
  const end = Math.min(...[...document.errors, ...document.warnings].map(({ pos }) => pos[0]));
  const members = new Map<string, Place>();
  let isComplete = end === Number.POSITIVE_INFINITY && isMap(document.contents);
  for (const { key, value } of isMap(document.contents) ? document.contents.items : []) {
    if (!isNode(value) || !value.range || value.range[2] > end) continue;
    try {
      const name = keyOf(key);
      members.set(name, new Place(sheet, [name], value.toJS(document, { maxAliasCount: mostAliases })));
    } catch {
      isComplete = false;
    }
  }
  return { members, isComplete };
}

/**
 * @param text YAML 1.2 @param file for messages
 * @throws job-invalid with line and column
 */
export function placesOf(text: string, file: string): Place {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const sheet = new Sheet(file, document, lines);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) {
    const { line, col: column } = lines.linePos(problem.pos[0]);
    throw fault("job-invalid", { file, line, column, reason: problem.message.split("\n")[0]! });
  }
  try {
    return new Place(sheet, [], document.toJS({ maxAliasCount: mostAliases }));
  } catch (error) {
    throw fault("job-invalid", { file, line: 1, column: 1, reason: (error as Error).message }, error);
  }
}
