/** Reports the steps and the end of a job: text on stderr, or with `--json` records on stdout. */

import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { DistributedProgress } from "../../jobs/queue/dispatcher/settings.js";
import type { Finding, FindingLists, Regression } from "../../jobs/report/findings.js";
import type { Counts, ItemReport, Result, RunReport, StepReport } from "../../jobs/report/run-report.js";
import type { CommonArguments } from "../command.js";
import type { SessionArguments } from "../run/sync-session.js";
import type { ProgressState } from "./progress.js";
import { restoreCommands } from "./restore-command.js";

/** "read 20, written 19, rejected 1" */
export const describeCounts = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([name, count]) => count > 0 || name === "read" || name === "written")
    .map(([name, count]) => `${countWords[name] ?? name} ${groupDigits(count)}`)
    .join(", ");

const countWords: Readonly<Record<string, string>> = { withoutGeometry: "without geometry" };

export const describeSeconds = (seconds: number): string => {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** "archive: 120 of 500 done, by north, south" */
export const distributedProgress = ({ step, done, total, workers }: DistributedProgress): ProgressState => ({
  phase: step,
  ...{ done, total, unit: "files" },
  ...(workers.length > 0 && { note: `by ${workers.join(", ")}` }),
});

/** Maximum number of successful items that are listed. */
const maxShownItems = 20;

/** In a dry run, "done" means "to do". */
const resultWords = (result: Result, dryRun: boolean): string => (dryRun && result === "done" ? "to do" : result);

/** The result, with a suffix for losses. */
function resultOf({ result, losses }: StepReport | ItemReport, dryRun: boolean): string {
  return `${resultWords(result, dryRun)}${lossWords(result, losses.length)}`;
}

/** Suffix of a result. */
export const lossWords = (result: Result, losses: number): string =>
  losses === 0 ? "" : result === "done" ? " with losses" : result === "rejects" ? " and losses" : "";

/** Maximum number of kinds of findings that are listed. */
const maxShownKinds = 20;

const kindWords = [
  ["skippedRanges", "skippedRange", "skipped"],
  ["losses", "loss", "lost"],
  ["notices", "notice", "note"],
] as const;

/** "lost text-cut of name (12 times): …" */
export function describeFinding(word: string, { code, field, fields, count, example }: Finding): string {
  const of = field !== undefined ? ` of ${field}` : fields ? ` of ${formatCount(fields, "field")}` : "";
  const times = count > 1 ? ` (${groupDigits(count)} times)` : "";
  return escapeControlCharacters(`${word} ${code}${of}${times}: ${example}`);
}

/** One line for each kind of finding. */
export function describeFindings(lists: FindingLists): string[] {
  return kindWords.flatMap(([name, , word]) => {
    const list = lists[name];
    const shown = list.slice(0, maxShownKinds).map((finding) => describeFinding(word, finding));
    const more = list.length - maxShownKinds;
    return more > 0 ? [...shown, `${word} ${formatCount(more, "more kind")}; --report FILE lists all`] : shown;
  });
}

/** "new since the last run: lost text-cut of name (12 times)", "fewer than in the last run: read 50, before 100" */
export function describeRegression({ what, code, field, before, now, example = "" }: Regression): string {
  if (what === "field") {
    const name = `field ${escapeControlCharacters(field ?? "")}`;
    return code === "missing"
      ? `missing since the last run: ${name}`
      : `changed since the last run: ${name} ${example}`;
  }
  if (what === "format") return `changed since the last run: format of the source ${escapeControlCharacters(example)}`;
  if (what === "extent")
    return code === "moved"
      ? `moved since the last run: extent of the features, ${escapeControlCharacters(example)}`
      : `much larger since the last run: extent of the features, ${escapeControlCharacters(example)}`;
  const word = kindWords.find(([, kind]) => kind === what)?.[2];
  if (word === undefined) {
    const order = before !== null && now < before ? "fewer" : "more";
    return `${order} than in the last run: ${countWords[what] ?? what} ${groupDigits(now)}, before ${groupDigits(before ?? 0)}`;
  }
  const kind = `${word} ${code}${field === undefined ? "" : ` of ${escapeControlCharacters(field)}`}`;
  if (before === null) return `new since the last run: ${kind}${now > 1 ? ` (${groupDigits(now)} times)` : ""}`;
  return `more than in the last run: ${kind} ${formatCount(now, "time")}, before ${groupDigits(before)}`;
}

/** "to undo this: geoferry restore …", one line for each attempt that wrote to the map. */
const describeUndo = ({ backups = [] }: ItemReport, args: SessionArguments): string =>
  restoreCommands(backups, args)
    .map((command) => `    to undo this: ${command}\n`)
    .join("");

function describeItem(item: ItemReport, args: StepArguments): string {
  return `${describeOutcome(item, args.dryRun ?? false)}${describeUndo(item, args)}`;
}

function describeOutcome(item: ItemReport, dryRun: boolean): string {
  const { source, target, counts, error, rejects, worker } = item;
  const where = rejects === undefined ? "" : `, rejects in ${rejects}`;
  const by = worker === undefined ? "" : ` (${worker})`;
  if (error) return `  ${escapeControlCharacters(`${source} → ${target}: ${inOneLine(error.message)}${by}`)}\n`;
  const countText = describeCounts(counts);
  return `  ${escapeControlCharacters(`${source} → ${target}: ${resultOf(item, dryRun)}${countText ? `, ${countText}` : ""}${where}${by}`)}\n`;
}

/** A message whose reasons are a list, as one sentence. */
const inOneLine = (message: string): string => message.replace(/:\n\s*- /g, ": ").replace(/\n\s*(- )?/g, "; ");

type StepArguments = SessionArguments & CommonArguments & { readonly dryRun?: boolean };

export function renderStep(step: StepReport, args: StepArguments): void {
  const { name, result, seconds, attempts, items, counts, error } = step;
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ type: "step", ...step })}\n`);
    return;
  }
  // Schedulers mail the output, so failures and regressions are printed even with --quiet.
  if (args.quiet && result !== "failed" && result !== "rejects" && step.regressions.length === 0) return;
  const dryRun = args.dryRun ?? false;
  const words = resultOf(step, dryRun);
  const again = attempts > 1 ? `, ${attempts} attempts` : "";
  const countText = describeCounts(counts);
  let text = `${escapeControlCharacters(name)}: ${words}${countText ? `, ${countText}` : ""}${attempts > 0 ? ` (${describeSeconds(seconds)}${again})` : ""}\n`;
  const wrong = items.filter(({ error }) => error !== null);
  const right = items.filter(({ error }) => error === null);
  if (items.length === 0 && error) text += `  ${escapeControlCharacters(error.message)}\n`;
  if (!args.quiet) for (const item of right.slice(0, maxShownItems)) text += describeItem(item, args);
  if (!args.quiet && right.length > maxShownItems) text += `  and ${groupDigits(right.length - maxShownItems)} more\n`;
  if (!args.quiet) for (const line of describeFindings(step)) text += `  ${line}\n`;
  for (const regression of step.regressions.slice(0, maxShownKinds)) text += `  ${describeRegression(regression)}\n`;
  for (const item of wrong) text += describeItem(item, args);
  process.stderr.write(text);
}

export function renderRun(report: RunReport, status: number, args: CommonArguments): void {
  const { job, result, seconds, steps, dryRun } = report;
  if (args.json) {
    const kinds = (name: "losses" | "notices" | "skippedRanges" | "regressions") =>
      steps.reduce((sum, step) => sum + step[name].length, 0);
    const found = {
      losses: kinds("losses"),
      notices: kinds("notices"),
      skippedRanges: kinds("skippedRanges"),
      regressions: kinds("regressions"),
    };
    process.stdout.write(`${JSON.stringify({ type: "summary", job, result, status, seconds, dryRun, ...found })}\n`);
    return;
  }
  if (args.quiet) return;
  const counts = (["done", "unchanged", "rejects", "failed", "skipped"] as const).flatMap((name) => {
    const words = name === "rejects" ? "with rejects" : resultWords(name, dryRun);
    const all = steps.filter((step) => step.result === name);
    const lossy = name === "done" ? all.filter(({ losses }) => losses.length > 0).length : 0;
    return [
      ...(all.length > lossy ? [`${all.length - lossy} ${words}`] : []),
      ...(lossy > 0 ? [`${lossy} ${words} with losses`] : []),
    ];
  });
  process.stderr.write(
    `${escapeControlCharacters(job)}: ${dryRun ? "dry run, " : ""}${counts.join(", ")} (${describeSeconds(seconds)})\n`,
  );
}
