/** A page about a plan: a table, and with scripts also a map before and after. */
import { groupDigits } from "../../format-count.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import { findTrippedGuards } from "../../sync/plan/guards.js";
import type { OpenPlan } from "../../sync/plan/plan.js";
import { matchWords, plainText, putWords, shownClasses } from "../output/plan-text.js";
import { writeReport } from "../output/self-contained-page.js";
import { collectRows, type PageRows } from "./collect-rows.js";
import { renderFilter, renderMap, renderMapPage } from "./map-page.js";
import { drawnClasses } from "./page-data.js";
import { renderRows } from "./page-table.js";

/** Writes the page atomically. @throws output-exists, report-failed */
export async function writePlanPage(plan: OpenPlan, path: string, overwrite: boolean): Promise<void> {
  await writeReport(renderPlanPage(plan, await collectRows(plan)), path, overwrite);
}

export function renderPlanPage(plan: OpenPlan, shown: PageRows): string {
  const title = `Plan for map ${plainText(plan.header.map)}`;
  return renderMapPage(title, renderBody(plan, shown, title), shown.rows);
}

function renderBody(plan: OpenPlan, shown: PageRows, title: string): Html {
  const { header, counts } = plan;
  const put = putWords(header, counts);
  const tripped = findTrippedGuards(plan);
  return html`<h1>${title}</h1>
<p class="lead">At <bdi>${header.service}</bdi>: ${header.mode}, ${matchWords(header)}. From <bdi>${header.source.inputs.map(plainText).join(", ")}</bdi>.</p>
${put && html`<p>${put}</p>`}
${tripped.length > 0 && html`<div class="problem" role="note"><p>Guards would stop this plan:</p><ul>${tripped.map(({ reason }) => html`<li>${reason}</li>`)}</ul></div>`}
<table class="counts"><caption class="unseen">Features by action</caption><tbody>
${shownClasses(counts).map(
  ({
    name,
    count,
    means,
  }) => html`<tr class="${name}"><th scope="row">${name}</th><td class="number">${groupDigits(counts[count])}</td><td>${means}</td></tr>
`,
)}</tbody></table>
<div class="beside">
${renderMap("Map of the plan")}<section aria-labelledby="features"><h2 id="features">Features</h2>
${renderFilter(drawnClasses.filter((name) => counts[name] > 0))}
${renderRows(shown)}
</section>
</div>
`;
}
