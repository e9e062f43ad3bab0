/** The table of the page, which contains the same information as the map and works without scripts. */
import { groupDigits } from "../../format-count.js";
import { featureTitle } from "../../service/pages/maps/feature-text.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import type { PlanAction } from "../../sync/plan/plan.js";
import { listChanges, plainText, planClass, type ValueChange } from "../output/plan-text.js";
import type { PageRows } from "./collect-rows.js";
import { drawnClasses } from "./page-data.js";

/** Per feature. */
const maxChanges = 20;

export function renderRows({ rows, actions, remaining }: PageRows): Html {
  const missing = drawnClasses.filter((name) => remaining[name] > 0);
  const omitted =
    missing.length > 0 &&
    html`<p class="notice">Omitted to limit the size of the page: ${missing.map((name) => `${groupDigits(remaining[name])} of ${name}`).join(", ")}. The plan file contains all.</p>`;
  if (rows.length === 0) return html`${omitted}<p>The plan contains no changes.</p>`;
  return html`${omitted}<table class="rows"><thead><tr><th scope="col">Action</th><th scope="col">Feature</th><th scope="col">Changes</th></tr></thead>
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
