/** Checks names and types of options at run time, for callers without TypeScript; unknown options are errors. */
import { createError } from "../errors.js";
import { conversionOptions, type OptionKind } from "../pipeline/option-names.js";

interface OptionType {
  readonly expected: string;
  readonly isValid: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isPlainObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

const optionTypes: Readonly<Record<Extract<OptionKind, string>, OptionType>> = {
  text: { expected: "a text", isValid: isText },
  limit: { expected: 'a text like "100" or "5%"', isValid: isText },
  flag: { expected: "true or false", isValid: (value) => typeof value === "boolean" },
  positive: { expected: "a number above 0", isValid: (value) => isNumber(value) && (value as number) > 0 },
  count: {
    expected: "a whole number from 0 on",
    isValid: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  },
  texts: { expected: "an array of texts", isValid: (value) => Array.isArray(value) && value.every(isText) },
  members: { expected: "an object whose members are texts", isValid: isPlainObject },
  box: {
    expected: "an array of four numbers",
    isValid: (value) => Array.isArray(value) && value.length === 4 && value.every(isNumber),
  },
};

/** A value as messages show it. */
export const describeValue = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : value === null ? "null" : typeof value;

const optionTypeOf = (kind: OptionKind): OptionType =>
  typeof kind === "string"
    ? optionTypes[kind]
    : {
        expected: `one of ${kind.map((word) => JSON.stringify(word)).join(", ")}`,
        isValid: (value) => kind.includes(value as string),
      };

/**
 * @param caller name of the function, for messages: "convert"
 * @throws usage
 */
export function checkObject(caller: string, options: unknown): asserts options is object {
  if (typeof options !== "object" || options === null)
    throw createError("usage", { reason: `${caller} takes an object of options, not ${describeValue(options)}` });
}

/**
 * @param caller name of the function, for messages: "convert"
 * @param others names of options that conversions do not have
 * @throws usage, option-unknown, option-invalid
 */
export function checkOptions(caller: string, options: unknown, others: readonly string[]): asserts options is object {
  checkObject(caller, options);
  for (const [name, value] of Object.entries(options)) {
    if (others.includes(name)) continue;
    if (!Object.hasOwn(conversionOptions, name)) {
      const known = [...others, ...Object.keys(conversionOptions)].sort();
      throw createError("option-unknown", { option: name, format: caller, known });
    }
    const { expected, isValid } = optionTypeOf(conversionOptions[name as keyof typeof conversionOptions].kind);
    if (value === undefined || isValid(value)) continue;
    const shown = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
    throw createError("option-invalid", { option: name, value: shown, expected });
  }
}
