/** Reports conversions: text on stderr, and with `--json` records on stdout. */

import type { GeoferryError } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { Loss, SkippedRange } from "../../model/report.js";
import type { Outcome } from "../../pipeline/convert-many.js";
import { leftOutNotice } from "../../pipeline/input/expand-inputs.js";
import { type ConvertReport, describeSkippedRange } from "../../pipeline/report.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import type { CommonArguments } from "../command.js";
import { exitStatus, worstStatus } from "../exit.js";
import { isStdoutClosed } from "../signals.js";
import { errorRecord, errorText } from "./error-text.js";
import { paintFor } from "./terminal.js";

const colors = { note: "yellow", lost: "red" } as const;

/** A message that is the same for several layers. */
interface GroupedMessage extends Loss {
  readonly layers: readonly string[];
}

/** @param several whether messages concern more than one layer, so that each line names its layers */
function lossLine(
  word: keyof typeof colors,
  { code, field, count, example, layers }: GroupedMessage,
  several: boolean,
): string {
  const [first = "", ...others] = layers;
  const [second] = others;
  const more = others.length > 1 ? formatCount(others.length, "more layer") : escapeControlCharacters(second ?? "");
  const parts = [
    paintFor(process.stderr)(colors[word], word),
    code,
    ...(field === undefined ? [] : ["of", escapeControlCharacters(field)]),
    ...(count > 1 ? [`(${groupDigits(count)} times)`] : []),
    ...(several && first !== ""
      ? ["in", more === "" ? escapeControlCharacters(first) : `${escapeControlCharacters(first)} and ${more}`]
      : []),
  ];
  return `  ${parts.join(" ")}: ${escapeControlCharacters(example)}\n`;
}

/** Merges equal messages of several layers and adds up their counts. */
function groupMessages(list: readonly Loss[]): GroupedMessage[] {
  const merged = new Map<string, GroupedMessage>();
  for (const loss of list) {
    const key = JSON.stringify([loss.code, loss.field, loss.example]);
    const known = merged.get(key);
    const count = (known?.count ?? 0) + loss.count;
    merged.set(key, { ...loss, count, layers: [...new Set([...(known?.layers ?? []), loss.layer])] });
  }
  return [...merged.values()];
}

const lossLines = (word: keyof typeof colors, list: readonly Loss[], several: boolean): string =>
  groupMessages(list)
    .map((message) => lossLine(word, message, several))
    .join("");

/** A layer that is split by geometry type counts once: the names of its outputs start with its name. */
function hasSeveralLayers(messages: readonly Loss[], outputs: ConvertReport["outputs"] = []): boolean {
  const [first, ...others] = new Set(messages.map(({ layer }) => layer));
  if (first === undefined || others.length > 0) return others.length > 0;
  return outputs.length > 1 && outputs.some(({ layer }) => layer !== first && !layer.startsWith(`${first}_`));
}

const skippedRangeLines = (ranges: readonly SkippedRange[]): string =>
  ranges.map((range) => `  ${escapeControlCharacters(describeSkippedRange(range))}\n`).join("");

const skippedRangeRecords = (ranges: readonly SkippedRange[]): object[] =>
  ranges.map(({ source, place, bytes, reason }) => ({ type: "skipped-range", source, ...place, bytes, reason }));

const useLine = ({ operation, accuracy, positions }: ConvertReport["operations"][number]["used"][number]): string =>
  `  ${formatCount(positions, "position")} by ${operation}, ${accuracy === null ? "of unknown accuracy" : `accurate to ${accuracy} m`}\n`;

function describe(report: ConvertReport, output: string): string {
  if (report.upToDate) return `${output}: up to date\n`;
  let text = "";
  for (const output of report.outputs) {
    const several = report.outputs.filter(({ path }) => path === output.path).length > 1;
    const name = output.path === "-" ? "stdout" : output.path;
    text += `${paintFor(process.stderr)("bold", escapeControlCharacters(name))}${several ? `, layer ${escapeControlCharacters(output.layer)}` : ""}: ${formatCount(output.features, "feature")}${output.crs ? ` in ${output.crs}` : ""}\n`;
  }
  for (const { used } of report.operations) for (const use of used) text += useLine(use);
  const several = hasSeveralLayers([...report.notices, ...report.losses], report.outputs);
  text += lossLines("note", report.notices, several) + lossLines("lost", report.losses, several);
  text += skippedRangeLines(report.skippedRanges) + proofLines(report.proof);
  return text + rejectLines(report);
}

