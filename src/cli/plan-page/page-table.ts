/** The table of the page: it says all that the page says, for those without scripts, too. */
import { groupDigits } from "../../format-count.js";
import { featureTitle } from "../../service/pages/maps/feature-text.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import type { PlanAction } from "../../sync/plan/plan.js";
import { listChanges, plainText, planClass, type ValueChange } from "../output/plan-text.js";
import type { PageRows } from "./collect-rows.js";
import { drawnClasses } from "./page-data.js";

/** Of one feature. */
const maxChanges = 20;

export function renderRows({ rows, actions, remaining }: PageRows): Html {
  const missing = drawnClasses.filter((name) => remaining[name] > 0);
  const lacks =
    missing.length > 0 &&
    html`<p class="notice">Left out here, since the page would be too large: ${missing.map((name) => `${groupDigits(remaining[name])} of ${name}`).join(", ")}. The plan's file has them all.</p>`;
  if (rows.length === 0) return html`${lacks}<p>There is nothing to do.</p>`;
  return html`${lacks}<table class="rows"><thead><tr><th scope="col">What</th><th scope="col">Which</th><th scope="col">Changes</th></tr></thead>
<tbody>
${actions.map(
  (
    action,
    index,
  ) => html`<tr data-row="${index}" class="${planClass(action)}"><td>${planClass(action)}</td><th scope="row"><bdi>${rows[index]!.name}</bdi></th><td>${describeAction(action)}</td></tr>
`,
)}</tbody></table>`;
}

function describeAction(action: PlanAction): Html | string {
  if (action.action === "update") return renderChanges(listChanges(action));
  const feature = action.action === "delete" ? action.before : action.feature;
  if (!feature) return "";
  const title = featureTitle({ ...feature, id: action.action === "create" ? "" : action.id });
  return html`<bdi>${plainText(title)}</bdi>`;
}

function renderChanges(changes: readonly ValueChange[]): Html {
  const more = changes.length - maxChanges;
  return html`<ul class="changes">${changes
    .slice(0, maxChanges)
    .map(
      ({ name, before, after }) =>
        html`<li><bdi>${name}</bdi>: ${renderValue(before, "del")} → ${renderValue(after, "ins")}</li>`,
    )}${more > 0 && html`<li>and ${more} more</li>`}</ul>`;
}

function renderValue(value: string | null, as: "del" | "ins"): Html {
  if (value === null) return html`nothing`;
  return as === "del" ? html`<del><bdi>${value}</bdi></del>` : html`<ins><bdi>${value}</bdi></ins>`;
}
