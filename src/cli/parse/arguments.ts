import { createError } from "../../errors.js";
import { splitList } from "../../pipeline/plan/split-list.js";

/** What could be misread on a command line is put into a form that can not. */

const stdio = "stdio:";

/** A value that looks like a flag (`--bbox -10,40,5,50`) is bound to its option; a lone `-` is kept as a positional. */
export function protectArguments(argv: readonly string[]): string[] {
  const result: string[] = [];
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  for (const [i, argument] of argv.entries()) {
    // Behind "--" everything is a path.
    if (i === end) continue;
    if (i > end && argument.startsWith("-") && argument !== "-") {
      result.push(`./${argument}`);
      continue;
    }
    if (argument === "-") {
      result.push(stdio);
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

/** By its name in /dev a stdout that leads to a file would be taken for an output that exists. */
export const outputOf = (argument: string): string => (argument === "/dev/stdout" ? "-" : argument);

export const unprotect = (argument: string): string => (argument === stdio ? "-" : argument);

/** The value of an option given once or more, as a list; commas separate too. */
export function listOf(value: string | readonly string[] | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  return [value].flat().flatMap((item) => splitList(item));
}

/**
 * The same where no name at all would be a mistake: a variable of a script that is empty must not take every field away.
 * @throws option-invalid
 */
export function namesOf(option: string, value: string | readonly string[] | undefined): string[] | undefined {
  const names = listOf(value);
  if (names?.length !== 0) return names;
  throw createError("option-invalid", { option, value: [value].flat().join(","), expected: "a name, or several: a,b" });
}

/** What a program's environment says of options: `GEOFERRY_TARGET_CRS` for `--target-crs`. A flag that is given wins. */
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