/** "verified: 1,234 features read back as written, 3 values changed as reported above" */
function proofLines(proof: ConvertReport["proof"]): string {
  if (proof === null) return "";
  const features = proof.layers.reduce((sum, layer) => sum + layer.features, 0);
  const explained = proof.layers.flatMap((layer) => layer.explained).reduce((sum, { found }) => sum + found, 0);
  const changed = explained === 0 ? "" : `, but for ${formatCount(explained, "change")} that the losses above explain`;
  return `  verified: ${formatCount(features, "feature")} read back as written${changed}\n`;
}

function rejectLines({ rejected, kept, rejects }: ConvertReport): string {
  const line = (count: number, what: string, them: string) =>
    count === 0
      ? ""
      : `  ${formatCount(count, "feature")} ${what}${rejects ? `, with the reasons in ${rejects}` : `; --rejects FILE takes ${them} with their reasons`}\n`;
  return line(kept, "kept without geometry", "the geometries") + line(rejected - kept, "rejected", "them");
}

function records(outcome: Extract<Outcome, { error?: undefined }>): object[] {
  const {
    inputs,
    outputs,
    losses,
    notices,
    skippedRanges,
    operations,
    sourceFields: _,
    sourceFormats: __,
    rejectSummaries: ___,
    proof,
    ...rest
  } = outcome.report;
  return [
    ...outputs.map((output) => ({ type: "output", ...output })),
    ...operations.map((operation) => ({ type: "operation", output: outcome.output, ...operation })),
    ...notices.map((notice) => ({ type: "notice", output: outcome.output, ...notice })),
    ...losses.map((loss) => ({ type: "loss", output: outcome.output, ...loss })),
    ...skippedRangeRecords(skippedRanges).map((record) => ({ ...record, output: outcome.output })),
    ...(proof?.layers ?? []).map((layer) => ({ type: "proof", output: outcome.output, ...layer })),
    { type: "summary", inputs, output: outcome.output, ...rest, skippedRanges: skippedRanges.length },
  ];
}

const lines = (list: readonly object[]): string => list.map((record) => `${JSON.stringify(record)}\n`).join("");

/** Reports the notices of an input. */
export function renderNotices(notices: readonly Loss[], args: CommonArguments): void {
  if (args.json) process.stdout.write(lines(notices.map((notice) => ({ type: "notice", ...notice }))));
  else if (!args.quiet) process.stderr.write(lossLines("note", notices, hasSeveralLayers(notices)));
}

/** Reports notices and losses. */
export function renderLosses(notices: readonly Loss[], losses: readonly Loss[], args: CommonArguments): void {
  renderNotices(notices, args);
  if (args.json) process.stdout.write(lines(losses.map((loss) => ({ type: "loss", ...loss }))));
  else if (!args.quiet) process.stderr.write(lossLines("lost", losses, hasSeveralLayers([...notices, ...losses])));
}

/** Reports the files of folders and patterns that are no inputs by their names. */
export function renderLeftOut(paths: readonly string[], args: CommonArguments): void {
  renderNotices([leftOutNotice(paths)], args);
}

/** Reports the parts of an input that were skipped. */
export function renderSkippedRanges(ranges: readonly SkippedRange[], args: CommonArguments): void {
  if (args.json) process.stdout.write(lines(skippedRangeRecords(ranges)));
  process.stderr.write(skippedRangeLines(ranges));
}

/**
 * Reports the error of one input or map.
 * @param named one of several inputs, which the message must name
 */
export function renderError(
  error: GeoferryError,
  args: CommonArguments,
  of: { readonly input: string; readonly output?: string } | { readonly map: string },
  named?: string,
): void {
  if (isStdoutClosed()) return;
  if (args.json) process.stdout.write(lines([errorRecord(error, of)]));
  process.stderr.write(errorText(error, args.verbose, named));
}

/** Reports failures in the order of the input names, except those caused by an interruption. */
export function renderFailures(request: ConvertRequest, outcomes: readonly Outcome[], args: CommonArguments): void {
  const failed = outcomes.filter((outcome) => outcome.error && !isInterrupted(outcome));
  const isOneOfMany = outcomes.length > 1 || request.inputs.length > 1;
  for (const { input, output, error } of failed.sort((a, b) => (a.input < b.input ? -1 : 1)))
    renderError(error!, args, { input, output }, isOneOfMany ? input : undefined);
  const [only] = outcomes;
  if (outcomes.length === 1 && only?.error && request.inputs.length > 1 && !isInterrupted(only) && !args.quiet)
    process.stderr.write(
      `  nothing was written to ${only.output}; to convert the other inputs, omit the failed ones\n`,
    );
}

