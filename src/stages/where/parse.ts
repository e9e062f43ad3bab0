import type { Comparison, Expression, Operand } from "./expression.js";
import { hasDanglingEscape } from "./like.js";
import { invalidExpressionError, type Token, tokenize } from "./tokenize.js";

/** How strongly operators bind, as in SQL: OR, AND, NOT, then comparisons and the predicates. */
const BindingPower = { or: 1, and: 2, not: 3, predicate: 4 } as const;

const comparisons: readonly string[] = ["=", "<>", "<", "<=", ">", ">="];
const predicates: readonly string[] = ["in", "like", "ilike", "between", "is", "not"];
const specials = ["$id", "$type"] as const;

/** Deeper nesting could exhaust the stack. */
const maxDepth = 200;

function isOperand(expression: Expression): expression is Operand {
  return expression.kind === "field" || expression.kind === "special" || expression.kind === "literal";
}

/** A Pratt parser: `expression` reads what binds more strongly than its caller. */
class Parser {
  private readonly tokens: readonly Token[];
  private position = 0;
  private depth = 0;

  constructor(private readonly text: string) {
    this.tokens = tokenize(text);
  }

  parseAll(): Expression {
    if (this.peek().kind === "end") throw this.createError(this.peek(), "a condition is missing");
    const expression = this.parseCondition(0);
    const token = this.peek();
    if (token.kind !== "end") throw this.createError(token, `${this.describeToken(token)} is not expected`);
    return expression;
  }

  private peek(): Token {
    return this.tokens[this.position]!;
  }

  private next(): Token {
    return this.tokens[this.position++]!;
  }

  private isNext(kind: Token["kind"], text: string): boolean {
    const token = this.peek();
    return token.kind === kind && token.text === text;
  }

  private accept(kind: Token["kind"], text: string): boolean {
    const accepted = this.isNext(kind, text);
    if (accepted) this.position++;
    return accepted;
  }

  private expect(kind: Token["kind"], text: string): void {
    if (this.accept(kind, text)) return;
    throw this.createError(this.peek(), `${text.toUpperCase()} is expected, not ${this.describeToken(this.peek())}`);
  }

  private describeToken(token: Token): string {
    if (token.kind === "end") return "the end";
    return token.kind === "text" ? `'${token.text}'` : token.kind === "keyword" ? token.text.toUpperCase() : token.text;
  }

  private createError(token: Token, reason: string) {
    return invalidExpressionError(this.text, token.start, reason);
  }

  /** Parses an expression that is a condition. */
  private parseCondition(least: number): Expression {
    const start = this.peek();
    const expression = this.parseSubexpression(least);
    this.requireCondition(expression, start);
    return expression;
  }

  private parseOperand(): Operand {
    const start = this.peek();
    const expression = this.parseSubexpression(BindingPower.predicate);
    if (isOperand(expression)) return expression;
    throw this.createError(start, "a condition stands where a value is expected");
  }

  private parseSubexpression(least: number): Expression {
    const start = this.peek();
    if (++this.depth > maxDepth) throw this.createError(start, "the expression is nested too deeply");
    let left = this.parsePrefix();
    for (;;) {
      const token = this.peek();
      const logical = token.kind === "keyword" && (token.text === "and" || token.text === "or") ? token.text : null;
      if (logical) {
        if (BindingPower[logical] <= least) break;
        this.requireCondition(left, start);
        left = this.parseChain(logical, left);
      } else if (this.startsPredicate(token) && BindingPower.predicate > least) {
        if (!isOperand(left))
          throw this.createError(token, `what stands before ${this.describeToken(token)} is not a value`);
        left = this.parsePredicate(left);
      } else break;
    }
    this.depth--;
    return left;
  }

  private requireCondition(expression: Expression, start: Token): void {
    if (expression.kind === "literal" && typeof expression.value !== "boolean" && expression.value !== null) {
      throw this.createError(start, `${this.describeToken(start)} is a value where a condition is expected`);
    }
  }

  private startsPredicate(token: Token): boolean {
    return token.kind === "symbol"
      ? comparisons.includes(token.text)
      : token.kind === "keyword" && predicates.includes(token.text);
  }

  /** `a and b and c` as one list, however long. */
  private parseChain(logical: "and" | "or", first: Expression): Expression {
    const operands = [first];
    while (this.accept("keyword", logical)) operands.push(this.parseCondition(BindingPower[logical]));
    return { kind: logical, operands };
  }

  private parsePrefix(): Expression {
    const token = this.next();
    switch (token.kind) {
      case "name":
        return { kind: "field", name: token.text };
      case "special":
        return this.parseSpecial(token);
      case "text":
        return { kind: "literal", value: token.text };
      case "number":
        return { kind: "literal", value: parseNumberLiteral(token.text) };
      case "keyword":
        return this.parseKeyword(token);
      case "symbol":
        if (token.text === "(") {
          const inner = this.parseSubexpression(0);
          this.expect("symbol", ")");
          return inner;
        }
        if ((token.text === "-" || token.text === "+") && this.peek().kind === "number") {
          const value = parseNumberLiteral(this.next().text);
          return { kind: "literal", value: token.text === "-" ? -value : value };
        }
    }
    throw this.createError(token, `a field or a value is expected, not ${this.describeToken(token)}`);
  }

