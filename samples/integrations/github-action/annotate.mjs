// Prints the problems among JSON records as annotations of a pull request: node annotate.mjs RECORDS
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";

/** GitHub shows ten errors of a step. */
const most = 10;
const message = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text) => message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

const records = readFileSync(process.argv[2], "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const problems = records.filter(({ type }) => type === "problem");
for (const { input, code, reason, record, line } of problems.slice(0, most)) {
  const file = relative(process.env.GITHUB_WORKSPACE ?? ".", resolve(input));
  const place = line === undefined ? "" : `,line=${line}`;
  const prefix = record === undefined ? "" : `record ${record}: `;
  console.log(`::error file=${property(file)}${place},title=${property(code)}::${message(`${prefix}${reason}`)}`);
}
if (problems.length > most) console.log(`${problems.length - most} more problems are in the report`);
