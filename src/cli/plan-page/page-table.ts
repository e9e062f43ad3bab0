/** The table of the page: it says all that the page says, for those without scripts, too. */
import { grouped } from "../../counted.js";
import { titleOfFeature } from "../../service/pages/feature-text.js";
import { type Html, html } from "../../service/pages/html.js";
import type { PlanAction } from "../../sync/plan.js";
import { type Change, changesOf, classOf, plainText } from "../plan-words.js";
import { drawnClasses } from "./page-data.js";
import type { PageRows } from "./rows.js";

/** Of one feature. */
const mostChanges = 20;

export function planRows({ rows, actions, left }: PageRows): Html {
  const missing = drawnClasses.filter((name) => left[name] > 0);
  const lacks =
    missing.length > 0 &&
    html`<p class="notice">Left out here, since the page would be too large: ${missing.map((name) => `${grouped(left[name])} of ${name}`).join(", ")}. The plan's file has them all.</p>`;
  if (rows.length === 0) return html`${lacks}<p>There is nothing to do.</p>`;
  return html`${lacks}<table class="rows"><thead><tr><th scope="col">What</th><th scope="col">Which</th><th scope="col">Changes</th></tr></thead>
<tbody>
${actions.map(
  (
    action,
    index,
  ) => html`<tr data-row="${index}" class="${classOf(action)}"><td>${classOf(action)}</td><th scope="row"><bdi>${rows[index]!.name}</bdi></th><td>${wordsOf(action)}</td></tr>
`,
)}</tbody></table>`;
}

function wordsOf(action: PlanAction): Html | string {
  if (action.action === "update") return changeList(changesOf(action));
  const feature = action.action === "delete" ? action.before : action.feature;
  if (!feature) return "";
  const title = titleOfFeature({ ...feature, id: action.action === "create" ? "" : action.id });
  return html`<bdi>${plainText(title)}</bdi>`;
}

function changeList(changes: readonly Change[]): Html {
  const more = changes.length - mostChanges;
  return html`<ul class="changes">${changes
    .slice(0, mostChanges)
    .map(
      ({ name, before, after }) =>
        html`<li><bdi>${name}</bdi>: ${marked(before, "del")} → ${marked(after, "ins")}</li>`,
    )}${more > 0 && html`<li>and ${more} more</li>`}</ul>`;
}

function marked(value: string | null, as: "del" | "ins"): Html {
  if (value === null) return html`nothing`;
  return as === "del" ? html`<del><bdi>${value}</bdi></del>` : html`<ins><bdi>${value}</bdi></ins>`;
}
