/** What commands that manage things print: records or lines on stdout, sentences on stderr. */
import { formatCount } from "../../format-count.js";
import type { CommonArguments } from "../command.js";

/** What a script takes: a record with `--json`, else lines of text. */
export function give(args: CommonArguments, record: object, text: string): void {
  process.stdout.write(args.json ? `${JSON.stringify(record)}\n` : `${text}\n`);
}

/** What a person should know. */
export function tell(args: CommonArguments, sentence: string): void {
  if (!args.quiet && !args.json) process.stderr.write(`${sentence}\n`);
}

interface ListedMap {
  readonly id: string;
  readonly name: string;
  /** Email of its account. */
  readonly owner: string;
  readonly features: number;
  readonly private: boolean;
}

/** A map as a line of a list. */
export function describeMap({ id, name, owner, features, private: hidden }: ListedMap): string {
  return `${id}  ${name}  (${owner}, ${formatCount(features, "feature")}${hidden ? ", private" : ""})`;
}
