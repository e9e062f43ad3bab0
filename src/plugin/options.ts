import { createError } from "../errors.js";

/** One option of a reader or writer: the flag, its help and the docs all come from this. */
export type OptionSpec =
  | { readonly type: "text"; readonly default?: string; readonly help: string }
  | { readonly type: "choice"; readonly choices: readonly string[]; readonly default?: string; readonly help: string }
  | {
      readonly type: "number";
      readonly default?: number;
      readonly min?: number;
      readonly max?: number;
      readonly help: string;
    }
  | {
      readonly type: "integer";
      readonly default?: number;
      readonly min?: number;
      readonly max?: number;
      readonly help: string;
    }
  | { readonly type: "boolean"; readonly default?: boolean; readonly help: string }
  | { readonly type: "list"; readonly default?: readonly string[]; readonly help: string };

export type OptionTable = Readonly<Record<string, OptionSpec>>;

type ValueOf<S extends OptionSpec> = S extends { type: "choice"; choices: readonly (infer C)[] }
  ? C
  : S extends { type: "text" }
    ? string
    : S extends { type: "number" | "integer" }
      ? number
      : S extends { type: "boolean" }
        ? boolean
        : readonly string[];

/** The values of a table: those with a default are always there. */
export type OptionValues<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly default: unknown } ? ValueOf<T[K]> : ValueOf<T[K]> | undefined;
};

const trueWords = new Set(["yes", "true", "1", "on"]);
const falseWords = new Set(["no", "false", "0", "off"]);

function parseValue(name: string, spec: OptionSpec, text: string): unknown {
  const invalid = (expected: string) => createError("option-invalid", { option: name, value: text, expected });
  switch (spec.type) {
    case "text":
      return text;
    case "list":
      return text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "");
    case "choice":
      if (!spec.choices.includes(text)) throw invalid(`one of ${spec.choices.join(", ")}`);
      return text;
    case "boolean": {
      const word = text.toLowerCase();
      if (trueWords.has(word)) return true;
      if (falseWords.has(word)) return false;
      throw invalid("yes or no");
    }
    default: {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      const whole = spec.type === "integer";
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = spec;
      if (!Number.isFinite(value) || (whole && !Number.isInteger(value)) || value < min || value > max) {
        const range = min > Number.NEGATIVE_INFINITY || max < Number.POSITIVE_INFINITY ? ` from ${min} to ${max}` : "";
        throw invalid(`${whole ? "a whole number" : "a number"}${range}`);
      }
      return value;
    }
  }
}

/**
 * Options from `key=value` text, by the table; names may be written in kebab-case or camelCase.
 * @throws option-unknown, option-invalid
 */
export function parseOptions<T extends OptionTable>(
  format: string,
  table: T,
  given: Readonly<Record<string, string>>,
): OptionValues<T> {
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(table)) if (spec.default !== undefined) values[name] = spec.default;
  for (const [written, text] of Object.entries(given)) {
    const name = written.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const spec = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!spec) throw createError("option-unknown", { option: written, format, known: Object.keys(table) });
    values[name] = parseValue(written, spec, text);
  }
  return values as OptionValues<T>;
}
