/** The runs of a job as one page that needs nothing else: the latest in words, all of them as charts. No script. */
import type { ItemReport, RunReport, StepReport } from "../../jobs/run-report.js";
import { type Html, html } from "../../service/pages/html.js";
import { describeCounts, describeSeconds } from "../job-report.js";
import { hashOf, pageAssets } from "../page-assets.js";
import { chart, type Series } from "./chart.js";

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

/** @param runs in the order of their time; the last one is told in full */
export function jobPage(runs: readonly RunReport[]): string {
  const css = pageAssets()("pages.css") + style;
  const last = runs.at(-1)!;
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${hashOf(css)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${last.job}: ${words[last.result]}</title>
`;
  return [
    head,
    `<style>${css}</style>\n</head>\n<body class="wide job">\n`,
    bodyOf(last, runs),
    "</body>\n</html>\n",
  ].join("");
}

const words = {
  done: "done",
  unchanged: "nothing to do",
  rejects: "done, with rejects",
  failed: "failed",
  skipped: "skipped",
} as const;

const moment = (iso: string): Html => html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;

function bodyOf(last: RunReport, runs: readonly RunReport[]): Html {
  const wrong = last.steps.filter(({ result }) => result === "failed");
  return html`<main>
<h1>${last.job}</h1>
<p class="lead"><span class="result ${last.result}">${words[last.result]}</span>, ${moment(last.began)}, in ${describeSeconds(last.seconds)}</p>
${wrong.length > 0 && html`<div class="problem" role="note"><ul>${wrong.map(({ name, error }) => html`<li><strong>${name}</strong>: ${error?.message}</li>`)}</ul></div>`}
<h2>Steps</h2>
<table><thead><tr><th scope="col">Step</th><th scope="col">Result</th><th scope="col">Features</th><th scope="col" class="number">Time</th></tr></thead><tbody>
${last.steps.map(stepRow)}</tbody></table>
<h2>${runs.length === 1 ? "The first run" : `The last ${runs.length} runs`}</h2>
${charts(runs)}
<table><thead><tr><th scope="col">Began</th><th scope="col">Result</th><th scope="col">Features</th><th scope="col" class="number">Time</th></tr></thead><tbody>
${[...runs].reverse().map(runRow)}</tbody></table>
<p class="quiet">${last.file}, geoferry ${last.geoferry}</p>
</main>
`;
}

function stepRow({ name, result, counts, seconds, tries, items }: StepReport): Html {
  const listed = items.length > 1 || items.some(({ error }) => error !== null);
  return html`<tr><th scope="row">${name}</th><td><span class="result ${result}">${words[result]}</span>${tries > 1 && ` (tried ${tries} times)`}
${listed && html`<details${result === "failed" && html` open`}><summary>${items.length === 1 ? "1 item" : `${items.length} items`}</summary><ul>${items.map(itemLine)}</ul></details>`}</td><td>${describeCounts(counts)}</td><td class="number">${describeSeconds(seconds)}</td></tr>
`;
}

const itemLine = ({ source, target, result, counts, error }: ItemReport): Html =>
  html`<li><bdi>${source}</bdi> → <bdi>${target}</bdi>: ${error ? error.message : `${words[result]} ${describeCounts(counts)}`}</li>
`;

const total = (run: RunReport, name: keyof StepReport["counts"]): number =>
  run.steps.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);

const runRow = (run: RunReport): Html =>
  html`<tr><th scope="row">${moment(run.began)}</th><td><span class="result ${run.result}">${words[run.result]}</span>${run.steps.filter(({ result }) => result === "failed").map(({ name }) => ` ${name}`)}</td><td>${describeCounts({ written: total(run, "written"), created: total(run, "created"), updated: total(run, "updated"), deleted: total(run, "deleted"), rejected: total(run, "rejected") })}</td><td class="number">${describeSeconds(run.seconds)}</td></tr>
`;

function charts(runs: readonly RunReport[]): Html {
  const labels = runs.map(({ began }) => began.slice(0, 10));
  const changed: Series[] = [
    {
      name: "written or created",
      className: "a",
      values: runs.map((run) => total(run, "written") + total(run, "created")),
    },
    { name: "updated", className: "b", values: runs.map((run) => total(run, "updated")) },
    { name: "deleted", className: "c", values: runs.map((run) => total(run, "deleted")) },
  ];
  const rejected: Series[] = [{ name: "rejected", className: "c", values: runs.map((run) => total(run, "rejected")) }];
  const seconds: Series[] = [{ name: "seconds", className: "a", values: runs.map((run) => run.seconds) }];
  const isEmpty = (list: readonly Series[]) => list.every(({ values }) => values.every((value) => value === 0));
  return html`${!isEmpty(changed) && chart("Features", changed, labels)}${
    isEmpty(rejected)
      ? html`<p class="quiet">No feature was rejected.</p>`
      : chart("Rejected features", rejected, labels)
  }${chart("Time, in seconds", seconds, labels)}`;
}
