/** Inputs and outputs of a step in a job payload, without secrets of addresses. */
import { statSync } from "node:fs";
import { redact } from "../../io/redact.js";
import type { Registry } from "../../plugin/registry.js";
import type { SourceStat } from "../steps/source-stat.js";
import type { InputName, SourceFileStat } from "./job-payload.js";

/** @param given the inputs as the job file gives them; a payload refers to those with secrets by index */
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

/** Null if there is no such file. */
function statLocally(name: string): SourceFileStat | null {
  const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? { name, size: String(stat.size), modified: String(stat.mtimeNs) } : null;
}

/** The sources as this machine sees them; the worker itself checks addresses. */
export const toSourceFileStats = (
  sources: readonly SourceStat[] | null,
  registry: Registry,
): readonly SourceFileStat[] | null =>
  sources?.map(({ name }) => statLocally(name) ?? { name: redact(name, registry), size: "", modified: "" }) ?? null;

/** Omits names that are not files. */
export const statFiles = (names: readonly string[]): readonly SourceFileStat[] =>
  names.flatMap((name) => statLocally(name) ?? []);

const formatTime = (nanoseconds: string): string => new Date(Number(BigInt(nanoseconds) / 1_000_000n)).toISOString();

/** Compares the sources with what this machine sees. @returns the first difference, for people, or null */
export function findDifference(sources: readonly SourceFileStat[]): string | null {
  for (const { name, size, modified } of sources) {
    if (size === "") continue;
    const here = statLocally(name);
    if (here === null)
      return `it cannot find ${name}, which exists for the command that started the run; put the sources on shared storage`;
    if (here.size !== size)
      return `${name} has ${here.size} bytes here and ${size} bytes for the command that started the run; put the sources on shared storage, and do not change them during a run`;
    if (here.modified !== modified)
      return `${name} was modified at ${formatTime(here.modified)} here and at ${formatTime(modified)} for the command that started the run; put the sources on shared storage, and do not change them during a run`;
  }
  return null;
}
