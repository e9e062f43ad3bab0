import type { Comparison, Expression, Operand } from "./expression.js";
import { hasDanglingEscape } from "./like.js";
import { invalidExpressionError, type Token, tokenize } from "./tokenize.js";

/** How strongly operators bind, as in SQL: OR, AND, NOT, then comparisons and the predicates. */
const BindingPower = { or: 1, and: 2, not: 3, predicate: 4 } as const;

const comparisons: readonly string[] = ["=", "<>", "<", "<=", ">", ">="];
const predicates: readonly string[] = ["in", "like", "ilike", "between", "is", "not"];
const specials = ["$id", "$type"] as const;

/** Enough for people; what is deeper would exhaust the stack. */
const maxDepth = 200;

function isOperand(expression: Expression): expression is Operand {
  return expression.kind === "field" || expression.kind === "special" || expression.kind === "literal";
}

/** A Pratt parser: `expression` reads what binds more strongly than its caller. */
class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;

  constructor(private readonly text: string) {
    this.tokens = tokenize(text);
  }

  whole(): Expression {
    if (this.peek().kind === "end") throw this.fail(this.peek(), "a condition is missing");
    const expression = this.condition(0);
    const token = this.peek();
    if (token.kind !== "end") throw this.fail(token, `${this.shown(token)} is not expected`);
    return expression;
  }

  private peek(): Token {
    return this.tokens[this.at]!;
  }

  private take(): Token {
    return this.tokens[this.at++]!;
  }

  private is(kind: Token["kind"], text: string): boolean {
    const token = this.peek();
    return token.kind === kind && token.text === text;
  }

  private accept(kind: Token["kind"], text: string): boolean {
    const accepted = this.is(kind, text);
    if (accepted) this.at++;
    return accepted;
  }

  private expect(kind: Token["kind"], text: string): void {
    if (this.accept(kind, text)) return;
    throw this.fail(this.peek(), `${text.toUpperCase()} is expected, not ${this.shown(this.peek())}`);
  }

  private shown(token: Token): string {
    if (token.kind === "end") return "the end";
    return token.kind === "text" ? `'${token.text}'` : token.kind === "keyword" ? token.text.toUpperCase() : token.text;
  }

  private fail(token: Token, reason: string) {
    return invalidExpressionError(this.text, token.start, reason);
  }

  /** An expression whose value is a truth. */
  private condition(least: number): Expression {
    const start = this.peek();
    const expression = this.expression(least);
    this.requireCondition(expression, start);
    return expression;
  }

  private operand(): Operand {
    const start = this.peek();
    const expression = this.expression(BindingPower.predicate);
    if (isOperand(expression)) return expression;
    throw this.fail(start, "a condition stands where a value is expected");
  }

  private expression(least: number): Expression {
    const start = this.peek();
    if (++this.depth > maxDepth) throw this.fail(start, "the expression is nested too deeply");
    let left = this.prefix();
    for (;;) {
      const token = this.peek();
      const logical = token.kind === "keyword" && (token.text === "and" || token.text === "or") ? token.text : null;
      if (logical) {
        if (BindingPower[logical] <= least) break;
        this.requireCondition(left, start);
        left = this.chain(logical, left);
      } else if (this.beginsPredicate(token) && BindingPower.predicate > least) {
        if (!isOperand(left)) throw this.fail(token, `what stands before ${this.shown(token)} is no value`);
        left = this.predicate(left);
      } else break;
    }
    this.depth--;
    return left;
  }

  private requireCondition(expression: Expression, start: Token): void {
    if (expression.kind === "literal" && typeof expression.value !== "boolean" && expression.value !== null) {
      throw this.fail(start, `${this.shown(start)} is a value where a condition is expected`);
    }
  }

  private beginsPredicate(token: Token): boolean {
    return token.kind === "symbol"
      ? comparisons.includes(token.text)
      : token.kind === "keyword" && predicates.includes(token.text);
  }

  /** `a and b and c` as one list, however long. */
  private chain(logical: "and" | "or", first: Expression): Expression {
    const operands = [first];
    while (this.accept("keyword", logical)) operands.push(this.condition(BindingPower[logical]));
    return { kind: logical, operands };
  }

  private prefix(): Expression {
    const token = this.take();
    switch (token.kind) {
      case "name":
        return { kind: "field", name: token.text };
      case "special":
        return this.special(token);
      case "text":
        return { kind: "literal", value: token.text };
      case "number":
        return { kind: "literal", value: parseNumberLiteral(token.text) };
      case "keyword":
        return this.keyword(token);
      case "symbol":
        if (token.text === "(") {
          const inner = this.expression(0);
          this.expect("symbol", ")");
          return inner;
        }
        if ((token.text === "-" || token.text === "+") && this.peek().kind === "number") {
          const value = parseNumberLiteral(this.take().text);
          return { kind: "literal", value: token.text === "-" ? -value : value };
        }
    }
    throw this.fail(token, `a field or a value is expected, not ${this.shown(token)}`);
  }

  private special(token: Token): Operand {
    const name = specials.find((known) => known === token.text.toLowerCase());
    if (!name) throw this.fail(token, `there is no ${token.text}; there are ${specials.join(" and ")}`);
    return { kind: "special", name };
  }

  private keyword(token: Token): Expression {
    switch (token.text) {
      case "not":
        return { kind: "not", operand: this.condition(BindingPower.not - 1) };
      case "null":
        return { kind: "literal", value: null };
      case "true":
      case "false":
        return { kind: "literal", value: token.text === "true" };
      default:
        throw this.fail(token, `a field or a value is expected; write "${token.text}" in quotes if it is a field`);
    }
  }

  private predicate(operand: Operand): Expression {
    const token = this.take();
    if (token.kind === "symbol") {
      return { kind: "compare", comparison: token.text as Comparison, left: operand, right: this.operand() };
    }
    if (token.text === "is") {
      const negated = this.accept("keyword", "not");
      this.expect("keyword", "null");
      return negate(negated, { kind: "is-null", operand });
    }
    if (token.text !== "not") return this.named(token, operand);
    const named = this.take();
    if (named.kind !== "keyword" || !["in", "like", "ilike", "between"].includes(named.text)) {
      throw this.fail(named, `IN, LIKE, ILIKE or BETWEEN is expected after NOT, not ${this.shown(named)}`);
    }
    return { kind: "not", operand: this.named(named, operand) };
  }

  private named(token: Token, operand: Operand): Expression {
    if (token.text === "in") return { kind: "in", operand, list: this.list() };
    if (token.text === "between") {
      const low = this.operand();
      this.expect("keyword", "and");
      const high = this.operand();
      return {
        kind: "and",
        operands: [
          { kind: "compare", comparison: ">=", left: operand, right: low },
          { kind: "compare", comparison: "<=", left: operand, right: high },
        ],
      };
    }
    return this.like(operand, token.text === "ilike");
  }

  private list(): Operand[] {
    this.expect("symbol", "(");
    const list = [this.operand()];
    while (this.accept("symbol", ",")) list.push(this.operand());
    this.expect("symbol", ")");
    return list;
  }

  private like(operand: Operand, ignoreCase: boolean): Expression {
    const pattern = this.take();
    if (pattern.kind !== "text") throw this.fail(pattern, "a pattern in single quotes is expected");
    let escapedBy = "\\";
    if (this.accept("keyword", "escape")) {
      const token = this.take();
      if (token.kind !== "text" || [...token.text].length !== 1) {
        throw this.fail(token, "one character in single quotes is expected after ESCAPE");
      }
      escapedBy = token.text;
    }
    if (hasDanglingEscape(pattern.text, escapedBy)) {
      throw this.fail(pattern, `the pattern ends with the escape character ${escapedBy}; double it`);
    }
    return { kind: "like", operand, pattern: pattern.text, escapedBy, ignoreCase };
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
  return new Parser(text).whole();
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
 * The fields that an expression names where most people write a value: `Berlin` of `name = Berlin`.
 * @throws expression-invalid
 */
export function fieldsMeantAsValues(expression: string): string[] {
  const names = new Set<string>();
  collectValueFields(parseExpression(expression), names);
  return [...names];
}