  private parseSpecial(token: Token): Operand {
    const name = specials.find((known) => known === token.text.toLowerCase());
    if (!name) throw this.createError(token, `there is no ${token.text}; there are ${specials.join(" and ")}`);
    return { kind: "special", name };
  }

  private parseKeyword(token: Token): Expression {
    switch (token.text) {
      case "not":
        return { kind: "not", operand: this.parseCondition(BindingPower.not - 1) };
      case "null":
        return { kind: "literal", value: null };
      case "true":
      case "false":
        return { kind: "literal", value: token.text === "true" };
      default:
        throw this.createError(
          token,
          `a field or a value is expected; write "${token.text}" in quotes if it is a field`,
        );
    }
  }

  private parsePredicate(operand: Operand): Expression {
    const token = this.next();
    if (token.kind === "symbol") {
      return { kind: "compare", comparison: token.text as Comparison, left: operand, right: this.parseOperand() };
    }
    if (token.text === "is") {
      const negated = this.accept("keyword", "not");
      this.expect("keyword", "null");
      return negate(negated, { kind: "is-null", operand });
    }
    if (token.text !== "not") return this.parseNamedPredicate(token, operand);
    const named = this.next();
    if (named.kind !== "keyword" || !["in", "like", "ilike", "between"].includes(named.text)) {
      throw this.createError(
        named,
        `IN, LIKE, ILIKE or BETWEEN is expected after NOT, not ${this.describeToken(named)}`,
      );
    }
    return { kind: "not", operand: this.parseNamedPredicate(named, operand) };
  }

  private parseNamedPredicate(token: Token, operand: Operand): Expression {
    if (token.text === "in") return { kind: "in", operand, list: this.parseList() };
    if (token.text === "between") {
      const low = this.parseOperand();
      this.expect("keyword", "and");
      const high = this.parseOperand();
      return {
        kind: "and",
        operands: [
          { kind: "compare", comparison: ">=", left: operand, right: low },
          { kind: "compare", comparison: "<=", left: operand, right: high },
        ],
      };
    }
    return this.parseLike(operand, token.text === "ilike");
  }

  private parseList(): Operand[] {
    this.expect("symbol", "(");
    const list = [this.parseOperand()];
    while (this.accept("symbol", ",")) list.push(this.parseOperand());
    this.expect("symbol", ")");
    return list;
  }

  private parseLike(operand: Operand, ignoreCase: boolean): Expression {
    const pattern = this.next();
    if (pattern.kind !== "text") throw this.createError(pattern, "a pattern in single quotes is expected");
    let escapeCharacter = "\\";
    if (this.accept("keyword", "escape")) {
      const token = this.next();
      if (token.kind !== "text" || [...token.text].length !== 1) {
        throw this.createError(token, "one character in single quotes is expected after ESCAPE");
      }
      escapeCharacter = token.text;
    }
    if (hasDanglingEscape(pattern.text, escapeCharacter)) {
      throw this.createError(pattern, `the pattern ends with the escape character ${escapeCharacter}; double it`);
    }
    return { kind: "like", operand, pattern: pattern.text, escapeCharacter, ignoreCase };
  }
}

/** A whole number that a double does not hold exactly is a bigint, so that 64-bit fields compare exactly. */
function parseNumberLiteral(text: string): number | bigint {
  const value = Number(text);
  return /^\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

const negate = (negated: boolean, operand: Expression): Expression => (negated ? { kind: "not", operand } : operand);

/** @throws expression-invalid */
export function parseExpression(text: string): Expression {
  return new Parser(text).parseAll();
}

function collectFields(expression: Expression, names: Set<string>): void {
  switch (expression.kind) {
    case "field":
      names.add(expression.name);
      break;
    case "and":
    case "or":
      for (const operand of expression.operands) collectFields(operand, names);
      break;
    case "compare":
      collectFields(expression.left, names);
      collectFields(expression.right, names);
      break;
    case "in":
      collectFields(expression.operand, names);
      for (const item of expression.list) collectFields(item, names);
      break;
    case "not":
    case "like":
    case "is-null":
      collectFields(expression.operand, names);
  }
}

/**
 * The fields that an expression names, in the order of their first appearance.
 * @throws expression-invalid
 */
export function referencedFields(expression: string): string[] {
  const names = new Set<string>();
  collectFields(parseExpression(expression), names);
  return [...names];
}

function collectValueFields(expression: Expression, names: Set<string>): void {
  const add = (operand: Operand) => operand.kind === "field" && names.add(operand.name);
  switch (expression.kind) {
    case "and":
    case "or":
      for (const operand of expression.operands) collectValueFields(operand, names);
      break;
    case "not":
      collectValueFields(expression.operand, names);
      break;
    case "compare":
      add(expression.right);
      break;
    case "in":
      expression.list.forEach(add);
  }
}

/**
 * Fields of an expression that were probably meant as text: `Berlin` of `name = Berlin`.
 * @throws expression-invalid
 */
export function fieldsMeantAsValues(expression: string): string[] {
  const names = new Set<string>();
  collectValueFields(parseExpression(expression), names);
  return [...names];
}
