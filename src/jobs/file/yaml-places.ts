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
  type YAMLError,
} from "yaml";
import { createError, type GeoferryError } from "../../errors.js";

/** Line and column start at 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col: column } = lines.linePos(offset);
  return { line, column };
}

/** Limits alias expansion ("billion laughs" attack). */
const maxAliases = 100;

/** Limits nesting: the composer of the yaml library is recursive, and exhausts the stack of V8's regular expressions. */
const maxDepth = 200;

/** Where a document is nested too deeply; null if it is not. The library's lexer and parser are not recursive. */
function findTooDeep(text: string): Position | null {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxDepth) return positionAt(lines, parser.offset);
  }
  return null;
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
  private constructor(
    private readonly file: string,
    readonly content: Document,
    private readonly lines: LineCounter,
  ) {}

  static parse(text: string, file: string): YamlDocument {
    const lines = new LineCounter();
    return new YamlDocument(file, parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true }), lines);
  }

  /** Errors and warnings, in this order. */
  get problems(): readonly YAMLError[] {
    return [...this.content.errors, ...this.content.warnings];
  }

  /** @throws an error of the library if aliases expand too far */
  toJS(node: Node | null = null): unknown {
    const { content } = this;
    const options = { maxAliasCount: maxAliases };
    return node ? node.toJS(content, options) : content.toJS(options);
  }

  problemError({ pos, message }: YAMLError): GeoferryError {
    const position = positionAt(this.lines, pos[0]);
    return createError("job-invalid", { file: this.file, ...position, reason: message.split("\n")[0]! });
  }

  /** Position of the value at a path, or of its nearest ancestor; of its key if `key`. */
  position(path: readonly (string | number)[], key = false): Position {
    let node: unknown = this.content.contents;
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
    return positionAt(this.lines, offset);
  }

  errorAt(path: readonly (string | number)[], reason: string, key = false): GeoferryError {
    return createError("job-invalid", { file: this.file, ...this.position(path, key), reason });
  }

  private resolvedValue(node: unknown): unknown {
    return isNode(node) && "resolve" in node
      ? (node as { resolve(document: Document): Node | undefined }).resolve(this.content)
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
  if (findTooDeep(text)) return { members: new Map(), isComplete: false };
  const document = YamlDocument.parse(text, file);
  const { contents } = document.content;
  const end = Math.min(...document.problems.map(({ pos }) => pos[0]));
  const members = new Map<string, YamlPlace>();
  let isComplete = end === Number.POSITIVE_INFINITY && isMap(contents);
  for (const { key, value } of isMap(contents) ? contents.items : []) {
    if (!isNode(value) || !value.range || value.range[2] > end) continue;
    try {
      const name = keyOf(key);
      members.set(name, new YamlPlace(document, [name], document.toJS(value)));
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
  if (tooDeep)
    throw createError("job-invalid", { file, ...tooDeep, reason: `it is nested more than ${maxDepth} levels deep` });
  const document = YamlDocument.parse(text, file);
  const [problem] = document.problems;
  if (problem) throw document.problemError(problem);
  const refuse = (reason: string, cause?: unknown) =>
    createError("job-invalid", { file, line: 1, column: 1, reason }, cause);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    throw refuse((error as Error).message, error);
  }
  if (containsItself(value)) throw refuse("an alias refers to a value that contains the alias");
  return new YamlPlace(document, [], value);
}

/** Whether a value is endless because of an alias. @param parents the objects around it */
function containsItself(value: unknown, parents: ReadonlySet<object> = new Set()): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (parents.has(value)) return true;
  const within = new Set(parents).add(value);
  return Object.values(value).some((inner) => containsItself(inner, within));
}
