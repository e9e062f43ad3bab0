/** A self-contained HTML page about the runs of a job: details of the latest run, and charts. It has no scripts. */
import { formatCount, groupDigits } from "../../format-count.js";
import type { ItemReport, RunReport, StepReport } from "../../jobs/report/run-report.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import {
  describeCounts,
  describeFindings,
  describeRegression,
  describeSeconds,
  lossWords,
} from "../output/job-report.js";
import { hashOf, pageAssets } from "../output/page-assets.js";
import { pageStart } from "../output/self-contained-page.js";
import { renderChart, type Series } from "./chart.js";

const style = `
.job { --measure: 62rem }
.job table { width: 100% }
.job th, .job td { text-align: left; vertical-align: top }
.job td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.job .result::before { content: ""; display: inline-block; width: .65em; height: .65em; border-radius: 50%; margin-right: .45em; background: var(--control) }
.job .done::before { background: #2f8f5b }
.job .rejects::before { background: #c77d1a }
.job .failed::before { background: var(--danger) }
.job .skipped::before, .job .unchanged::before { background: transparent; border: 2px solid var(--control) }
.job details { margin: .35rem 0 }
.job svg { width: 100%; height: auto; display: block }
.job figure { margin: 0 0 1.5rem }
.job figcaption { color: var(--quiet); margin-bottom: .25rem }
.job .axis { stroke: var(--line) } .job text { fill: var(--quiet); font-size: 11px }
.job .a { fill: var(--accent) } .job .b { fill: #c77d1a } .job .c { fill: var(--danger) }
.job .key { display: inline-block; width: .7em; height: .7em; margin: 0 .35em 0 .9em }
.job .key.a { background: var(--accent) } .job .key.b { background: #c77d1a } .job .key.c { background: var(--danger) }
`;

/** Commands that undo writes to a map, in the order to run them. */
type UndoCommands = (item: ItemReport) => readonly string[];

/** @param runs oldest first; the page shows details of the last one */
export function renderJobPage(runs: readonly RunReport[], undo: UndoCommands): string {
  const css = pageAssets()("pages.css") + style;
  const last = runs.at(-1)!;
  const policy = html`default-src 'none'; style-src ${hashOf(css)}; base-uri 'none'; form-action 'none'`;
  const head = pageStart(`${last.job}: ${resultLabels[last.result]}`, policy);
  return [
    head,
    `<style>${css}</style>\n</head>\n<body class="wide job">\n`,
    renderBody(last, runs, undo),
    "</body>\n</html>\n",
  ].join("");
}

const resultLabels = {
  done: "done",
  unchanged: "nothing to do",
  rejects: "done, with rejects",
  failed: "failed",
  skipped: "skipped",
} as const;

const formatTime = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;

function renderBody(last: RunReport, runs: readonly RunReport[], undo: UndoCommands): Html {
  const wrong = last.steps.filter(({ result }) => result === "failed");
  const changed = last.steps.filter(({ regressions }) => regressions.length > 0);
  return html`<main>
<h1>${last.job}</h1>
<p class="lead">${outcome({ result: last.result, losses: last.steps.flatMap(({ losses }) => losses) })}, ${formatTime(last.startedAt)}, in ${describeSeconds(last.seconds)}</p>
${last.error && html`<div class="problem" role="note"><p>No step was started: ${last.error.message}</p></div>`}
${wrong.length > 0 && html`<div class="problem" role="note"><ul>${wrong.map(({ name, error }) => html`<li><strong>${name}</strong>: ${error?.message}</li>`)}</ul></div>`}
${changed.length > 0 && html`<div class="notice" role="note"><p>Worse than in the previous run:</p><ul>${changed.map(({ name, regressions }) => html`<li><strong>${name}</strong>${truncateList(regressions.map((change) => describeRegression(change)))}</li>`)}</ul></div>`}
<h2>Steps</h2>
<table><thead><tr><th scope="col">Step</th><th scope="col">Result</th><th scope="col">Features</th><th scope="col" class="number">Time</th></tr></thead><tbody>
${last.steps.map((step) => stepRow(step, undo))}</tbody></table>
<h2>${runs.length === 1 ? "First run" : `Last ${runs.length} runs`}</h2>
${charts(runs)}
<table><thead><tr><th scope="col">Started</th><th scope="col">Result</th><th scope="col">Features</th><th scope="col" class="number">Time</th></tr></thead><tbody>
${[...runs].reverse().map(runRow)}</tbody></table>
<p class="quiet">${last.file}, geoferry ${last.geoferry}</p>
</main>
`;
}

const maxLines = 20;

const truncateList = (lines: readonly string[]): Html =>
  html`<ul>${lines.slice(0, maxLines).map((line) => html`<li><bdi>${line}</bdi></li>`)}${lines.length > maxLines && html`<li>and ${lines.length - maxLines} more</li>`}</ul>`;

