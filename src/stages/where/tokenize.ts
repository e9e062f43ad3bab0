import { createError } from "../../errors.js";

export interface Token {
  readonly kind: "name" | "special" | "keyword" | "number" | "text" | "symbol" | "end";
  /** A name or text without its quotes, a keyword in lower case, a symbol or number as written. */
  readonly text: string;
  /** Offset in the expression, in UTF-16 units from 0. */
  readonly start: number;
}

const keywords = new Set([
  ...["and", "or", "not", "in", "like", "ilike", "escape", "between", "is", "null", "true", "false"],
]);

/** `!=` and `==` are other spellings of `<>` and `=`. */
const operatorAliases: ReadonlyMap<string, string> = new Map([
  ["!=", "<>"],
  ["==", "="],
]);

const blankPattern = /\s+/uy;
const namePattern = /[\p{L}_][\p{L}\p{M}\p{N}_.:]*/uy;
const specialPattern = /\$[\p{L}\p{N}_]*/uy;
const numberPattern = /(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/iuy;
const textPattern = /'(?:[^']|'')*'/uy;
const quotedNamePattern = /"(?:[^"]|"")*"/uy;
const symbolPattern = /<>|<=|>=|!=|==|[=<>(),+-]/uy;

/** An error that points at a place of the expression; the column counts characters from 1. */
export function invalidExpressionError(expression: string, at: number, reason: string) {
  return createError("expression-invalid", { expression, column: [...expression.slice(0, at)].length + 1, reason });
}

/** @throws expression-invalid */
export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;

  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(expression)?.[0] ?? null;
  };

  const next = (): readonly [Token["kind"], string, number] => {
    const word = match(namePattern);
    if (word !== null) {
      const lower = word.toLowerCase();
      return keywords.has(lower) ? ["keyword", lower, word.length] : ["name", word, word.length];
    }
    const literal = match(textPattern);
    if (literal !== null) return ["text", literal.slice(1, -1).replaceAll("''", "'"), literal.length];
    const column = match(quotedNamePattern);
    if (column !== null) return ["name", column.slice(1, -1).replaceAll('""', '"'), column.length];
    const digits = match(numberPattern);
    if (digits !== null) return ["number", digits, digits.length];
    const dollar = match(specialPattern);
    if (dollar !== null) return ["special", dollar, dollar.length];
    const sign = match(symbolPattern);
    if (sign !== null) return ["symbol", operatorAliases.get(sign) ?? sign, sign.length];
    const character = String.fromCodePoint(expression.codePointAt(at)!);
    if (character === "'") throw invalidExpressionError(expression, at, "this text has no closing quote");
    if (character === '"') throw invalidExpressionError(expression, at, "this name has no closing quote");
    throw invalidExpressionError(expression, at, `"${character}" is not expected`);
  };

  for (;;) {
    at += match(blankPattern)?.length ?? 0;
    if (at >= expression.length) break;
    const [kind, written, length] = next();
    tokens.push({ kind, text: written, start: at });
    at += length;
    if (kind === "number" && match(namePattern) !== null) {
      throw invalidExpressionError(expression, at, `a number ends where letters begin; quote names like "${written}x"`);
    }
  }
  tokens.push({ kind: "end", text: "", start: expression.length });
  return tokens;
}
