/** A job's steps and its end, in words for people and records for programs. */
import { grouped } from "../counted.js";
import type { HandedProgress } from "../jobs/queue/hand-out.js";
import type { Counts, ItemReport, Result, RunReport, StepReport } from "../jobs/run-report.js";
import type { CommonArguments } from "./command.js";

/** "read 20, written 19, rejected 1" */
export const describeCounts = (counts: Counts): string =>
  Object.entries(counts)
    .filter(([name, count]) => count > 0 || name === "read" || name === "written")
    .map(([name, count]) => `${name} ${grouped(count)}`)
    .join(", ");

export const describeSeconds = (seconds: number): string => {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** "archive: 120 of 500 done, by north, south" */
export const describeHanded = ({ step, done, all, workers }: HandedProgress): string =>
  `${step}: ${grouped(done)} of ${grouped(all)} done${workers.length > 0 ? `, by ${workers.join(", ")}` : ""}`;

/** So many items of a step are named, of those that have nothing wrong with them. */
const mostItems = 20;

/** Of a dry run nothing is done. */
const resultWords = (result: Result, dryRun: boolean): string => (dryRun && result === "done" ? "to do" : result);

function describeItem({ source, target, result, counts, error, worker }: ItemReport, dryRun: boolean): string {
  const by = worker === undefined ? "" : ` (${worker})`;
  if (error) return `  ${source} → ${target}: ${error.message}${by}\n`;
  const told = describeCounts(counts);
  return `  ${source} → ${target}: ${resultWords(result, dryRun)}${told ? `, ${told}` : ""}${by}\n`;
}

export function renderStep(step: StepReport, args: CommonArguments & { readonly dryRun?: boolean }): void {
  const { name, result, seconds, tries, items, counts, error } = step;
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ type: "step", ...step })}\n`);
    return;
  }
  if (args.quiet && result !== "failed") return;
  const dryRun = args.dryRun ?? false;
  const words = resultWords(result, dryRun);
  const again = tries > 1 ? `, tried ${tries} times` : "";
  const told = describeCounts(counts);
  let text = `${name}: ${words}${told ? `, ${told}` : ""}${tries > 0 ? ` (${describeSeconds(seconds)}${again})` : ""}\n`;
  const wrong = items.filter(({ error }) => error !== null);
  const right = items.filter(({ error }) => error === null);
  if (items.length === 0 && error) text += `  ${error.message}\n`;
  if (!args.quiet) for (const item of right.slice(0, mostItems)) text += describeItem(item, dryRun);
  if (!args.quiet && right.length > mostItems) text += `  and ${grouped(right.length - mostItems)} more\n`;
  for (const item of wrong) text += describeItem(item, dryRun);
  process.stderr.write(text);
}

export function renderRun(report: RunReport, status: number, args: CommonArguments): void {
  const { job, result, seconds, steps, dryRun } = report;
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ type: "summary", job, result, status, seconds, dryRun })}\n`);
    return;
  }
  if (args.quiet) return;
  const counts = (["done", "unchanged", "rejects", "failed", "skipped"] as const)
    .map((name) => [name, steps.filter((step) => step.result === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name === "rejects" ? "with rejects" : resultWords(name, dryRun)}`);
  process.stderr.write(`${job}: ${dryRun ? "of a dry run, " : ""}${counts.join(", ")} (${describeSeconds(seconds)})\n`);
}