/** Reports the totals of a batch and the names of failed inputs. */
export function renderBatch(outcomes: readonly Outcome[], args: CommonArguments): void {
  if (outcomes.length < 2 || isStdoutClosed()) return;
  const failed = outcomes.filter(({ error }) => error).sort((a, b) => (a.input < b.input ? -1 : 1));
  const done = outcomes.flatMap(({ report }) => (report ? [report] : []));
  const inputsOf = (reports: readonly ConvertReport[]) => reports.reduce((sum, { inputs }) => sum + inputs.length, 0);
  const upToDate = inputsOf(done.filter((report) => report.upToDate));
  const converted = inputsOf(done) - upToDate;
  const partial = done.reduce((sum, { incompleteInputs }) => sum + incompleteInputs, 0);
  const all = converted + upToDate + failed.length;
  if (args.json) {
    const failures = failed.map(({ input, output, error }) => {
      const { type: _, ...record } = errorRecord(error!, { input, output });
      return record;
    });
    const counts = { inputs: all, converted, upToDate, withRejects: partial, failed: failed.length };
    process.stdout.write(lines([{ type: "batch", ...counts, failures }]));
  }
  if (args.quiet) return;
  const more = failed.length - maxShownNames;
  const names = failed.slice(0, maxShownNames).map(({ input }) => escapeControlCharacters(input));
  const parts = [
    `${groupDigits(converted)} of ${groupDigits(all)} converted`,
    ...(upToDate > 0 ? [`${groupDigits(upToDate)} up to date`] : []),
    ...(partial > 0 ? [`${groupDigits(partial)} with rejects`] : []),
    ...(failed.length > 0
      ? [`${groupDigits(failed.length)} failed: ${names.join(", ")}${more > 0 ? ` and ${groupDigits(more)} more` : ""}`]
      : []),
  ];
  process.stderr.write(`${parts.join(", ")}\n`);
}

/** Reports the result of one input. */
export function renderOutcome(outcome: Outcome, args: CommonArguments): void {
  if (outcome.error) {
    renderError(outcome.error, args, { input: outcome.input, output: outcome.output });
    return;
  }
  if (args.json) process.stdout.write(lines(records(outcome)));
  if (!args.quiet) process.stderr.write(describe(outcome.report, outcome.output));
}

const isIncomplete = ({ rejected, skippedRanges }: ConvertReport): boolean => rejected > 0 || skippedRanges.length > 0;

/** With `--json` all names are listed. */
const maxShownNames = 20;

export const isInterrupted = (outcome: Outcome): boolean => outcome.error?.code === "interrupted";

/** Reports which inputs of an interrupted run were converted and which were not. */
export function renderInterruption(outcomes: readonly Outcome[], args: CommonArguments): void {
  const [first] = outcomes.filter(isInterrupted);
  if (!first || isStdoutClosed()) return;
  if (outcomes.length === 1) {
    renderOutcome(first, args);
    return;
  }
  const inputsOf = (list: readonly Outcome[]) => list.map(({ input }) => input);
  const done = inputsOf(outcomes.filter(({ error }) => error === undefined));
  const failed = inputsOf(outcomes.filter((outcome) => outcome.error && !isInterrupted(outcome)));
  const notDone = inputsOf(outcomes.filter(isInterrupted));
  if (args.json) process.stdout.write(lines([{ type: "interrupted", done, failed, notDone }]));
  const listed = (word: string, names: readonly string[]) => {
    const more = names.length - maxShownNames;
    const shown = names.slice(0, maxShownNames).map((name) => `  ${word}: ${escapeControlCharacters(name)}\n`);
    return shown.join("") + (more > 0 ? `  ${word}: ${groupDigits(more)} more (--json names them all)\n` : "");
  };
  const counts = `${done.length} of ${formatCount(outcomes.length, "input")} done, ${failed.length} failed, ${notDone.length} not done`;
  const names = listed("done", done) + listed("failed", failed) + listed("not done", notDone);
  process.stderr.write(`geoferry: interrupted: ${counts}; run again with --if-newer to convert the rest\n${names}`);
}

/** The most severe exit status of the outcomes. */
export function exitStatusOf(outcomes: readonly Outcome[]): number {
  return worstStatus(
    outcomes.map((outcome) =>
      outcome.error ? exitStatus[outcome.error.kind] : isIncomplete(outcome.report) ? exitStatus.rejected : 0,
    ),
  );
}
