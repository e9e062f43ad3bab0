/** Output of the management commands: results on stdout, notices on stderr. */
import { escapeControlCharacters, escapeControlCharactersOfLines } from "../../escape-control-characters.js";
import { formatCount } from "../../format-count.js";
import type { CommonArguments } from "../command.js";

/** Prints a result on stdout: a record with `--json`, or else text. */
export function printResult(args: CommonArguments, record: object, text: string): void {
  process.stdout.write(args.json ? `${JSON.stringify(record)}\n` : `${escapeControlCharactersOfLines(text)}\n`);
}

/** Prints a notice on stderr, unless `--quiet` or `--json` is given. */
export function printNotice(args: CommonArguments, sentence: string): void {
  if (!args.quiet && !args.json) process.stderr.write(`${escapeControlCharacters(sentence)}\n`);
}

interface ListedMap {
  readonly id: string;
  readonly name: string;
  /** Email of its account. */
  readonly owner: string;
  readonly features: number;
  readonly private: boolean;
}

/** One line about a map. */
export function describeMap({ id, name, owner, features, private: hidden }: ListedMap): string {
  const text = `${id}  ${name}  (${owner}, ${formatCount(features, "feature")}${hidden ? ", private" : ""})`;
  return escapeControlCharacters(text);
}
