/** What happened, in words for people and records for programs. */
import type { Loss } from "../model/report.js";
import type { Outcome } from "../pipeline/convert-many.js";
import type { ConvertReport } from "../pipeline/report.js";
import { exitStatus, worst } from "./exit.js";
import type { CommonArguments } from "./run.js";

const plural = (count: number, word: string): string =>
  `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function lossLine(word: string, loss: Loss): string {
  const field = loss.field === undefined ? "" : ` of ${loss.field}`;
  const times = loss.count > 1 ? ` (${loss.count.toLocaleString("en")} times)` : "";
  return `  ${word} ${loss.code}${field}${times}: ${loss.example}\n`;
}

function describe(report: ConvertReport): string {
  if (report.upToDate) return "up to date\n";
  let text = "";
  for (const output of report.outputs) {
    text += `${output.path === "-" ? "stdout" : output.path}: ${plural(output.features, "feature")}${output.crs ? ` in ${output.crs}` : ""}\n`;
  }
  for (const notice of report.notices) text += lossLine("note", notice);
  for (const loss of report.losses) text += lossLine("lost", loss);
  if (report.rejected > 0) {
    text += `  ${plural(report.rejected, "feature")} rejected${report.rejects ? `, with the reasons in ${report.rejects}` : ""}\n`;
  }
  return text;
}

function records(outcome: Outcome): object[] {
  if (outcome.error) {
    const { code, kind, message } = outcome.error;
    return [{ type: "error", input: outcome.input, output: outcome.output, code, exit: exitStatus[kind], message }];
  }
  const { inputs, outputs, losses, notices, ...rest } = outcome.report;
  return [
    ...outputs.map((output) => ({ type: "output", ...output })),
    ...notices.map((notice) => ({ type: "notice", output: outcome.output, ...notice })),
    ...losses.map((loss) => ({ type: "loss", output: outcome.output, ...loss })),
    { type: "summary", inputs, output: outcome.output, ...rest },
  ];
}

/** Tells what became of one input: on stderr for people, on stdout for programs. */
export function renderOutcome(outcome: Outcome, args: CommonArguments): void {
  if (args.json)
    process.stdout.write(
      records(outcome)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
  if (outcome.error) {
    process.stderr.write(`geoferry: ${outcome.error.message}\n`);
    if (args.verbose)
      process.stderr.write(`${(outcome.error.cause as Error | undefined)?.stack ?? outcome.error.stack}\n`);
  } else if (!args.quiet) process.stderr.write(describe(outcome.report));
}

/** The exit status of one conversion or many: the worst. */
export function statusOf(outcomes: readonly Outcome[]): number {
  return worst(
    outcomes.map((outcome) =>
      outcome.error ? exitStatus[outcome.error.kind] : outcome.report.rejected > 0 ? exitStatus.rejected : 0,
    ),
  );
}