/** The result of a step or a file, with the CSS class for its color. */
function outcome({ result, losses }: Pick<StepReport, "result" | "losses">): Html {
  const lossy = lossWords(result, losses.length);
  return html`<span class="result ${lossy === "" ? result : "rejects"}">${resultLabels[result]}${lossy}</span>`;
}

/** "2 kinds of loss, 1 kind of notice", expandable. */
function findings(step: StepReport): Html | false {
  const counts = (
    [
      ["kind of skipped range", step.skippedRanges.length],
      ["kind of loss", step.losses.length],
      ["kind of notice", step.notices.length],
    ] as const
  ).flatMap(([what, count]) => (count > 0 ? [formatCount(count, what, what.replace("kind", "kinds"))] : []));
  if (counts.length === 0) return false;
  const isOpen = step.losses.length + step.skippedRanges.length > 0 && step.result !== "unchanged";
  return html`<details${isOpen && html` open`}><summary>${counts.join(", ")}</summary>${truncateList(describeFindings(step))}</details>`;
}

function stepRow(step: StepReport, undo: UndoCommands): Html {
  const { name, result, counts, seconds, attempts, items } = step;
  const commands = items.flatMap(undo);
  const listed = items.length > 1 || items.some(({ error }) => error !== null);
  return html`<tr><th scope="row">${name}</th><td>${outcome(step)}${attempts > 1 && ` (${attempts} attempts)`}
${listed && html`<details${result === "failed" && html` open`}><summary>${items.length === 1 ? "1 item" : `${items.length} items`}</summary><ul>${items.map(itemLine)}</ul></details>`}${findings(step)}${commands.length > 0 && html`<details><summary>undo</summary>${commands.map((command) => html`<p><code>${command}</code></p>`)}</details>`}</td><td>${describeCounts(counts)}</td><td class="number">${describeSeconds(seconds)}</td></tr>
`;
}

const itemLine = (item: ItemReport): Html =>
  html`<li><bdi>${item.source}</bdi> → <bdi>${item.target}</bdi>: ${item.error ? item.error.message : html`${outcome(item)} ${describeCounts(item.counts)}${item.rejects !== undefined && html`, rejects in <bdi>${item.rejects}</bdi>`}`}</li>
`;

const sumCount = (run: RunReport, name: keyof StepReport["counts"]): number =>
  run.steps.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);

/** Number of values that targets could not store. */
const sumLosses = ({ steps }: RunReport): number =>
  steps.reduce((sum, { losses }) => sum + losses.reduce((all, { count }) => all + count, 0), 0);

const runRow = (run: RunReport): Html =>
  html`<tr><th scope="row">${formatTime(run.startedAt)}</th><td>${outcome({ result: run.result, losses: run.steps.flatMap(({ losses }) => losses) })}${run.steps.filter(({ result }) => result === "failed").map(({ name }) => ` ${name}`)}</td><td>${describeCounts({ written: sumCount(run, "written"), created: sumCount(run, "created"), updated: sumCount(run, "updated"), deleted: sumCount(run, "deleted"), rejected: sumCount(run, "rejected"), withoutGeometry: sumCount(run, "withoutGeometry") })}${sumLosses(run) > 0 && `, values lost ${groupDigits(sumLosses(run))}`}</td><td class="number">${describeSeconds(run.seconds)}</td></tr>
`;

function charts(runs: readonly RunReport[]): Html {
  const labels = runs.map(({ startedAt }) => startedAt.slice(0, 10));
  const changed: Series[] = [
    {
      name: "written or created",
      className: "a",
      values: runs.map((run) => sumCount(run, "written") + sumCount(run, "created")),
    },
    { name: "updated", className: "b", values: runs.map((run) => sumCount(run, "updated")) },
    { name: "deleted", className: "c", values: runs.map((run) => sumCount(run, "deleted")) },
  ];
  const rejected: Series[] = [
    { name: "rejected", className: "c", values: runs.map((run) => sumCount(run, "rejected")) },
  ];
  const lossy: Series[] = [
    { name: "values lost", className: "b", values: runs.map(sumLosses) },
    { name: "features without geometry", className: "c", values: runs.map((run) => sumCount(run, "withoutGeometry")) },
  ];
  const seconds: Series[] = [{ name: "seconds", className: "a", values: runs.map((run) => run.seconds) }];
  const isEmpty = (list: readonly Series[]) => list.every(({ values }) => values.every((value) => value === 0));
  return html`${!isEmpty(changed) && renderChart("Features", changed, labels)}${
    isEmpty(rejected)
      ? html`<p class="quiet">No feature was rejected.</p>`
      : renderChart("Rejected features", rejected, labels)
  }${!isEmpty(lossy) && renderChart("Lost values and features without geometry", lossy, labels)}${renderChart("Time, in seconds", seconds, labels)}`;
}
