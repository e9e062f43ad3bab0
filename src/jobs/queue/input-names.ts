/** Inputs and outputs of a step as they are handed over: without what addresses may hide. */
import { statSync } from "node:fs";
import { redact } from "../../io/redact.js";
import type { Registry } from "../../plugin/registry.js";
import type { SourceStat } from "../steps/source-stat.js";
import type { InputName, StarterFileStat } from "./job-payload.js";

/** @param given the inputs of the step, of which an address keeps its secrets */
export function toInputNames(inputs: readonly string[], given: readonly string[], registry: Registry): InputName[] {
  return inputs.map((input) => {
    const textIndex = given.indexOf(input);
    if (textIndex >= 0) return { textIndex, rest: "" };
    if (redact(input, registry) === input) return input;
    const begins = given.findIndex((text) => input.startsWith(text));
    return begins < 0 ? redact(input, registry) : { textIndex: begins, rest: input.slice(given[begins]!.length) };
  });
}

export const fromInputNames = (names: readonly InputName[], given: readonly string[]): string[] =>
  names.map((name) => (typeof name === "string" ? name : given[name.textIndex]! + name.rest));

/** Null where there is no file. */
function statLocally(name: string): StarterFileStat | null {
  const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? { name, size: String(stat.size), modified: String(stat.mtimeNs) } : null;
}

/** What the starter sees of the sources; addresses are looked at by whoever reads them. */
export const toStarterStats = (
  marks: readonly SourceStat[] | null,
  registry: Registry,
): readonly StarterFileStat[] | null =>
  marks?.map(({ name }) => statLocally(name) ?? { name: redact(name, registry), size: "", modified: "" }) ?? null;

/** The same of the files among names. */
export const statFiles = (names: readonly string[]): readonly StarterFileStat[] =>
  names.flatMap((name) => statLocally(name) ?? []);

const toDay = (nanoseconds: string): string => new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString();

/** What is different here; null where nothing is. */
export function findDifference(sources: readonly StarterFileStat[]): string | null {
  for (const { name, size, modified } of sources) {
    if (size === "") continue;
    const here = statLocally(name);
    if (here === null)
      return `it does not see ${name}, which the command that started the run sees: is the storage shared?`;
    if (here.size !== size)
      return `it sees ${here.size} bytes in ${name}, where the command that started the run saw ${size}: is the storage shared, or was the file changed?`;
    if (here.modified !== modified)
      return `${name} is of ${toDay(here.modified)} here, and was of ${toDay(modified)} for the command that started the run: is the storage shared, or was the file changed?`;
  }
  return null;
}
