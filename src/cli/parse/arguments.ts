import { createError } from "../../errors.js";
import { splitList } from "../../pipeline/plan/split-list.js";

/** Rewrites ambiguous arguments before parsing. */

/** A lone `-` is stdin or stdout (POSIX.1-2024, XBD 12.2, guideline 13). */
export const isFlag = (argument: string): boolean => argument.startsWith("-") && argument !== "-";

/** Joins values that look like flags to their option (`--bbox -10,40,5,50`), and makes all after `--` paths. */
export function protectArguments(argv: readonly string[]): string[] {
  const result: string[] = [];
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  for (const [i, argument] of argv.entries()) {
    if (i === end) continue;
    if (i > end && isFlag(argument)) {
      result.push(`./${argument}`);
      continue;
    }
    const previous = result.at(-1);
    const number = /^-(\d|\.\d)/.test(argument);
    if (number && i > 0 && previous !== undefined && /^--[a-z][a-z-]*$/.test(previous))
      result[result.length - 1] = `${previous}=${argument}`;
    else result.push(argument);
  }
  return result;
}

/** If stdout is redirected to a file, /dev/stdout would count as an existing output. */
export const outputOf = (argument: string): string => (argument === "/dev/stdout" ? "-" : argument);

/** The values of a repeatable option as a list; commas separate values, too. */
export function listOf(value: string | readonly string[] | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  return [value].flat().flatMap((item) => splitList(item));
}

/**
 * Like `listOf`, but refuses an empty list: an empty variable in a script must not remove all fields.
 * @throws option-invalid
 */
export function namesOf(option: string, value: string | readonly string[] | undefined): string[] | undefined {
  const names = listOf(value);
  if (names?.length !== 0) return names;
  throw createError("option-invalid", { option, value: [value].flat().join(","), expected: "a name, or several: a,b" });
}

/** Adds flags from environment variables: `GEOFERRY_TARGET_CRS` for `--target-crs`. Given flags take precedence. */
export function withEnvironment(
  argv: readonly string[],
  options: Readonly<Record<string, { readonly type?: string }>>,
  environment: NodeJS.ProcessEnv,
): string[] {
  const result = [...argv];
  for (const [name, { type }] of Object.entries(options)) {
    const value = environment[`GEOFERRY_${name.toUpperCase().replaceAll("-", "_")}`];
    if (value === undefined || value === "") continue;
    if (argv.some((argument) => new RegExp(`^--(no-)?${name}(=|$)`).test(argument))) continue;
    if (type !== "boolean") result.push(`--${name}=${value}`);
    else result.push(/^(0|no|false|off)$/i.test(value) ? `--no-${name}` : `--${name}`);
  }
  return result;
}
