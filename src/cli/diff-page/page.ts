/** A page about a comparison: a table, and with scripts also a map with both states. */
import { type ChangeKind, changeKinds, type FeatureChange } from "../../compare/changes/feature-change.js";
import type { CompareReport } from "../../compare/compare.js";
import { groupDigits } from "../../format-count.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import { matchWords, schemaLines } from "../output/diff-report.js";
import { plainText, shownValue } from "../output/plan-text.js";
import { renderFilter, renderMap, renderMapPage } from "../plan-page/map-page.js";
import type { ChangeRow, PageChanges } from "./collect-changes.js";

/** Per feature. */
const maxValues = 20;

const meanings: Readonly<Record<ChangeKind | "equal", string>> = {
  added: "only in the new version",
  removed: "only in the old version",
  changed: "with other attributes",
  moved: "with another geometry only",
  equal: "the same in both",
};

export function renderDiffPage(report: CompareReport, shown: PageChanges): string {
  const title = `Differences: ${fileName(report.old)} → ${fileName(report.new)}`;
  return renderMapPage(
    title,
    renderMain(report, shown, title),
    shown.rows.map(({ row }) => row),
  );
}

const fileName = (input: string): string => plainText(input.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, ""));

function renderMain(report: CompareReport, shown: PageChanges, title: string): Html {
  const { counts, layers, differs } = report;
  return html`<h1>${title}</h1>
<p class="lead">${differs ? "From" : "There are no differences from"} <bdi>${plainText(report.old)}</bdi> to <bdi>${plainText(report.new)}</bdi>.</p>
${report.rejected > 0 && html`<p class="problem" role="note">${groupDigits(report.rejected)} features could not be read, and are not compared.</p>`}
<table class="counts"><caption class="unseen">Features by change</caption><tbody>
${[...changeKinds, "equal" as const].map(
  (
    name,
  ) => html`<tr class="${name}"><th scope="row">${name}</th><td class="number">${groupDigits(counts[name])}</td><td>${meanings[name]}</td></tr>
`,
)}</tbody></table>
${layers.map((layer) => {
  const lines = schemaLines(layer);
  const only = layer.old === null ? "only in the new version" : layer.new === null ? "only in the old version" : null;
  return html`<p><bdi>${plainText(layer.name)}</bdi>: ${only ?? matchWords(layer, false)}.</p>${lines.length > 0 && html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`}`;
})}
<div class="beside">
${renderMap("Map of the differences")}<section aria-labelledby="features"><h2 id="features">Features</h2>
${renderFilter(changeKinds.filter((name) => counts[name] > 0))}
${renderRows(shown)}
</section>
</div>
`;
}

function renderRows({ rows, remaining }: PageChanges): Html {
  const missing = changeKinds.filter((name) => remaining[name] > 0);
  const omitted =
    missing.length > 0 &&
    html`<p class="notice">Omitted to limit the size of the page: ${missing.map((name) => `${groupDigits(remaining[name])} of ${name}`).join(", ")}. The file that -o writes has all.</p>`;
  if (rows.length === 0) return html`${omitted}<p>All features are the same.</p>`;
  return html`${omitted}<table class="rows"><thead><tr><th scope="col">Change</th><th scope="col">Feature</th><th scope="col">Values</th></tr></thead>
<tbody>
${rows.map((one, index) => renderRow(one, index))}</tbody></table>`;
}

const renderRow = ({ row, values, moved }: ChangeRow, index: number): Html =>
  html`<tr data-row="${index}" class="${row.class}"><td>${row.class}</td><th scope="row"><bdi>${row.name}</bdi></th><td>${renderValues(values, moved)}</td></tr>
`;

function renderValues(values: FeatureChange["values"], moved: string | null): Html | string {
  if (values.length === 0 && moved === null) return "";
  const more = values.length - maxValues;
  return html`<ul class="changes">${values
    .slice(0, maxValues)
    .map(
      ({ field, old, new: recent }) =>
        html`<li><bdi>${plainText(field)}</bdi>: ${renderValue(old, "del")} → ${renderValue(recent, "ins")}</li>`,
    )}${more > 0 && html`<li>and ${more} more</li>`}${moved !== null && html`<li>${moved}</li>`}</ul>`;
}

function renderValue(value: unknown, as: "del" | "ins"): Html {
  const text = shownValue(value);
  if (text === null) return html`nothing`;
  return as === "del" ? html`<del><bdi>${text}</bdi></del>` : html`<ins><bdi>${text}</bdi></ins>`;
}
