/** A YAML document as plain values, each with its position in the file. */
import {
  type Document,
  isMap,
  isNode,
  isPair,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
} from "yaml";
import { createError, type GeoferryError } from "../../errors.js";

/** Limits alias expansion ("billion laughs" attack). */
const maxAliases = 100;

/** Limits nesting: the composer of the yaml library is recursive, and exhausts the stack of V8's regular expressions. */
const maxDepth = 200;

/** The offset at which a document is nested too deeply, or -1. The library's lexer and parser are not recursive. */
function findTooDeep(text: string): number {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxDepth) return parser.offset;
  }
  return -1;
}

export class YamlPlace {
  constructor(
    private readonly document: YamlDocument,
    readonly path: readonly (string | number)[],
    readonly value: unknown,
  ) {}

  /** The value under a key or an index. */
  at(key: string | number, value: unknown): YamlPlace {
    return new YamlPlace(this.document, [...this.path, key], value);
  }

  withValue(value: unknown): YamlPlace {
    return new YamlPlace(this.document, this.path, value);
  }

  /** An error at a key. */
  unknownKeyError(key: string, reason: string): GeoferryError {
    return this.document.errorAt([...this.path, key], reason, true);
  }

  /** @param expected "a whole number from 1" */
  expectedError(expected: string): GeoferryError {
    return this.document.errorAt(this.path, `${this.title}: ${formatValue(this.value)} is not ${expected}`);
  }

  error(reason: string): GeoferryError {
    return this.document.errorAt(this.path, `${this.title}: ${reason}`);
  }

  get line(): number {
    return this.document.position(this.path).line;
  }

  /** "steps[2].target.mode", or "the job" for the whole document. */
  get title(): string {
    if (this.path.length === 0) return "the job";
    return this.path
      .map((part, i) => (typeof part === "number" ? `[${part + 1}]` : i === 0 ? part : `.${part}`))
      .join("");
  }
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? `"${value}"` : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

class YamlDocument {
  constructor(
    private readonly file: string,
    private readonly document: Document,
    private readonly lines: LineCounter,
  ) {}

  /** Position of the value at a path, or of its nearest ancestor; of its key if `key`. Line and column start at 1. */
  position(path: readonly (string | number)[], key = false): { readonly line: number; readonly column: number } {
    let node: unknown = this.document.contents;
    let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    for (const [depth, part] of path.entries()) {
      const inside = this.resolvedValue(node);
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

  errorAt(path: readonly (string | number)[], reason: string, key = false): GeoferryError {
    return createError("job-invalid", { file: this.file, ...this.position(path, key), reason });
  }

  private resolvedValue(node: unknown): unknown {
    return isNode(node) && "resolve" in node
      ? (node as { resolve(document: Document): Node | undefined }).resolve(this.document)
      : node;
  }
}

const keyOf = (key: unknown): string => String(isNode(key) && "value" in key ? key.value : key);

/** The members of a document that may be invalid as a whole. */
export interface PartialMembers {
  readonly members: ReadonlyMap<string, YamlPlace>;
  /** Whether all members of the document were read. */
  readonly isComplete: boolean;
}

/**
 * The members of the top-level object that precede the first syntax error; a parser may misinterpret what follows it.
 * Never throws.
 * @param text YAML 1.2 @param file for messages
 */
export function readPartialMembers(text: string, file: string): PartialMembers {
  if (findTooDeep(text) !== -1) return { members: new Map(), isComplete: false };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const yaml = new YamlDocument(file, document, lines);
  const end = Math.min(...[...document.errors, ...document.warnings].map(({ pos }) => pos[0]));
  const members = new Map<string, YamlPlace>();
  let isComplete = end === Number.POSITIVE_INFINITY && isMap(document.contents);
  for (const { key, value } of isMap(document.contents) ? document.contents.items : []) {
    if (!isNode(value) || !value.range || value.range[2] > end) continue;
    try {
      const name = keyOf(key);
      members.set(name, new YamlPlace(yaml, [name], value.toJS(document, { maxAliasCount: maxAliases })));
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
export function parseYaml(text: string, file: string): YamlPlace {
  const tooDeep = findTooDeep(text);
  if (tooDeep !== -1) {
    const before = text.slice(0, tooDeep).split("\n");
    const reason = `it is nested more than ${maxDepth} levels deep`;
    throw createError("job-invalid", { file, line: before.length, column: before.at(-1)!.length + 1, reason });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const yaml = new YamlDocument(file, document, lines);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) {
    const { line, col: column } = lines.linePos(problem.pos[0]);
    throw createError("job-invalid", { file, line, column, reason: problem.message.split("\n")[0]! });
  }
  try {
    return new YamlPlace(yaml, [], document.toJS({ maxAliasCount: maxAliases }));
  } catch (error) {
    throw createError("job-invalid", { file, line: 1, column: 1, reason: (error as Error).message }, error);
  }
}
